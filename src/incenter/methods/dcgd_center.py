r"""DCGD-center: the bisector of the residual's gradient and the summed gradient of the other losses.

    update = (t . u) u,   u = (g_r/|g_r| + g_b/|g_b|) / |...|,   t = g_r + g_b,                       (1)
    g_r the sum over `residual`, g_b the sum of the rest

For two losses this is Chebyshev, ConFIG and HARMONIC, length included. The direction does not change when a group is
scaled. With more losses it decreases both groups, but may increase a loss inside one; `radius` tells. Where the groups
are opposite there is no bisector: the update is 0 and the status STATIONARY. A group whose gradients cancel is left
out, status REDUCED. Zero rows are dropped.
Reference: Hwang and Lim, Dual Cone Gradient Descent for Training Physics-Informed Neural Networks, NeurIPS 2024,
variant "center".
Differs from it: no 1e-8 is added to the norms; opposite groups give 0 instead of 0/0; other lengths may be chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Weights, namespace
from incenter.geometry.rows import Rows
from incenter.geometry.status import Status
from incenter.methods.lengths import check_length, weights_along
from incenter.methods.rule import GramRule, Weighing
from incenter.methods.stationarity import vanishes
from incenter.methods.two_groups import cancelled, check_residual, grouped, spread


@dataclass(frozen=True)
class DCGDCenter(GramRule):
    """Bisector of the two groups; the paper's default variant.

    Parameters
    ----------
    residual
        Rows of the PDE's losses; the PINN engine fills it in.
    length
        What the direction is multiplied by: "projection", "minimum", "maximum", "arithmetic", "geometric" or
        "harmonic", as for `chebyshev`, with the Euclidean norms of the two summed gradients.
    """

    name: ClassVar[str] = "dcgd_center"
    residual: Sequence[int] = (0,)
    length: str = "projection"

    def __post_init__(self) -> None:
        object.__setattr__(self, "residual", check_residual(self.residual))
        check_length(self.length)

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        residual = tuple(self.residual)
        groups = grouped(rows, residual)
        both = xp.where(groups.live, 1.0, 0.0)
        weights = weights_along(self.length, both, groups)
        opposite = vanishes(both, groups)
        status = xp.where(cancelled(groups, rows, residual), int(Status.REDUCED), int(Status.OPTIMAL))
        return Weighing(
            xp.where(opposite, 0.0, spread(weights, residual, len(rows.lengths))),
            status=xp.where(opposite, int(Status.STATIONARY), status),
            projected=self.length == "projection",
        )
