"""Two tasks on scikit-learn's handwritten digits with one trunk: which digit it is, and how much ink it took.

The ink is measured in tenths of its deviation, so its loss is some fifty times the other, and in a plain sum the trunk
serves the ink alone. `backward` in place of the sum's `backward()` is the one change. Prints the accuracy on digits not
trained on and the error of the ink, both ways: a wrong sign or a wrong weight would show there.

python examples/multitask_digits.py [--epochs 20]
"""

import argparse
from typing import NamedTuple

import torch
from sklearn.datasets import load_digits

from incenter.torch import backward


class Digits(NamedTuple):
    """Pictures of 8 x 8 points between 0 and 1, their digits, and their ink: mean 0, deviation 10."""

    pictures: torch.Tensor
    digits: torch.Tensor
    ink: torch.Tensor


class Network(torch.nn.Module):
    """A trunk that both tasks share, and a head for each."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = torch.nn.Sequential(
            torch.nn.Linear(64, 24), torch.nn.Tanh(), torch.nn.Linear(24, 24), torch.nn.Tanh()
        )
        self.digit = torch.nn.Linear(24, 10)
        self.ink = torch.nn.Linear(24, 1)

    def losses(self, data: Digits) -> dict[str, torch.Tensor]:
        features = self.trunk(data.pictures)
        return {
            "digit": torch.nn.functional.cross_entropy(self.digit(features), data.digits),
            "ink": torch.nn.functional.mse_loss(self.ink(features)[:, 0], data.ink),
        }


def load() -> tuple[Digits, Digits]:
    """1,200 pictures to train on and the 597 others."""
    bunch = load_digits()
    pictures = torch.tensor(bunch.data, dtype=torch.float32)
    ink = pictures.sum(1)
    data = Digits(pictures / 16, torch.tensor(bunch.target), 10 * (ink - ink.mean()) / ink.std())
    return Digits(*(part[:1200] for part in data)), Digits(*(part[1200:] for part in data))


def train(data: Digits, *, epochs: int, combined: bool, seed: int = 0) -> Network:
    """With Adam at its usual settings; `combined` is the one difference."""
    torch.manual_seed(seed)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(epochs):
        for rows in torch.split(torch.randperm(len(data.ink)), 100):
            optimizer.zero_grad()
            losses = network.losses(Digits(*(part[rows] for part in data)))
            if combined:
                backward(losses, network.trunk.parameters())  # the heads get the plain gradient
            else:
                torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return network


def scores(network: Network, data: Digits) -> tuple[float, float]:
    """Share of digits recognised, and mean absolute error of the ink relative to its standard deviation."""
    with torch.no_grad():
        features = network.trunk(data.pictures)
        accuracy = (network.digit(features).argmax(1) == data.digits).float().mean()
        error = (network.ink(features)[:, 0] - data.ink).abs().mean() / data.ink.std()
    return float(accuracy), float(error)


def main() -> None:
    parser = argparse.ArgumentParser(description="Two tasks on handwritten digits.")
    parser.add_argument("--epochs", type=int, default=20)
    epochs = parser.parse_args().epochs
    torch.set_num_threads(1)
    training, others = load()
    for name, combined in (("plain sum", False), ("incenter", True)):
        accuracy, error = scores(train(training, epochs=epochs, combined=combined), others)
        print(f"{name:9}  digits recognised {accuracy:.3f}  error of the ink {error:.3f} deviations")


if __name__ == "__main__":
    main()
