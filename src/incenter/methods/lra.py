r"""LRA, learning-rate annealing: every term's gradient entries brought to the size of the residual's.

    every k steps   h_i = max_j |g_rj| / mean_j |g_ij|,     lambda_i <- (1 - rate) lambda_i + rate h_i,   i not in r
    update = g_r + sum_i lambda_i g_i                                                                       (1)

g_r is the sum of the `residual` rows, whose lambda stays 1; lambda starts at 1 and is renewed at the first step. With
`gradient="weighted"` the mean is that of lambda_i g_i, as the authors' code has it: the fixed point is then the square
root of h_i. Invariant to the scale of g_i in the long run, not to that of g_r; ratios of 1e2 to 1e4 are usual, and the
update may conflict. A zero row, and a step at which g_r is 0, leave lambda as it was.
Reference: Wang, Teng and Perdikaris, Understanding and Mitigating Gradient Flow Pathologies in Physics-Informed Neural
Networks, SIAM J. Sci. Comput. 2021, Algorithm 1.
Differs from it: statistics are over all parameters, not per layer; new weights act in the step that computed them.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from incenter.geometry.arrays import (
    Matrix,
    Scalar,
    Weights,
    compiled,
    from_small,
    is_jax,
    is_traced,
    namespace,
    to_small,
    wide,
)
from incenter.geometry.errors import IncenterError, read_gradients
from incenter.geometry.rows import Rows, read_rows
from incenter.methods.memory import first_step, is_due, keep_if, recall
from incenter.methods.rule import Rule, Update, Weighing, finish, made_known, nothing_to_combine
from incenter.methods.two_groups import check_residual, in_residual


class LRAState(NamedTuple):
    """The weights lambda, and the number of steps so far."""

    weights: Weights
    step: Scalar


@dataclass(frozen=True)
class LRA(Rule):
    """Learning-rate annealing; `rate=0.1, every=10` are the authors' settings.

    Parameters
    ----------
    residual
        Rows that are summed to g_r, and never weighted; the PINN engine fills it in.
    rate
        Weight of the *new* value in the running average.
    every
        Steps from one renewal to the next.
    gradient
        "raw", or "weighted": the mean is that of lambda_i g_i, as in the authors' code; the fixed point is then
        sqrt(h_i).
    statistic
        Of the residual's entries: "max" or "mean".
    """

    name: ClassVar[str] = "lra"
    residual: tuple[int, ...] = (0,)
    rate: float = 0.1
    every: int = 10
    gradient: str = "raw"
    statistic: str = "max"

    def __post_init__(self) -> None:
        object.__setattr__(self, "residual", check_residual(self.residual))
        if not 0 < self.rate <= 1:
            raise IncenterError(f"`rate`, the weight of the new value, must be in (0, 1]; got {self.rate}.")
        if self.every < 1:
            raise IncenterError(f"`every` must be 1 step or more; got {self.every}.")
        if self.gradient not in ("raw", "weighted"):
            raise IncenterError(f'`gradient` must be "raw" or "weighted"; got {self.gradient!r}.')
        if self.statistic not in ("max", "mean"):
            raise IncenterError(f'`statistic` must be "max" or "mean"; got {self.statistic!r}.')

    def combine(self, G: Matrix, losses: Weights | None = None, state: Any = None, key: Any = None) -> Update:
        G = read_gradients(G)
        if G.shape[0] == 0:
            return nothing_to_combine(G, state)
        if is_jax(namespace(G)) and not is_traced(G):
            return made_known(compiled(_combine, static=("rule",))(G, state, rule=self))
        return _combine(G, state, rule=self)

    def weigh(self, rows: Rows, state: Any) -> Weighing:
        """Weights on the raw gradients; the entries of `rows.scaled` are looked at."""
        xp = namespace(rows.lengths)
        old = recall("LRA", state, LRAState(xp.zeros_like(rows.lengths), first_step(xp)))
        weights = xp.where(old.step == 0, xp.ones_like(old.weights), old.weights)
        due = is_due(old.step, self.every)
        if is_traced(due) or due:  # NumPy and torch pay for the statistics only when they are due
            weights = xp.where(due, self._renewed(rows, weights), weights)
        return Weighing(weights, keep_if(~xp.any(rows.nonfinite), LRAState(weights, old.step + 1), old))

    def _renewed(self, rows: Rows, weights: Weights) -> Weights:
        xp = namespace(weights)
        others = ~xp.asarray(in_residual(self.residual, weights.shape[0]))
        of_residual, exponent = self._residual_entries(rows)
        means = _mean_entries(rows) * (weights if self.gradient == "weighted" else 1.0)
        renewable = others & rows.live & (of_residual > 0) & (means > 0)
        ratio = xp.ldexp(of_residual / xp.where(renewable, means, 1.0), exponent - rows.exponents)
        ratio = xp.minimum(ratio, float(namespace(rows.scaled).finfo(rows.scaled.dtype).max))
        return xp.where(renewable, (1 - self.rate) * weights + self.rate * ratio, weights)

    def _residual_entries(self, rows: Rows) -> tuple[Scalar, Scalar]:
        """max or mean of |g_r|, as a number and the exponent of the power of two that multiplies it."""
        small, xp = namespace(rows.lengths), namespace(rows.scaled)
        residual = np.asarray(self.residual)
        exponents = small.where(rows.live, rows.exponents, -(2**20))[residual]
        largest = small.max(exponents)
        shifts = from_small(small.maximum(exponents - largest, -2000), rows.scaled)
        entries = xp.ldexp(wide(xp, rows.scaled[residual]), shifts[:, None])
        sizes = xp.abs(xp.sum(entries, axis=0))
        return to_small(xp.max(sizes) if self.statistic == "max" else xp.mean(sizes)), largest


def _combine(G: Matrix, state: Any, *, rule: LRA) -> Update:
    rows = read_rows(G)
    return finish(G, rows, rule.weigh(rows, state))


def _mean_entries(rows: Rows) -> Weights:
    """mean_j |scaled_ij| for every row."""
    xp = namespace(rows.scaled)
    return to_small(xp.mean(xp.abs(wide(xp, rows.scaled)), axis=1))
