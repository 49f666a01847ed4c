r"""ConFIG: the direction with the same positive cosine to every gradient.

    v = w / |w|,   w = sum_i z_i u_i,   Kh z = 1,   Kh the cosines;      update = (sum_i g_i . v) v   (1)

With `preference` the right-hand side is that vector instead of 1: cosines in its proportion. The direction does not
change when a loss is scaled; the common cosine is 1/|w|. It is the Chebyshev centre exactly where z >= 0 (always for
two losses), else its radius is smaller. Other lengths may be chosen, see `lengths`.
(1) is solvable where the gradients are independent, and never at a Pareto-stationary point. Otherwise the
pseudo-inverse gives least squares, and `report["residual"]` says how far that is from a solution: update 0 and status
STATIONARY where 0 is in the hull; else status REDUCED, and `radius` says whether all losses still decrease. The
projection length is even in v and would turn such a v round in silence, so only its size is used: no update points
against w. Near a loss of rank the direction is ill-conditioned, and at it not continuous. Zero rows are dropped.
Reference: Liu, Chu and Thuerey, ConFIG: Towards Conflict-free Training of Physics Informed Neural Networks, ICLR 2025,
eq. (2), (3).
Differs from it: in m dimensions; the solution's residual decides whether it is one; 0 where 0 is in the hull.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Weights, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows
from incenter.geometry.status import Status
from incenter.methods.equal_cosines import solve_equal_cosines
from incenter.methods.lengths import check_length, weights_along
from incenter.methods.preference import check_preference, preference_of
from incenter.methods.rule import GramRule, Weighing
from incenter.methods.stationarity import is_stationary


@dataclass(frozen=True)
class ConFIG(GramRule):
    """Equal cosines, or cosines in a given proportion.

    Parameters
    ----------
    length
        What the direction is multiplied by: "projection", "minimum", "maximum", "arithmetic", "geometric" or
        "harmonic", as for `chebyshev`, with Euclidean norms.
    preference
        Proportion of the cosines, one positive number per loss; None is equal.
    rtol
        Eigenvalues of the cosines up to this times the largest count as 0; None is 16 roundings per row.
    """

    name: ClassVar[str] = "config"
    length: str = "projection"
    preference: Sequence[float] | None = None
    rtol: float | None = None

    def __post_init__(self) -> None:
        check_length(self.length)
        object.__setattr__(self, "preference", check_preference(self.preference))
        if self.rtol is not None and not (math.isfinite(self.rtol) and 0 <= self.rtol < 1):
            raise IncenterError(f"`rtol` must be in [0, 1) or None; got {self.rtol!r}.")

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        found = solve_equal_cosines(rows.cosines, preference_of(check_preference(self.preference), rows), self.rtol)
        stationary = ~found.solvable & is_stationary(rows)
        weights = weights_along(self.length, found.coefficients, rows)
        status = xp.where(found.solvable, int(Status.OPTIMAL), int(Status.REDUCED))
        return Weighing(
            xp.where(stationary, 0.0, weights),
            status=xp.where(stationary, int(Status.STATIONARY), status),
            report={"residual": found.residual},
            projected=self.length == "projection",
        )
