r"""DCGD-average: the mean of the two groups' gradients, each made orthogonal to the other, where their sum conflicts.

    update = 1/2 (1 - c/|g_r|^2) g_r + 1/2 (1 - c/|g_b|^2) g_b   if t . g_r < 0 or t . g_b < 0,       (1)
             t                                                   otherwise;     c = g_r . g_b,  t = g_r + g_b,
    g_r the sum over `residual`, g_b the sum of the rest

Not continuous: at the switch only one of the two projections is t. Not invariant to scaling. With more than two losses
it does not increase a group, but may increase a loss inside one; `radius` tells. Where the groups are opposite the
update is 0 and the status STATIONARY. A group whose gradients cancel is left out, status REDUCED. Zero rows too are
dropped.
Reference: Hwang and Lim, Dual Cone Gradient Descent for Training Physics-Informed Neural Networks, NeurIPS 2024,
variant "average".
Differs from it: nothing is added to the norms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Weights, namespace
from incenter.geometry.rows import Rows, reciprocal
from incenter.geometry.status import Status
from incenter.methods.rule import GramRule, Weighing
from incenter.methods.stationarity import vanishes
from incenter.methods.two_groups import cancelled, check_residual, grouped, spread


@dataclass(frozen=True)
class DCGDAverage(GramRule):
    """Mean of the two projections in a conflict, the plain sum otherwise.

    Parameters
    ----------
    residual
        Rows of the PDE's losses; the PINN engine fills it in.
    """

    name: ClassVar[str] = "dcgd_average"
    residual: Sequence[int] = (0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "residual", check_residual(self.residual))

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        residual = tuple(self.residual)
        groups = grouped(rows, residual)
        norms = groups.relative_norms
        conflict = xp.any(groups.cosines @ norms < 0)
        other = groups.cosines[0, 1] * norms[::-1] * reciprocal(norms)
        weights = xp.where(conflict, 0.5 * (1.0 - other), 1.0)
        still = vanishes(weights * norms, groups)
        status = xp.where(cancelled(groups, rows, residual), int(Status.REDUCED), int(Status.OPTIMAL))
        return Weighing(
            xp.where(still, 0.0, spread(weights, residual, len(rows.lengths))),
            status=xp.where(still, int(Status.STATIONARY), status),
        )
