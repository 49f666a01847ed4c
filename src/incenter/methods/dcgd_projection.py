r"""DCGD-projection: the summed gradient, made orthogonal to the group it would increase.

    update = t - (t . g_b / |g_b|^2) g_b   if t . g_b < 0,     t = g_r + g_b,                         (1)
             t - (t . g_r / |g_r|^2) g_r   if t . g_r < 0,
             t                             otherwise;     g_r the sum over `residual`, g_b the sum of the rest

Continuous, not invariant to scaling. With more than two losses it does not increase a group, but may increase a loss
inside one; `radius` tells. Where the groups are opposite the update is 0 and the status STATIONARY. A group whose
gradients cancel is left out, status REDUCED. Zero rows are dropped.
Reference: Hwang and Lim, Dual Cone Gradient Descent for Training Physics-Informed Neural Networks, NeurIPS 2024,
variant "projection".
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
class DCGDProjection(GramRule):
    """Summed gradient projected on the half-space of the group in conflict with it.

    Parameters
    ----------
    residual
        Rows of the PDE's losses; the PINN engine fills it in.
    """

    name: ClassVar[str] = "dcgd_projection"
    residual: Sequence[int] = (0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "residual", check_residual(self.residual))

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        residual = tuple(self.residual)
        groups = grouped(rows, residual)
        norms = groups.relative_norms
        along = groups.cosines @ norms  # of the sum, along each group's unit gradient
        other = groups.cosines[0, 1] * norms[::-1] * reciprocal(norms)
        # Removing the part along a group leaves the other's own orthogonal part: weight -g_r . g_b / |g_b|^2 on g_b.
        weights = xp.where(along < 0, -other, 1.0)
        still = vanishes(weights * norms, groups)
        status = xp.where(cancelled(groups, rows, residual), int(Status.REDUCED), int(Status.OPTIMAL))
        return Weighing(
            xp.where(still, 0.0, spread(weights, residual, len(rows.lengths))),
            status=xp.where(still, int(Status.STATIONARY), status),
        )
