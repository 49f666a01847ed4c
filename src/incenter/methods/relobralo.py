r"""ReLoBRaLo: weights from how much each loss has fallen, since the step before and, now and then, since the start.

    c_i(t') = m softmax_i( L_i(t) / (temperature L_i(t') + eps) )                                           (1)
    lambda <- rate (rho lambda + (1 - rho) c(0)) + (1 - rate) c(t - 1),        update = sum_i lambda_i g_i

rho is 1 with probability `saudade` and else 0, one draw per step for all losses, from (key, step); with
`lookback="expected"` rho is that probability itself, and no key is needed. lambda is 1 at step 0, and sums to m always.
Invariant to the scale of each loss (eps aside), not of its gradient; the update may conflict. A loss may be 0, but
not negative. Zero rows are dropped after the weights are set.
Reference: Bischof and Kraus, Multi-Objective Loss Balancing for Physics-Informed Deep Learning, 2021.
Differs from it: rate 0.95 and saudade 0.99 (theirs: 0.999 both), the settings of later comparisons.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from incenter.geometry.arrays import Scalar, Weights, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows
from incenter.geometry.status import Status
from incenter.methods.losses import all_finite, read_losses
from incenter.methods.memory import first_step, keep_if, recall
from incenter.methods.randomness import uniform
from incenter.methods.rule import GramRule, Weighing


class ReLoBRaLoState(NamedTuple):
    """The weights lambda, the losses of the step before and of the first one, the number of steps so far."""

    weights: Weights
    previous: Weights
    first: Weights
    step: Scalar


@dataclass(frozen=True)
class ReLoBRaLo(GramRule):
    """Relative loss balancing with random lookback. The same `key` serves all steps: the step is folded in.

    Parameters
    ----------
    rate
        alpha of the paper: the weight of the *old* weights.
    saudade
        beta of the paper: the probability of *not* looking back to the start.
    temperature
        tau of the paper.
    eps
        Added to the losses that are divided by; in their unit.
    lookback
        "random", or "expected": the probability in place of the draw.
    """

    name: ClassVar[str] = "relobralo"
    needs: ClassVar[frozenset[str]] = frozenset({"losses", "key"})
    rate: float = 0.95
    saudade: float = 0.99
    temperature: float = 1.0
    eps: float = 1e-8
    lookback: str = "random"

    def __post_init__(self) -> None:
        for field in ("rate", "saudade"):
            if not 0 <= getattr(self, field) <= 1:
                raise IncenterError(f"`{field}` must be in [0, 1]; got {getattr(self, field)}.")
        for field in ("temperature", "eps"):
            if not getattr(self, field) > 0:
                raise IncenterError(f"`{field}` must be positive; got {getattr(self, field)}.")
        if self.lookback not in ("random", "expected"):
            raise IncenterError(f'`lookback` must be "random" or "expected"; got {self.lookback!r}.')

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.lengths)
        values = read_losses("ReLoBRaLo", losses, rows.lengths, nonnegative=True)
        nothing = xp.zeros_like(values)
        old = recall("ReLoBRaLo", state, ReLoBRaLoState(nothing, nothing, nothing, first_step(xp)))
        usable = all_finite(values, nonnegative=True)
        values = xp.where(usable, values, nothing)
        rho = self._rho(rows, old.step, key)
        looking_back = rho * old.weights + (1 - rho) * self._balance(values, old.first)
        later = self.rate * looking_back + (1 - self.rate) * self._balance(values, old.previous)
        start = old.step == 0
        weights = xp.where(start, xp.ones_like(values), later)
        new = ReLoBRaLoState(weights, values, xp.where(start, values, old.first), old.step + 1)
        return Weighing(
            weights=xp.where(usable, weights, 0.0),
            state=keep_if(usable & ~xp.any(rows.nonfinite), new, old),
            status=xp.where(usable, int(Status.OPTIMAL), int(Status.NONFINITE)),
        )

    def _rho(self, rows: Rows, step: Scalar, key: Any) -> Scalar:
        xp = namespace(rows.lengths)
        if self.lookback == "expected":
            return xp.asarray(self.saudade, dtype=rows.lengths.dtype)
        if key is None:
            raise IncenterError(
                'ReLoBRaLo draws at random and has no key; pass key=0 (any int), or set lookback="expected".'
            )
        return xp.astype(uniform(xp, key, step, shape=()) < self.saudade, rows.lengths.dtype)

    def _balance(self, values: Weights, past: Weights) -> Weights:
        """c of (1). Ratios are kept finite, so that their differences are numbers."""
        xp = namespace(values)
        divisors = self.temperature * past + self.eps
        most = xp.finfo(values.dtype).max
        ratios = xp.where(values < most * xp.minimum(divisors, 1.0), values / divisors, most)
        shares = xp.exp(ratios - xp.max(ratios))
        return values.shape[0] * shares / xp.sum(shares)
