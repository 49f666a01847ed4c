r"""NTK weighting: every loss gets the weight that makes its share of the tangent kernel's trace the same.

    lambda_i = sum_j t_j / t_i      (`normalise="mean"`: the mean over j in place of the sum)                (1)
    every k steps   w_i <- (1 - rate) w_i + rate lambda_i;        update = sum_i w_i g_i

t_i is what `measure` names:
    traces         the trace of block i of the kernel, sum over its points of |d residual / d theta|^2: not to be had
                   from gradients, so `combine` takes them as `traces=`; sums or means over points, as you decide
    proxy_traces   |g_i|^2 / (4 L_i), the trace there would be with one point
    sqrt_loss      its root, |g_i| / (2 sqrt L_i) = | gradient of sqrt L_i |
    grad_norm      |g_i|
w starts at 1. A step without `traces` leaves w as it is. Not non-conflicting. Zero rows are left out of the sums of the
three measures that are made of gradients, and keep their w. t_i below `floor` times the largest counts as that.
Reference: Wang, Yu and Perdikaris, When and Why PINNs Fail to Train: A Neural Tangent Kernel Perspective, J. Comput.
Phys. 2022, Algorithm 1 (traces).
Differs from it: nothing with traces; the proxies are of later codes.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from incenter.geometry.arrays import Mask, Scalar, Weights, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows
from incenter.geometry.status import Status
from incenter.methods.losses import all_finite, read_losses
from incenter.methods.memory import first_step, is_due, keep_if, recall
from incenter.methods.rule import GramRule, Weighing

_MEASURES = ("traces", "proxy_traces", "sqrt_loss", "grad_norm")


class NTKState(NamedTuple):
    """The weights w, and the number of steps so far."""

    weights: Weights
    step: Scalar


@dataclass(frozen=True)
class NTK(GramRule):
    """NTK weighting; the authors' settings are the defaults.

    Parameters
    ----------
    measure
        What t_i is: "traces", "proxy_traces", "sqrt_loss" or "grad_norm".
    normalise
        "sum", or "mean": lambda_i = mean_j t_j / t_i.
    rate
        Weight of the *new* value in the running average; 1: no average.
    every
        Steps from one renewal to the next.
    floor
        Least t_i counted, relative to the largest: it bounds the weights.
    """

    name: ClassVar[str] = "ntk"
    needs: ClassVar[frozenset[str]] = frozenset({"losses", "traces"})  # which of them, `measure` decides
    measure: str = "traces"
    normalise: str = "sum"
    rate: float = 1.0
    every: int = 100
    floor: float = 1e-16

    def __post_init__(self) -> None:
        if self.measure not in _MEASURES:
            raise IncenterError(f"`measure` must be one of {', '.join(_MEASURES)}; got {self.measure!r}.")
        if self.normalise not in ("sum", "mean"):
            raise IncenterError(f'`normalise` must be "sum" or "mean"; got {self.normalise!r}.')
        if not 0 < self.rate <= 1:
            raise IncenterError(f"`rate`, the weight of the new value, must be in (0, 1]; got {self.rate}.")
        if self.every < 1:
            raise IncenterError(f"`every` must be 1 step or more; got {self.every}.")
        if not 0 < self.floor < 1:
            raise IncenterError(f"`floor` must be in (0, 1); got {self.floor}.")

    def weigh(
        self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None, *, traces: Any = None
    ) -> Weighing:
        xp = namespace(rows.lengths)
        old = recall("NTK", state, NTKState(xp.zeros_like(rows.lengths), first_step(xp)))
        weights = xp.where(old.step == 0, xp.ones_like(old.weights), old.weights)
        usable = xp.asarray(True)
        if self.measure != "traces" or traces is not None or state is None:
            sizes, counted, usable = self._sizes(rows, losses, traces)
            renewed = self._renewed(weights, xp.where(counted & usable, sizes, 0.0), counted)
            weights = xp.where(is_due(old.step, self.every) & counted, renewed, weights)
        return Weighing(
            weights=xp.where(usable, weights, 0.0),
            state=keep_if(usable & ~xp.any(rows.nonfinite), NTKState(weights, old.step + 1), old),
            status=xp.where(usable, int(Status.OPTIMAL), int(Status.NONFINITE)),
        )

    def _sizes(self, rows: Rows, losses: Weights | None, traces: Any) -> tuple[Weights, Mask, Scalar]:
        """t_i up to a common factor, which of them count, and whether they can be used."""
        xp = namespace(rows.lengths)
        if self.measure == "traces":
            given = read_losses(_NTK_OF_TRACES, traces, rows.lengths, what="traces", nonnegative=True)
            return given, xp.ones_like(rows.live), all_finite(given, nonnegative=True)
        if self.measure == "grad_norm":
            return rows.relative_norms, rows.live, xp.asarray(True)
        values = read_losses(f'NTK(measure="{self.measure}")', losses, rows.lengths, nonnegative=True)
        usable = all_finite(values, nonnegative=True) & xp.all((values > 0) | ~rows.live)
        roots = rows.relative_norms / xp.sqrt(xp.where(rows.live & usable, values, 1.0))
        if self.measure == "sqrt_loss":
            return roots, rows.live, usable
        return (roots / xp.maximum(xp.max(roots), xp.finfo(roots.dtype).tiny)) ** 2, rows.live, usable

    def _renewed(self, weights: Weights, sizes: Weights, counted: Mask) -> Weights:
        xp = namespace(weights)
        largest = xp.max(sizes)
        shares = xp.maximum(sizes / xp.where(largest > 0, largest, 1.0), self.floor)
        total = xp.sum(xp.where(counted, shares, 0.0))
        if self.normalise == "mean":
            total = total / xp.maximum(xp.sum(counted), 1)
        return (1 - self.rate) * weights + self.rate * total / shares


_NTK_OF_TRACES = 'NTK (or choose measure="proxy_traces", which makes them of gradients and losses)'
