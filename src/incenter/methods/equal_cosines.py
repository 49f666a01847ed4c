r"""Coefficients z of a vector w = sum_i z_i u_i whose inner products with the unit gradients are given:

    Kh z = t,     Kh the cosines of the gradients, t = (1, ..., 1) for equal cosines.                 (1)

(1) is solvable where the gradients are independent, and nowhere at Pareto-stationary points: alpha^T Kh = 0 and
alpha^T t > 0 exclude each other. The answer is that of the pseudo-inverse: least squares, then least norm.
"""

from typing import NamedTuple

from incenter.geometry.arrays import Scalar, Square, Weights, epsilon, namespace

# Eigenvalues of Kh below this many roundings per row are 0: the cosines have one or two roundings each.
ROUNDINGS = 16.0


class Solution(NamedTuple):
    """Least-squares solution of (1)."""

    coefficients: Weights
    residual: Scalar  # largest entry of |Kh z - t|, relative to the largest of t
    solvable: Scalar  # whether that is below the square root of a rounding


def solve_equal_cosines(cosines: Square, target: Weights, rtol: float | None) -> Solution:
    """Solve (1) by the pseudo-inverse, eigenvalues up to `rtol` times the largest taken as 0."""
    xp = namespace(cosines)
    cutoff = ROUNDINGS * len(target) * epsilon(cosines) if rtol is None else rtol
    values, vectors = xp.linalg.eigh(cosines)
    kept = values > cutoff * xp.max(values)
    inverse = xp.where(kept, 1.0 / xp.where(kept, values, 1.0), 0.0)

    def invert(right: Weights) -> Weights:
        return vectors @ (inverse * (vectors.T @ right))

    z = invert(target)
    z = z + invert(target - cosines @ z)  # eigenvectors have a rounding of the largest eigenvalue; this takes it back
    largest = xp.max(target)
    residual = xp.max(xp.abs(cosines @ z - target)) / xp.where(largest > 0, largest, 1.0)
    return Solution(z, residual, (largest > 0) & (residual <= epsilon(cosines) ** 0.5))
