"""Two rewards that disagree, one tiny transformer, and a preference between them.

The policy reads eight tokens and answers each with a distribution over the next. Reward i of an answer is a fixed
random table of (token, answer); loss i is minus its mean, with a little entropy so that policies stay soft:

    L_i = - E[R_i(token, answer)] - 0.3 E[entropy of the answer]

`upgrad` never sacrifices one reward to the other on the way, and its `preference` says whose gradient leads. Prints
both rewards for three preferences, each above its start; the first column must rise and the second fall.

python examples/reward_tradeoff.py [--steps 80]
"""

import argparse

import torch

from incenter.methods.upgrad import UPGrad
from incenter.torch import backward

TOKENS, LENGTH, WIDTH = 12, 8, 16
PREFERENCES = (0.1, 0.5, 0.9)


class Policy(torch.nn.Module):
    """One causal transformer layer."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(TOKENS, WIDTH)
        self.places = torch.nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.layer = torch.nn.TransformerEncoderLayer(WIDTH, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True)
        self.answer = torch.nn.Linear(WIDTH, TOKENS)

    def forward(self, prompts: torch.Tensor) -> torch.Tensor:
        """Logarithms of the answers' probabilities: (prompts, places, answers)."""
        mask = torch.nn.Transformer.generate_square_subsequent_mask(LENGTH)
        features: torch.Tensor = self.layer(self.tokens(prompts) + self.places, src_mask=mask)
        return torch.log_softmax(self.answer(features), dim=-1)


def rewards(policy: Policy, prompts: torch.Tensor, tables: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both mean rewards, and the mean entropy."""
    logarithms = policy(prompts)
    chances = logarithms.exp()
    gained = torch.stack([(chances * table[prompts]).sum(-1).mean() for table in tables])
    return gained, -(chances * logarithms).sum(-1).mean()


def train(preference: float, *, steps: int) -> tuple[list[float], list[float]]:
    """Rewards before and after, on prompts not trained on."""
    torch.manual_seed(0)
    policy, tables = Policy(), torch.randn(2, TOKENS, TOKENS)
    held_out = torch.randint(TOKENS, (256, LENGTH))
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.5)
    rule = UPGrad(preference=(preference, 1 - preference))
    before = rewards(policy, held_out, tables)[0].tolist()
    for _ in range(steps):
        gained, entropy = rewards(policy, torch.randint(TOKENS, (64, LENGTH)), tables)
        optimizer.zero_grad()
        backward({"first": -gained[0] - 0.3 * entropy, "second": -gained[1] - 0.3 * entropy}, policy.parameters(), rule)
        optimizer.step()
    return before, rewards(policy, held_out, tables)[0].tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description="Two rewards and a preference.")
    parser.add_argument("--steps", type=int, default=80)
    steps = parser.parse_args().steps
    torch.set_num_threads(1)
    for preference in PREFERENCES:
        before, after = train(preference, steps=steps)
        changes = ", ".join(f"{old:+.2f} -> {new:+.2f}" for old, new in zip(before, after, strict=True))
        print(f"preference {preference:.1f} for the first: rewards {changes}")


if __name__ == "__main__":
    main()
