"""A LightningModule with two losses that disagree, trained with automatic optimisation, clipping and a schedule.

    python examples/lightning_module.py

One network predicts two targets, one of them a thousand times the louder. Summed, the quiet one is not learnt.
"""

import logging
import warnings
from typing import Any

import lightning
import torch

from incenter.adapters.lightning import WeightedLoss
from incenter.methods.chebyshev import Chebyshev
from incenter.methods.rule import GramRule
from incenter.methods.sum import Sum

POINTS = torch.linspace(-1, 1, 64)[:, None]
TARGETS = torch.cat([torch.sin(3 * POINTS), 30 * torch.cos(2 * POINTS)], dim=1)


class TwoTargets(lightning.LightningModule):
    def __init__(self, rule: GramRule) -> None:
        super().__init__()
        self.network = torch.nn.Sequential(torch.nn.Linear(1, 24), torch.nn.Tanh(), torch.nn.Linear(24, 2))
        self.weigh = WeightedLoss(rule)

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        x, y = batch
        quiet, loud = ((self.network(x) - y) ** 2).mean(dim=0)
        loss = self.weigh({"quiet": quiet, "loud": loud}, self.parameters())
        self.log("radius", self.weigh.last.radius)
        return loss

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), lr=0.05)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.999)]


def error_of_the_quiet_target(rule: GramRule) -> float:
    torch.manual_seed(0)
    module = TwoTargets(rule)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(POINTS, TARGETS), batch_size=64)
    trainer = lightning.Trainer(
        accelerator="cpu",
        max_epochs=300,
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, data)
    quiet = TARGETS[:, 0]
    with torch.no_grad():
        return float((module.network(POINTS)[:, 0] - quiet).norm() / quiet.norm())


if __name__ == "__main__":
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    print(f"error of the quiet target: {error_of_the_quiet_target(Chebyshev()):.3f}")
    print(f"with the plain sum:        {error_of_the_quiet_target(Sum()):.3f}")
