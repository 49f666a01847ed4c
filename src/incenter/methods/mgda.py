r"""MGDA: the shortest vector in the convex hull of the gradients.

    minimise  || sum_i alpha_i g_i ||_2   over the simplex;      update = sum_i alpha_i g_i          (1)

Exact by default: with s_i = |g_i|, unit rows u_i and c_i = s_min / s_i, y minimises 1/2 y^T (U U^T + c c^T) y - c^T y
over y >= 0, and alpha_i is y_i / s_i, normalised (scaling by the rows keeps it exact to norm ratios of 1e6 and more).
With `iterations` it is the Frank-Wolfe method of the paper instead: from the centre of the simplex, exact steps, until
the gap is below `tolerance` times the squared norm. Not scale invariant: the shortest gradient wins. Zero rows are
dropped; the update is 0 exactly at Pareto-stationary points.
Reference: Sener and Koltun, Multi-Task Learning as Multi-Objective Optimization, NeurIPS 2018, eq. (3), Algorithm 2.
Differs from it: exact by default; any number of losses by one solver.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Scalar, Weights, namespace, while_loop
from incenter.geometry.nonnegative_qp import solve
from incenter.geometry.rows import Rows, reciprocal
from incenter.geometry.status import Status
from incenter.methods.rule import GramRule, Weighing
from incenter.methods.stationarity import vanishes


@dataclass(frozen=True)
class MGDA(GramRule):
    """Minimum-norm point of the hull. `iterations=20, tolerance=1e-6` is the paper's Frank-Wolfe budget.

    Parameters
    ----------
    iterations
        None: exact. A number: at most so many Frank-Wolfe steps from equal weights; 20 in the comparisons of
        Yoon et al.
    tolerance
        Frank-Wolfe ends when its gap is below this times the squared norm.
    """

    name: ClassVar[str] = "mgda"
    iterations: int | None = None
    tolerance: float = 1e-6

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        if self.iterations is None:
            return self._exact(rows)
        return self._frank_wolfe(rows, self.iterations)

    def _exact(self, rows: Rows) -> Weighing:
        xp = namespace(rows.cosines)
        norms = rows.relative_norms
        inverse = reciprocal(norms)
        c = inverse * reciprocal(xp.max(inverse))
        found = solve(rows.cosines + c[:, None] * c[None, :], c)
        weights = found.y * inverse
        weights = weights * reciprocal(xp.sum(weights))
        stationary = vanishes(weights * norms, rows)
        status = xp.where(
            stationary, int(Status.STATIONARY), xp.where(found.solved, int(Status.OPTIMAL), int(Status.ITER_LIMIT))
        )
        return Weighing(xp.where(stationary, 0.0, weights), status=status)

    def _frank_wolfe(self, rows: Rows, iterations: int) -> Weighing:
        xp = namespace(rows.cosines)
        norms = rows.relative_norms
        K = rows.cosines * norms[:, None] * norms[None, :]
        start = rows.live / xp.maximum(xp.sum(rows.live), 1)
        index = xp.arange(len(norms))

        def gap(alpha: Weights) -> tuple[Scalar, Scalar, Scalar]:
            Ka = K @ alpha
            toward = xp.argmin(xp.where(rows.live, Ka, xp.inf))
            return alpha @ Ka, Ka[toward], toward

        def open_gap(state: tuple[Weights, Scalar]) -> Scalar:
            squared, least, _ = gap(state[0])
            return (state[1] < iterations) & (squared - least > self.tolerance * squared)

        def step(state: tuple[Weights, Scalar]) -> tuple[Weights, Scalar]:
            alpha, steps = state
            squared, least, toward = gap(alpha)
            curvature = squared + K[toward, toward] - 2 * least
            length = xp.clip((squared - least) / xp.where(curvature > 0, curvature, 1.0), 0.0, 1.0)
            return (1 - length) * alpha + length * (index == toward), steps + 1

        alpha, _ = while_loop(xp, open_gap, step, (start, xp.asarray(0)))
        squared, least, _ = gap(alpha)
        met = squared - least <= self.tolerance * squared
        return Weighing(alpha, status=xp.where(met, int(Status.OPTIMAL), int(Status.ITER_LIMIT)))
