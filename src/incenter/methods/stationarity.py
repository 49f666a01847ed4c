"""Whether 0 lies in the convex hull of the gradients, as far as their cosines can tell.

A squared norm computed from cosines is uncertain by a few roundings, so a radius below about their square root (1e-7 in
double precision) cannot be told from 0 without the gradients themselves.
"""

from incenter.geometry.arrays import Scalar, Weights, epsilon, namespace
from incenter.geometry.euclidean import minimum_norm_weights
from incenter.geometry.rows import Rows

ROUNDINGS = 4.0  # per row: what cosines and the three products with them were seen to lose, and some room


def is_stationary(rows: Rows) -> Scalar:
    """Whether the unit gradients have 0 in their hull; true where no gradient is live."""
    alpha, _ = minimum_norm_weights(rows.cosines, rows.live)
    return vanishes(alpha, rows)


def vanishes(coefficients: Weights, rows: Rows) -> Scalar:
    """Whether sum_i coefficients_i u_i is 0 to rounding."""
    xp = namespace(rows.cosines)
    squared = coefficients @ rows.cosines @ coefficients
    total = xp.sum(xp.abs(coefficients))
    return squared <= ROUNDINGS * len(coefficients) * epsilon(rows.cosines) * total * total
