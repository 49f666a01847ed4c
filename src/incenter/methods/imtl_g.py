r"""IMTL-G: the affine combination of the gradients that has the same inner product with every unit gradient.

    find a with  sum_i a_i = 1  and  u_i . update the same for all i,   update = sum_i a_i g_i        (1)
    Kh z = 1,  a_i = (z_i / s_i) / sigma,  sigma = sum_j z_j / s_j;   Kh cosines, s norms

The common inner product has the sign of sigma, which depends on the norms: where it is negative the update *increases*
every loss. That is the rule; `report["sign"]` says it, and `radius` is then negative. The length grows without bound as
sigma goes to 0; where sigma is 0 to rounding no a sums to 1: the update is 0, the sign 0, the status REDUCED. Along the
same line, the projection length gives ConFIG's update.
Where the gradients are dependent, (1) is solved by the pseudo-inverse and the residual tells whether it is met. If not:
update 0 and status STATIONARY where 0 is in the hull; else the least-squares answer and status REDUCED (`radius` says
whether it still decreases all losses). Zero rows are dropped.
Reference: Liu et al., Towards Impartial Multi-task Learning, ICLR 2021.
Differs from it: the pseudo-inverse, with its residual, in place of the inverse.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Weights, epsilon, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows, reciprocal
from incenter.geometry.status import Status
from incenter.methods.equal_cosines import ROUNDINGS, solve_equal_cosines
from incenter.methods.rule import GramRule, Weighing
from incenter.methods.stationarity import is_stationary


@dataclass(frozen=True)
class IMTLG(GramRule):
    """Equal projections on all gradients, weights that sum to one.

    Parameters
    ----------
    rtol
        Eigenvalues of the cosines up to this times the largest count as 0; None is 16 roundings per row.
    """

    name: ClassVar[str] = "imtl_g"
    rtol: float | None = None

    def __post_init__(self) -> None:
        if self.rtol is not None and not (math.isfinite(self.rtol) and 0 <= self.rtol < 1):
            raise IncenterError(f"`rtol` must be in [0, 1) or None; got {self.rtol!r}.")

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        found = solve_equal_cosines(rows.cosines, xp.where(rows.live, 1.0, 0.0), self.rtol)
        terms = found.coefficients * reciprocal(rows.relative_norms)
        sigma = xp.sum(terms)
        balanced = xp.abs(sigma) <= ROUNDINGS * len(terms) * epsilon(terms) * xp.sum(xp.abs(terms))
        stationary = ~found.solvable & is_stationary(rows)
        none = balanced | stationary
        status = xp.where(found.solvable & ~balanced, int(Status.OPTIMAL), int(Status.REDUCED))
        return Weighing(
            xp.where(none, 0.0, terms / xp.where(none, 1.0, sigma)),
            status=xp.where(stationary, int(Status.STATIONARY), status),
            report={"sign": xp.where(none, 0.0, xp.sign(sigma)), "residual": found.residual},
        )
