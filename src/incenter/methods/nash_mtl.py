r"""Nash-MTL: the bargaining solution, in which every loss gets what its weight asks for.

    find a > 0 with  K a = 1/a  entrywise;   update = sum_i a_i g_i                                   (1)
    minimise  1/2 b^T Kh b - sum_i log b_i   over  b > 0,    a_i = b_i / s_i;   Kh cosines, s norms   (2)

(2) has (1) as its optimality condition. It is self-concordant, so damped Newton steps converge from anywhere; they are
taken in log b, where the Hessian is never below 1. The update decreases every loss (g_i . update = 1/a_i), has
length sqrt(m) always, and does not change when a loss is scaled, length included. There is a solution exactly where 0
is not in the hull; where it is, to rounding, the update is 0 and the status STATIONARY. Zero rows are dropped.
`length="clip"` is what the authors' code does: (1) for K/|K|_F, which gives length sqrt(m |K|_F), cut at `max_norm`.
Reference: Navon et al., Multi-Task Learning as a Bargaining Game, ICML 2022, Claim 3.1.
Differs from it: Newton's method in place of a sequence of convex programs; no old weights are reused.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Scalar, Weights, epsilon, namespace, while_loop
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows, reciprocal
from incenter.geometry.status import Status
from incenter.methods.rule import GramRule, Weighing
from incenter.methods.stationarity import is_stationary

FULL_STEP = 0.25  # Newton decrement below which whole steps converge quadratically
NEWTON_STEPS = 100  # from b = 1 to b = 1e7, its size at the smallest radius that counts, are fewer than 40


@dataclass(frozen=True)
class NashMTL(GramRule):
    """Nash bargaining among the losses.

    Parameters
    ----------
    length
        "sqrt_m", or "clip": as in the authors' code, sqrt(m norm_F(K)), but at most `max_norm`.
    max_norm
        Longest update, for "clip".
    """

    name: ClassVar[str] = "nash_mtl"
    length: str = "sqrt_m"
    max_norm: float = 1.0

    def __post_init__(self) -> None:
        if self.length not in ("sqrt_m", "clip"):
            raise IncenterError(f"`length` must be 'sqrt_m' or 'clip'; got {self.length!r}.")
        if not self.max_norm > 0 or math.isnan(self.max_norm):
            raise IncenterError(f"`max_norm` must be positive; got {self.max_norm!r}.")

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        stationary = is_stationary(rows)
        alone = xp.diag(xp.where(rows.live, 1.0, 0.0))  # a problem that has a solution, to be thrown away
        b, solved = bargain(rows._replace(cosines=xp.where(stationary, alone, rows.cosines)))
        if self.length == "clip":
            b = b * self._shortening(rows)
        # 1/s undoes each row's own power of two exactly: (1) does not have degree 1 in the gradients.
        weights = xp.ldexp(b * rows.inverse_lengths, -rows.exponents)
        status = xp.where(solved, int(Status.OPTIMAL), int(Status.ITER_LIMIT))
        return Weighing(xp.where(stationary, 0.0, weights), status=xp.where(stationary, int(Status.STATIONARY), status))

    def _shortening(self, rows: Rows) -> Scalar:
        """Length of the clipped update over sqrt(m)."""
        xp = namespace(rows.cosines)
        largest = xp.max(rows.norms)
        s = rows.norms * reciprocal(largest)
        root = largest * xp.sqrt(xp.sqrt(xp.sum((rows.cosines * s[:, None] * s[None, :]) ** 2)))
        count = xp.sqrt(xp.maximum(xp.sum(rows.live), 1) * 1.0)
        return xp.minimum(root, self.max_norm / count)


def bargain(rows: Rows) -> tuple[Weights, Scalar]:
    """The solution b of (2), and whether the Newton steps became as small as rounding lets them."""
    xp = namespace(rows.cosines)
    one = xp.diag(xp.ones_like(rows.lengths))
    step_rounding = epsilon(rows.cosines) ** 0.5  # the next step would be the square of this

    def keep_going(state: tuple[Weights, Scalar, Scalar]) -> Scalar:
        b, decrement, steps = state
        return (steps < NEWTON_STEPS) & (decrement > step_rounding * xp.maximum(xp.max(b), 1.0))

    def step(state: tuple[Weights, Scalar, Scalar]) -> tuple[Weights, Scalar, Scalar]:
        b, _, steps = state
        residual = xp.where(rows.live, 1.0 - b * (rows.cosines @ b), 0.0)
        move = xp.linalg.solve(b[:, None] * rows.cosines * b[None, :] + one, residual)
        decrement = xp.sqrt(xp.maximum(move @ residual, 0.0))
        damping = xp.where(decrement < FULL_STEP, 1.0, 1.0 / (1.0 + decrement))
        return b * (1.0 + damping * move), decrement, steps + 1

    start = (xp.ones_like(rows.lengths), xp.asarray(xp.inf, dtype=rows.lengths.dtype), xp.asarray(0))
    b, _, steps = while_loop(xp, keep_going, step, start)
    return b, steps < NEWTON_STEPS
