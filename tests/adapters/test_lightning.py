"""`WeightedLoss`: its gradient is the rule's update, through everything that Lightning does with a loss."""

from typing import Any

import lightning
import pytest
import torch

from incenter import IncenterError, Status
from incenter.adapters.lightning import WeightedLoss
from incenter.methods import by_name
from incenter.methods.chebyshev import Chebyshev
from incenter.methods.relobralo import ReLoBRaLo
from incenter.torch import backward

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Lightning warns of its own set-up


class Module(lightning.LightningModule):
    def __init__(self, rule: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.network = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).double()
        self.weigh = WeightedLoss(rule)

    def losses(self, x: Any) -> dict[str, Any]:
        y = self.network(x)
        return {"quiet": (y[:, 0] ** 2).mean(), "loud": 1000 * ((y[:, 1] + y[:, 0] - 1) ** 2).mean()}

    def training_step(self, batch: Any, _: int) -> Any:
        return self.weigh(self.losses(batch[0]), self.parameters())

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=1e-3)


def points() -> Any:
    return torch.randn(16, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def fit(module: Module, epochs: int, path: Any = None, **options: Any) -> Any:
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(points()), batch_size=16)
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        accelerator="cpu", max_epochs=epochs, enable_checkpointing=False, **{**quiet, **options}
    )
    trainer.fit(module, data, ckpt_path=path)
    return trainer


def flat(module: Module) -> Any:
    return torch.cat([parameter.detach().ravel() for parameter in module.parameters()])


@pytest.mark.parametrize("name", ["chebyshev", "mgda", "upgrad", "sum"])
def test_its_gradient_is_the_update(name: str) -> None:
    one, other = Module(by_name(name)), Module(by_name(name))
    one.weigh(one.losses(points()), one.parameters()).backward()
    record = backward(other.losses(points()), other.parameters(), by_name(name))
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-10, atol=1e-12)
    assert one.weigh.last is not None
    assert one.weigh.last.radius == pytest.approx(record.radius, abs=1e-12)


def test_automatic_optimisation_takes_that_step_and_clips_it() -> None:
    module, reference = Module(Chebyshev()), Module(Chebyshev())
    fit(module, 1, gradient_clip_val=0.5)
    before = flat(reference)
    backward(reference.losses(points()), reference.parameters())
    gradient = torch.cat([parameter.grad.ravel() for parameter in reference.parameters() if parameter.grad is not None])
    assert gradient.norm() > 0.5
    torch.testing.assert_close(flat(module), before - 1e-3 * 0.5 * gradient / gradient.norm(), rtol=1e-6, atol=1e-9)


def test_a_checkpoint_continues_bit_for_bit(tmp_path: Any) -> None:
    rule = ReLoBRaLo(saudade=0.5)
    whole, half, continued = Module(rule), Module(rule), Module(rule)
    fit(whole, 12)
    fit(half, 7).save_checkpoint(tmp_path / "half.ckpt")
    fit(continued, 12, tmp_path / "half.ckpt")
    assert torch.equal(flat(continued), flat(whole))
    assert not torch.equal(flat(half), flat(whole))


def test_what_is_not_finite_reaches_whoever_watches_for_it() -> None:
    module = Module(Chebyshev())
    losses = {"fine": flat_loss(module), "broken": flat_loss(module) * torch.nan}
    assert module.weigh(losses, module.parameters()).isnan()
    assert module.weigh.last is not None
    assert module.weigh.last.status is Status.NONFINITE


def flat_loss(module: Module) -> Any:
    return sum((parameter**2).sum() for parameter in module.parameters())


def test_a_rule_that_is_no_weighted_sum_gets_one_sentence() -> None:
    with pytest.raises(IncenterError, match="no weighted sum of the losses; set automatic_optimization=False"):
        WeightedLoss(Chebyshev(p=3.0))
