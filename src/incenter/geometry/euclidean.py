r"""p = 2: weights of the point of least norm in the convex hull of unit vectors.

    minimise  || sum_i alpha_i u_i ||_2   over the simplex,     cosines c_ij = u_i . u_j              (1)

All u_i lie on the unit sphere, so this point is also the centre of the smallest ball that holds them. Hence the closed
forms: for two losses the midpoint; for three the circumcentre of the triangle if it is acute, else the midpoint of
its longest side. With half squared sides d_ij = 1 - c_ij the circumcentre is

    alpha_1 : alpha_2 : alpha_3  =  d_23 (d_12 + d_13 - d_23) : ... : ...                             (2)

no determinant, no rank, no threshold; a factor is negative exactly where the angle is obtuse. For more losses
1 - alpha^T d alpha = alpha^T (c + 1 1^T) alpha - 1 is handed to `nonnegative_qp`: y minimises 1/2 y^T (c + 1 1^T) y -
1^T y over y >= 0, and alpha = y / sum(y). That is bounded and well posed also where r* = 0.
"""

from incenter.geometry.arrays import Mask, Scalar, Square, Weights, namespace
from incenter.geometry.nonnegative_qp import solve


def minimum_norm_weights(cosines: Square, live: Mask) -> tuple[Weights, Scalar]:
    """The weights of (1), 0 for rows that are not live, and whether the solver ended by its optimality test."""
    xp = namespace(cosines)
    m = cosines.shape[0]
    if m <= 2:
        return live / xp.maximum(xp.sum(live), 1), True
    if m == 3:
        return circumcentre(cosines, live), True
    found = solve(bordered(cosines, live), xp.where(live, 1.0, 0.0))
    return found.y / xp.maximum(xp.sum(found.y), 0.5), found.solved  # sum(y) = 1 / (1 + r^2) >= 1/2


def bordered(gram: Square, live: Mask, level: Scalar = 1.0) -> Square:
    """gram + level 1 1^T on the live rows and 1 on the diagonal of the others, which keeps those out."""
    xp = namespace(gram)
    ones = xp.where(live, 1.0, 0.0)
    return gram + level * ones[:, None] * ones[None, :] + xp.diag(1.0 - ones)


def circumcentre(cosines: Square, live: Mask) -> Weights:
    """(2), or the midpoint of the longest side; three rows, of which some may not be live."""
    xp = namespace(cosines)
    d = xp.maximum(1.0 - cosines, 0.0)
    a, b, c = d[1, 2], d[0, 2], d[0, 1]  # the sides opposite to 1, 2, 3
    factors = xp.stack([b + c - a, a + c - b, a + b - c])
    factors = xp.where(xp.all(live), factors, xp.where(live, 1.0, -1.0))
    inside = xp.stack([a, b, c]) * factors
    flat = xp.any(factors < 0) | (xp.sum(inside) <= 0)  # obtuse, or with two rows the same
    side = xp.where(xp.arange(3) == xp.argmin(factors), 0.0, 1.0)
    weights = xp.where(flat, side, inside) * live
    return weights / xp.maximum(xp.sum(weights), xp.finfo(weights.dtype).smallest_normal)
