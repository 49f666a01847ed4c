"""`Backward`, a module that stands where `sum(losses).backward()` stood, and `backward`, the same without a memory."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from incenter.geometry.errors import IncenterError
from incenter.geometry.status import Status
from incenter.methods.chebyshev import Chebyshev
from incenter.methods.rule import GramRule, Rule, check_rule
from incenter.torch.losses import Losses, read_losses
from incenter.torch.parameters import Parameters, are_sharded, read_parameters, trainable
from incenter.torch.products import Row
from incenter.torch.record import Record
from incenter.torch.saving import from_saved, to_saved
from incenter.torch.scaling import Scale
from incenter.torch.solving import Question, Solution
from incenter.torch.step import Gradients, added, take_fast_step, take_low_memory_step
from incenter.torch.whole import WholeGradients

CHEBYSHEV = Chebyshev()


def backward(
    losses: Losses,
    params: Parameters,
    rule: Rule = CHEBYSHEV,
    *,
    memory: str = "fast",
    key: int = 0,
    scaler: Any = None,
    traces: Any = None,
    group: dist.ProcessGroup | None = None,
    retain_graph: bool = False,
) -> Record:
    """Add the rule's update for these losses to `.grad` of `params`, and the plain summed gradient elsewhere.

    >>> import torch, incenter.torch
    >>> theta = torch.zeros(2, requires_grad=True)
    >>> losses = {"near": (theta - 1).square().sum(), "loud": 100 * (theta - torch.tensor([1.0, 3.0])).square().sum()}
    >>> record = incenter.torch.backward(losses, [theta])
    >>> bool((theta.grad < 0).all()), record.active, round(record.radius, 3)
    (True, (True, True), 0.973)
    """
    step = Backward(params, rule, memory=memory, seed=key, group=group)
    record: Record = step(losses, scaler=scaler, traces=traces, retain_graph=retain_graph)
    if step.remembers:
        raise IncenterError(
            f"The rule {rule.name!r} remembers earlier steps, which a function cannot; make "
            "step = incenter.torch.Backward(params, rule) once and call step(losses)."
        )
    return record


class Backward(torch.nn.Module):
    """Call it with the losses of a step. Its `state_dict` holds what the rule remembers."""

    def __init__(
        self,
        params: Parameters,
        rule: Rule = CHEBYSHEV,
        *,
        memory: str = "fast",
        every: int = 1,
        seed: int = 0,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        super().__init__()
        check_rule(rule)
        if memory not in ("fast", "low"):
            raise IncenterError(f'`memory` must be "fast" or "low"; got {memory!r}.')
        if memory == "low" and not (rule.gram_only and isinstance(rule, GramRule)):
            raise IncenterError(f'The rule {rule.name!r} needs the gradients side by side; set memory="fast".')
        if every < 1:
            raise IncenterError(f"`every` must be 1 step or more; got {every}.")
        self.rule, self.memory, self.every, self.seed, self.group = rule, memory, every, seed, group
        self._params = read_parameters(params)
        self._steps = 0
        self._state: Any = None  # of the rule
        self._last: Record | None = None
        self._held: list[Row] | None = None  # gradients that `accumulate` has summed

    @property
    def remembers(self) -> bool:
        """Whether the rule has a state."""
        return self._state is not None

    def forward(self, losses: Losses, *, scaler: Any = None, traces: Any = None, retain_graph: bool = False) -> Record:
        """Add the update to `.grad`. With a `GradScaler` give the losses unscaled, and the scaler."""
        names, values = read_losses(losses)
        if not values:
            return Record(names, 0.0, (), (), Status.EMPTY)
        scale = Scale(scaler, values)
        gradients = self._gradients(scale, keep=retain_graph)
        known = self._known_weights(names)
        if known is not None and self._last is not None:
            gradients.add_weighted(known)
            record = replace(self._last, age=self._last.age + 1, passes=gradients.passes)
        else:
            extra = {} if traces is None else {"traces": traces}
            key = np.array([self.seed >> 32, self.seed & 0xFFFFFFFF, self._steps], dtype=np.uint32)
            solution = self._solved(gradients, scale, Question(values, self._state, key, extra))
            self._state, self._held = solution.state, None
            record = _recorded(names, solution, gradients.passes)
        self._last, self._steps = record, self._steps + 1
        return record

    def accumulate(self, losses: Losses, *, scaler: Any = None) -> None:
        """Add the gradients of these losses to those of the next call; nothing is solved, nothing sent."""
        if self.memory == "low":
            raise IncenterError('Accumulation holds one gradient per loss; set memory="fast".')
        names, values = read_losses(losses)
        scale = Scale(scaler, values)
        gradients = self._gradients(scale, keep=False)
        known = self._known_weights(names)
        if known is not None:
            gradients.add_weighted(known)
            return
        rows = [gradients.local_row(index) for index in range(len(values))]
        held = self._held
        self._held = rows if held is None else [added(*pair) for pair in zip(rows, held, strict=True)]

    def get_extra_state(self) -> dict[str, Any]:
        """What `state_dict` holds: the step, the rule's memory, and the weights that `every` reuses."""
        last = None if self._last is None else {**vars(self._last), "status": int(self._last.status)}
        return {"rule": self.rule.name, "steps": self._steps, "memory": to_saved(self._state), "last": last}

    def set_extra_state(self, state: dict[str, Any]) -> None:
        if state["rule"] != self.rule.name:
            raise IncenterError(f"The saved state is of the rule {state['rule']!r}; got {self.rule.name!r}.")
        self._steps = state["steps"]
        self._state = from_saved(state["memory"], self.rule, self._params[0].device)
        last = state["last"]
        self._last = None if last is None else Record(**{**last, "status": Status(last["status"])})

    def _gradients(self, scale: Scale, *, keep: bool) -> Gradients:
        params = trainable(self._params)
        if not are_sharded(params):
            return WholeGradients(scale.losses, params, self.group, keep=keep)
        if self.memory == "low" or not self.rule.gram_only:
            raise IncenterError(
                f'With sharded parameters a rule has their Gram matrix only, and memory is "fast"; got the rule '
                f"{self.rule.name!r} (gram_only={self.rule.gram_only}) and memory={self.memory!r}."
            )
        from incenter.torch.sharded import ShardedGradients  # importing it takes half a second

        return ShardedGradients(scale.losses, params, keep=keep)

    def _solved(self, gradients: Gradients, scale: Scale, question: Question) -> Solution:
        if self.memory == "low" and isinstance(self.rule, GramRule) and isinstance(gradients, WholeGradients):
            return take_low_memory_step(self.rule, gradients, scale, question)
        return take_fast_step(self.rule, gradients, scale, question, self._held)

    def _known_weights(self, names: tuple[str, ...]) -> tuple[float, ...] | None:
        """The weights of the last solve, if they are to serve this step too and can."""
        last = self._last
        if last is None or last.age + 1 >= self.every or last.names != names:
            return None
        if last.weights is None:
            raise IncenterError(f"The rule {self.rule.name!r} gives no weights that `every` could reuse; set every=1.")
        return last.weights if any(last.weights) else None


def _recorded(names: tuple[str, ...], solution: Solution, passes: int) -> Record:
    weights = None if solution.weights is None else tuple(solution.weights.tolist())
    return Record(
        names, solution.radius, weights, solution.active, solution.status, report=solution.report, passes=passes
    )
