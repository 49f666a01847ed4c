r"""UPGrad: the mean of the gradients, each projected on the cone of directions that increase no loss.

    update = sum_i p_i P(g_i),    P the projection on the dual cone {d : g_j . d >= 0 for all j}      (1)
    P(g_i) = g_i + sum_j y_j u_j,   y minimises  1/2 y^T Kh y + s_i (Kh y)_i  over  y >= 0            (2)

Kh are the cosines, s the norms, u the unit gradients; p is `preference` (1/m each by default). The update increases no
loss, is the weighted mean where no pair conflicts, and is linear in each loss's scale; its direction is not invariant
to scaling. Working with unit gradients keeps (2) exact to norm ratios of 1e8 and more, so no ridge is added. Where all
projections vanish the update is 0 and the status STATIONARY; at other Pareto-stationary points it decreases some
losses and keeps the rest. Zero rows are dropped.
Reference: Quinton and Rey, Jacobian Descent for Multi-Objective Optimization, 2024.
Differs from it: no ridge of 1e-4 and no threshold on the size of the gradients, as the authors' code has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Scalar, Weights, namespace, while_loop
from incenter.geometry.nonnegative_qp import solve
from incenter.geometry.rows import Rows, reciprocal
from incenter.geometry.status import Status
from incenter.methods.preference import check_preference, preference_of
from incenter.methods.rule import GramRule, Weighing
from incenter.methods.stationarity import vanishes


@dataclass(frozen=True)
class UPGrad(GramRule):
    """Unconflicting projection of the gradients, averaged.

    Parameters
    ----------
    preference
        Weights p of the mean, one positive number per loss; None is 1/m each.
    """

    name: ClassVar[str] = "upgrad"
    preference: Sequence[float] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "preference", check_preference(self.preference))

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        norms = rows.relative_norms
        lengths = preference_of(check_preference(self.preference), rows) * norms
        m = len(lengths)

        def open_rows(state: tuple[Weights, Scalar, Scalar]) -> Scalar:
            return state[2] < m

        def project_next(state: tuple[Weights, Scalar, Scalar]) -> tuple[Weights, Scalar, Scalar]:
            total, solved, i = state
            found = solve(rows.cosines, -rows.cosines[:, i])  # (2) for a unit gradient: y grows with the gradient
            return total + lengths[i] * found.y, solved & found.solved, i + 1

        start = (lengths, xp.asarray(True), xp.asarray(0))
        total, solved, _ = while_loop(xp, open_rows, project_next, start)
        still = vanishes(total, rows)
        status = xp.where(solved, int(Status.OPTIMAL), int(Status.ITER_LIMIT))
        return Weighing(
            xp.where(still, 0.0, total * reciprocal(norms)),
            status=xp.where(still, int(Status.STATIONARY), status),
        )
