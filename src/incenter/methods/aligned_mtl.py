r"""Aligned-MTL: the weighted mean of the gradients after their principal axes are made equally long.

    K = V diag(lambda) V^T,    a = sigma V diag(lambda^-1/2) V^T p,    update = sum_i a_i g_i         (1)

over the eigenvalues above `rtol` times the largest; p is `preference` (1/m each by default), and sigma^2 is the least
kept eigenvalue, their mean, or their lower median (`scale` "min", "rmse", "median"). The aligned gradients are
orthogonal and equally long. Not scale invariant; may increase a loss, and weights may be negative. Where the rank is
below the number of gradients the status is REDUCED: (1) is not continuous there. With the
default `rtol`, gradients whose norms differ by more than 1e7 (float64) count as dependent, because eigenvalues are
squared lengths. Zero rows are dropped.
Reference: Senushkin et al., Independent Component Alignment for Multi-Task Learning, CVPR 2023.
Differs from it: the cut-off follows the precision; a dropped rank is reported.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Mask, Scalar, Weights, epsilon, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows, reciprocal
from incenter.geometry.status import Status
from incenter.methods.preference import check_preference, preference_of
from incenter.methods.rule import GramRule, Weighing

SCALES = ("min", "rmse", "median")
ROUNDINGS = 4.0  # default `rtol` per row: entries of K and eigenvalues have one or two roundings of the largest each


@dataclass(frozen=True)
class AlignedMTL(GramRule):
    """Gradients with equal principal axes, averaged.

    Parameters
    ----------
    scale
        What sigma^2 is: "min", the least eigenvalue kept; "rmse", their mean; "median", their lower median.
    rtol
        Eigenvalues up to this times the largest are left out; None is 4 roundings per row.
    preference
        Weights p of the mean, one positive number per loss; None is 1/m each.
    """

    name: ClassVar[str] = "aligned_mtl"
    scale: str = "min"
    rtol: float | None = None
    preference: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise IncenterError(f"`scale` must be one of {', '.join(SCALES)}; got {self.scale!r}.")
        if self.rtol is not None and not (math.isfinite(self.rtol) and 0 <= self.rtol < 1):
            raise IncenterError(f"`rtol` must be in [0, 1) or None; got {self.rtol!r}.")
        object.__setattr__(self, "preference", check_preference(self.preference))

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        s = rows.relative_norms * reciprocal(xp.max(rows.relative_norms))
        values, vectors = xp.linalg.eigh(rows.cosines * s[:, None] * s[None, :])
        cutoff = ROUNDINGS * len(s) * epsilon(values) if self.rtol is None else self.rtol
        kept = values > cutoff * xp.max(values)
        rank = xp.sum(kept)
        inverse = xp.where(kept, 1.0 / xp.sqrt(xp.where(kept, values, 1.0)), 0.0)
        mean = preference_of(check_preference(self.preference), rows)
        weights = xp.sqrt(self._squared_length(values, kept)) * (vectors @ (inverse * (vectors.T @ mean)))
        status = xp.where(rank < xp.sum(rows.live), int(Status.REDUCED), int(Status.OPTIMAL))
        return Weighing(weights, status=xp.where(rank == 0, int(Status.STATIONARY), status), report={"rank": rank})

    def _squared_length(self, values: Weights, kept: Mask) -> Scalar:
        """Squared length of the aligned gradients; `values` ascend."""
        xp = namespace(values)
        rank = xp.sum(kept)
        if self.scale == "rmse":
            return xp.sum(xp.where(kept, values, 0.0)) / xp.maximum(rank, 1)
        first = len(values) - rank
        index = first if self.scale == "min" else first + (rank - 1) // 2
        return xp.maximum(values[xp.clip(index, 0, len(values) - 1)], 0.0)
