r"""CAGrad: near the mean gradient, the update that helps the worst loss most.

    maximise  v   subject to   g_i . d >= v,   |d - g_0| <= c |g_0|,      g_0 the mean gradient       (1)
    minimise  g_w . g_0 + c |g_0| |g_w|   over w in the simplex,   g_w = sum_i w_i g_i                (2)

(2) is the dual, d = g_0 + c |g_0| g_w / |g_w|. Solved exactly: for given v the point nearest to g_0 among all d with
g_i . d >= v is a nonnegative QP in the unit gradients; its distance psi(v) from g_0 is convex and increasing with slope
sum(y)/psi, so Newton's method from above ends at psi(v) = c |g_0| without a safeguard.
c = 0 is the mean; for c < 1 the stationary points are those of the mean loss; large c tends to MGDA's direction. A loss
may increase for small c. Not scale invariant. Where (2) ends at g_w = 0 the update is 0 and the status STATIONARY.
Zero rows are dropped. c is 0.5 in the authors' toy example (LibMTL too), 0.4 in their NYU-v2 runs.
Reference: Liu, Liu, Jin, Stone and Liu, Conflict-Averse Gradient Descent for Multi-task Learning, NeurIPS 2021,
Algorithm 1.
Differs from it: solved exactly; the division by 1 + c^2 of the authors' code is a choice, `rescale`.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from incenter.geometry.arrays import Scalar, Weights, epsilon, namespace, while_loop
from incenter.geometry.errors import IncenterError
from incenter.geometry.nonnegative_qp import solve
from incenter.geometry.rows import Rows, reciprocal
from incenter.geometry.status import Status
from incenter.methods.mgda import MGDA
from incenter.methods.rule import GramRule, Weighing
from incenter.methods.stationarity import is_stationary, vanishes

RESCALES = ("none", "1 + c^2", "1 + c")
NEWTON_STEPS = 60  # 5 to 10 are usual
ROUNDINGS = 8.0  # per row: psi cannot be had closer to its goal


class Nearest(NamedTuple):
    """The nearest point g_0 + sum_i y_i u_i with g_i . d >= v."""

    v: Scalar
    y: Weights
    distance: Scalar
    solved: Scalar


@dataclass(frozen=True)
class CAGrad(GramRule):
    """Conflict-averse gradient.

    Parameters
    ----------
    c
        Radius of the ball over the length of g_0; 0.4 in the paper's NYU-v2 runs.
    rescale
        "none"; or "1 + c^2", as the authors' code does, or "1 + c": the update is divided by that.
    """

    name: ClassVar[str] = "cagrad"
    c: float = 0.5
    rescale: str = "none"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.c) and self.c >= 0):
            raise IncenterError(f"`c` must be a number >= 0; got {self.c!r}. The paper takes c in [0, 1).")
        if self.rescale not in RESCALES:
            raise IncenterError(f"`rescale` must be one of {RESCALES}; got {self.rescale!r}.")

    @property
    def divisor(self) -> float:
        """What the update is divided by, as `rescale` says."""
        return {"none": 1.0, "1 + c^2": 1.0 + self.c**2, "1 + c": 1.0 + self.c}[self.rescale]

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        mean = rows.live / xp.maximum(xp.sum(rows.live), 1)
        lengths = mean * rows.relative_norms
        goal = self.c * xp.sqrt(xp.maximum(lengths @ rows.cosines @ lengths, 0.0))
        found, stationary = self._solve(rows, lengths, goal)
        push = found.y * goal * reciprocal(found.distance)
        weights = (mean + push * reciprocal(rows.relative_norms)) / self.divisor
        status = xp.where(found.solved, int(Status.OPTIMAL), int(Status.ITER_LIMIT))
        return Weighing(xp.where(stationary, 0.0, weights), status=xp.where(stationary, int(Status.STATIONARY), status))

    def _solve(self, rows: Rows, lengths: Weights, goal: Scalar) -> tuple[Nearest, Scalar]:
        """The v of (1) and its point, and whether g_w = 0."""
        xp = namespace(rows.cosines)
        inverse = reciprocal(rows.relative_norms)
        near = goal * (1.0 + ROUNDINGS * len(inverse) * epsilon(inverse))
        along = rows.cosines @ lengths

        def nearest(v: Scalar) -> Nearest:
            found = solve(rows.cosines, v * inverse - along)
            return Nearest(v, found.y, xp.sqrt(xp.maximum(found.y @ rows.cosines @ found.y, 0.0)), found.solved)

        def keep_going(state: tuple[Nearest, Scalar, Scalar]) -> Scalar:
            point, falling, steps = state
            return falling & (point.distance > near) & (steps < NEWTON_STEPS)

        def newton(state: tuple[Nearest, Scalar, Scalar]) -> tuple[Nearest, Scalar, Scalar]:
            point, _, steps = state
            v = point.v - (point.distance - goal) * point.distance / xp.sum(point.y * inverse)
            return nearest(v), v < point.v, steps + 1

        cone = nearest(xp.sum(lengths) * 0.0)  # v = 0: the dual cone
        # 0 in the hull allows no v > 0; so if the dual cone is in reach, v = 0 and its multiplier g_w vanishes.
        stationary = vanishes(lengths, rows) | (is_stationary(rows) & (cone.distance < goal))
        v = xp.where(stationary | (cone.distance >= goal), 0.0, self._upper_bound(rows, goal))
        point, _, steps = while_loop(xp, keep_going, newton, (nearest(v), xp.asarray(self.c > 0), xp.asarray(0)))
        return point._replace(solved=point.solved & (steps < NEWTON_STEPS)), stationary

    def _upper_bound(self, rows: Rows, goal: Scalar) -> Scalar:
        """v <= |d| times the distance of the gradients' hull from 0, and |d| <= (1 + c) |g_0|."""
        xp = namespace(rows.cosines)
        lengths = MGDA().weigh(rows).weights * rows.relative_norms
        distance = xp.sqrt(xp.maximum(lengths @ rows.cosines @ lengths, 0.0))
        return distance * goal * ((1.0 + self.c) / self.c if self.c > 0 else 0.0)
