r"""HARMONIC: the mean of the unit extreme rays of the cone that decreases all losses and is spanned by them.

    Lambda = {z >= 0 : Kh z >= 0},   rays z_k,   w = sum_k e_k / |e_k|,   e_k = sum_i (z_k)_i u_i,    (1)
    update = (sum_i g_i . v) v,   v = w / |w|;   Kh the cosines, u the unit gradients

The rays are enumerated: each is the null vector of m - 1 of the 2m rows of [I; Kh], and every such null vector that
lies in Lambda is one. Rays whose images coincide count once; images that vanish are left out. There are few subsets for
few losses (m = 3: 15, m = 5: 210, m = 8: 11440), so m is at most 8, and at most 5 in JAX, where shapes are fixed.
v is in the primal and in the dual cone and does not change when a loss is scaled. Without conflicts (Kh >= 0) it is the
direction of the mean unit gradient, for two losses the Chebyshev centre. It is NOT continuous for m >= 3: where a
cosine crosses 0, a ray splits into near copies and the unweighted mean jumps. Where all images vanish the update is 0
and the status STATIONARY. Zero rows are dropped.
Reference: Bu et al., HARMONIC, ICLR 2026.
Differs from it: the rays come from cosines instead of the Gram matrix (the same rays, better scaled), exactly, without
an added 1e-8 and without a fallback.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from incenter.geometry.arrays import Mask, Matrix, Square, Weights, epsilon, is_traced, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows, reciprocal
from incenter.geometry.status import Status
from incenter.methods.lengths import check_length, weights_along
from incenter.methods.rule import GramRule, Weighing

MOST_LOSSES = 8
MOST_LOSSES_TRACED = 5
ROUNDINGS = 16.0  # per row: errors of a null vector over its least singular value, and of squared norms of images


@dataclass(frozen=True)
class HARMONIC(GramRule):
    """Mean of the extreme rays of the harmonic cone.

    Parameters
    ----------
    length
        What the direction is multiplied by: "projection", "minimum", "maximum", "arithmetic", "geometric" or
        "harmonic", as for `chebyshev`, with Euclidean norms.
    """

    name: ClassVar[str] = "harmonic"
    length: str = "projection"

    def __post_init__(self) -> None:
        check_length(self.length)

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.cosines)
        check_size(len(rows.lengths), traced=is_traced(rows.cosines))
        rays, kept = unit_rays(rows.cosines)
        kept = kept & ~repeated(rays, kept, rows.cosines)
        coefficients = xp.sum(xp.where(kept[:, None], rays, 0.0), axis=0)
        weights = weights_along(self.length, coefficients, rows)
        return Weighing(
            weights,
            status=xp.where(xp.any(kept), int(Status.OPTIMAL), int(Status.STATIONARY)),
            report={"rays": xp.sum(kept)},
            projected=self.length == "projection",
        )


def check_size(m: int, traced: bool) -> None:
    """Refuse more losses than can be enumerated."""
    if m > MOST_LOSSES:
        raise IncenterError(
            f"HARMONIC takes at most {MOST_LOSSES} losses; got {m}. Sum some of them, or use chebyshev."
        )
    if traced and m > MOST_LOSSES_TRACED:
        raise IncenterError(
            f"HARMONIC takes at most {MOST_LOSSES_TRACED} losses in JAX, where shapes are fixed; got {m}. "
            "Pass NumPy arrays, or use chebyshev."
        )


def unit_rays(cosines: Square) -> tuple[Matrix, Mask]:
    """Candidate rays of (1), one per row, with images of norm 1, and which of them are rays."""
    xp = namespace(cosines)
    m = cosines.shape[0]
    rounding = ROUNDINGS * m * epsilon(cosines)
    sides = cosines * reciprocal(xp.sqrt(xp.sum(cosines**2, axis=1)))[:, None]
    A = xp.concat([xp.eye(m, dtype=cosines.dtype), sides])
    z, least = _null_vectors(A, m)
    z = z * xp.where(xp.sum(z, axis=1) < 0, -1.0, 1.0)[:, None]
    independent = least > rounding
    tolerance = rounding / xp.where(independent, least, 1.0)
    kept = independent & xp.all(z @ A.T >= -tolerance[:, None], axis=1)
    z = xp.maximum(z, 0.0)
    squared = xp.sum(z * (z @ cosines), axis=1)
    kept = kept & (squared > rounding * xp.sum(z, axis=1) ** 2)
    if not is_traced(kept):
        z, squared, kept = z[kept], squared[kept], kept[kept]
    return z / xp.sqrt(xp.where(kept, squared, 1.0))[:, None], kept


def _null_vectors(A: Matrix, m: int) -> tuple[Matrix, Weights]:
    """A unit null vector of every m - 1 rows of A, and the least singular value of those rows."""
    xp = namespace(A)
    if m == 1:
        return xp.ones_like(A[:1]), xp.ones_like(A[0])
    _, singular, V = xp.linalg.svd(A[_subsets(m)], full_matrices=True)
    return V[:, -1, :], singular[:, -1]


def repeated(rays: Matrix, kept: Mask, cosines: Square) -> Mask:
    """Rays whose image coincides with that of an earlier one."""
    xp = namespace(rays)
    apart = rays[:, None, :] - rays[None, :, :]
    squared = xp.sum(apart * (apart @ cosines), axis=2)
    rounding = ROUNDINGS * cosines.shape[0] * epsilon(cosines) * (1.0 + xp.sum(xp.abs(apart), axis=2) ** 2)
    index = xp.arange(rays.shape[0])
    earlier = (index[None, :] < index[:, None]) & kept[None, :]
    return xp.any(earlier & (squared <= rounding), axis=1)


def _subsets(m: int) -> np.ndarray:
    """Made anew each time: JAX remembers the index type of an array that it met in another precision."""
    return np.array(list(combinations(range(2 * m), m - 1)))
