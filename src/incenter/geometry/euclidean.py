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

import math

import numpy as np

from incenter.geometry.arrays import Mask, Matrix, Scalar, Square, Vector, Weights, namespace, select
from incenter.geometry.nonnegative_qp import solve

SAFE_SQUARE = 2.0**-960  # squared norms from here to its inverse lost nothing that matters to over- or underflow
BEYOND = 8.0  # longer than any half squared side, which is at most 2, and than two of them


def minimum_norm_weights(cosines: Square, live: Mask) -> tuple[Weights, Scalar]:
    """The weights of (1), 0 for rows that are not live, and whether the solver ended by its optimality test."""
    xp = namespace(cosines)
    m = cosines.shape[0]
    if m <= 2:
        return live / xp.maximum(xp.sum(live), 1), True
    if m == 3:
        # a row that is not live counts as infinitely far off the side between the others
        a, b, c = xp.where(live, xp.maximum(1.0 - cosines[[1, 0, 0], [2, 2, 1]], 0.0), BEYOND)
        weights = xp.stack(circumcentre(a, b, c)) * live
        return weights / xp.maximum(xp.sum(weights), 0.5), True  # 1/2 is what one live row alone gets
    found = solve(bordered(cosines, live), xp.where(live, 1.0, 0.0))
    return found.y / xp.maximum(xp.sum(found.y), 0.5), found.solved  # sum(y) = 1 / (1 + r^2) >= 1/2


def bordered(gram: Square, live: Mask, level: Scalar = 1.0) -> Square:
    """gram + level 1 1^T on the live rows and 1 on the diagonal of the others, which keeps those out."""
    xp = namespace(gram)
    ones = xp.where(live, 1.0, 0.0)
    return gram + level * ones[:, None] * ones[None, :] + xp.diag(1.0 - ones)


def circumcentre(a: Scalar, b: Scalar, c: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """(2) for half squared sides opposite to 1, 2 and 3, or the midpoint of the longest side."""
    factors = (b + c - a, a + c - b, a + b - c)
    inside = (a * factors[0], b * factors[1], c * factors[2])
    total = inside[0] + inside[1] + inside[2]
    # obtuse, or with two rows the same
    flat = (factors[0] < 0) | (factors[1] < 0) | (factors[2] < 0) | (total <= 0)
    first, second = (a >= b) & (a >= c), b >= c
    side = (
        select(first, 0.0, 0.5),
        select(first, 0.5, select(second, 0.0, 0.5)),
        select(first | second, 0.5, 0.0),
    )
    total = select(flat, 1.0, total)
    x, y, z = (select(flat, middle, part / total) for middle, part in zip(side, inside, strict=True))
    return x, y, z


def few_losses(G: Matrix) -> tuple[Weights, Vector] | None:
    """Weights and w of (1) for two or three NumPy rows, on Python floats; None where the general way is needed.

    A call takes some twenty microseconds in all, so what NumPy takes to start counts: `dot` starts faster than `@`.
    """
    squares = np.vecdot(G, G).tolist()
    if not (min(squares) > SAFE_SQUARE and max(squares) < 1 / SAFE_SQUARE):
        return None
    norms = [math.sqrt(square) for square in squares]
    if len(norms) == 2:
        weights: tuple[float, ...] = (0.5, 0.5)
    else:
        (s1, s2, s3), (g1, g2, g3) = norms, G
        a = 1 - float(g2.dot(g3)) / (s2 * s3)
        b = 1 - float(g1.dot(g3)) / (s1 * s3)
        c = 1 - float(g1.dot(g2)) / (s1 * s2)
        weights = circumcentre(max(a, 0.0), max(b, 0.0), max(c, 0.0))
    return np.array(weights), np.array([weight / norm for weight, norm in zip(weights, norms, strict=True)]).dot(G)
