"""Lightning: one loss whose gradient is the rule's update, so that automatic optimisation stays.

    self.weigh = WeightedLoss()                                        # in __init__
    return self.weigh({"fit": fit, "size": size}, self.parameters())   # in training_step

The weights are constants in that loss. What Lightning does with a loss it does with this one: scaling in mixed
precision, averages over processes, accumulation (each batch with weights of its own), clipping, schedules. It costs a
backward pass per loss, and one more. For rules that are no weighted sum (p other than 2): see docs/adapters.md.
"""

from typing import Any

import numpy as np
import torch

from incenter.geometry.errors import IncenterError
from incenter.geometry.status import Status
from incenter.methods.chebyshev import Chebyshev
from incenter.methods.rule import GramRule
from incenter.torch.losses import Losses, read_losses
from incenter.torch.parameters import Parameters, read_parameters, trainable
from incenter.torch.saving import from_saved, to_saved
from incenter.torch.scaling import Scale
from incenter.torch.solving import Question, Solution, solve_gram
from incenter.torch.whole import WholeGradients

_CHEBYSHEV = Chebyshev()


class WeightedLoss(torch.nn.Module):
    """sum_i c_i L_i with the weights of a rule. A part of the LightningModule, so that checkpoints hold its state."""

    def __init__(self, rule: GramRule = _CHEBYSHEV, seed: int = 0) -> None:
        super().__init__()
        if not (isinstance(rule, GramRule) and rule.gram_only):
            raise IncenterError(
                f"The rule {rule} is no weighted sum of the losses; set automatic_optimization=False and call "
                "incenter.torch.backward."
            )
        self.rule, self.seed = rule, seed
        self.last: Solution | None = None  # radius, weights, active losses and status, to be logged
        self._steps, self._state = 0, None

    def forward(self, losses: Losses, params: Parameters, scaler: Any = None) -> torch.Tensor:
        """The loss to return from `training_step`.

        With float16 give the scaler, `self.trainer.precision_plugin.scaler`: small gradients survive by it. Where a
        loss or a gradient is not finite it is the plain sum, so that whoever watches for that sees it.
        """
        _, values = read_losses(losses)
        scale = Scale(scaler, values)
        gradients = WholeGradients(scale.losses, trainable(read_parameters(params)), None, keep=True)
        rows = [gradients.part(index, gradients.params) for index in range(len(values))]
        key = np.array([self.seed >> 32, self.seed & 0xFFFFFFFF, self._steps], dtype=np.uint32)
        question = Question(values, self._state, key, {})
        self.last = solve_gram(self.rule, scale.unscaled_gram(gradients.gram(rows)), question)
        self._state, self._steps = self.last.state, self._steps + 1
        weights = np.ones(len(values)) if self.last.status is Status.NONFINITE else self.last.weights
        assert weights is not None
        return torch.stack([float(weight) * loss for weight, loss in zip(weights, values, strict=True)]).sum()

    def get_extra_state(self) -> dict[str, Any]:
        return {"rule": self.rule.name, "steps": self._steps, "memory": to_saved(self._state)}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        if state["rule"] != self.rule.name:
            raise IncenterError(f"The saved state is of the rule {state['rule']!r}; got {self.rule.name!r}.")
        self._steps = state["steps"]
        self._state = from_saved(state["memory"], self.rule, torch.device("cpu"))
