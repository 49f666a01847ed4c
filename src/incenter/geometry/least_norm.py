r"""The point of least Euclidean norm of a polyhedron in a box:

    minimise  1/2 |x|^2   subject to  C x >= d,   lower <= x_j <= upper.                                (1)

Its dual is the nonnegative problem of `nonnegative_qp`: with all constraints as B x >= b, x = B^T y for the y >= 0 that
minimises 1/2 |B^T y|^2 - b^T y. Bounds of the box enter B only once a solution has violated them: few ever bind, and the
problem stays of the size of C's rows. Rows are scaled to length 1. The constraint set may be a single point to
rounding, or empty; then there may be no answer.
"""

import numpy as np

from incenter.geometry.arrays import Matrix, Vector
from incenter.geometry.nonnegative_qp import solve

LARGEST = 1000  # multipliers; beyond, factorisations cost seconds
OUTSIDE = 1e-12  # a bound counts as violated beyond this, x being of size 1


def least_norm(C: Matrix, d: Vector, lower: float, upper: float) -> Vector | None:
    """Solve (1); None where there is no point, to rounding, or too many bounds bind."""
    lengths = np.linalg.norm(C, axis=1)
    some = lengths > 0
    C, d = C[some] / lengths[some, None], d[some] / lengths[some]
    k = C.shape[1]
    bound = np.zeros(k)  # 1 where the lower bound is in B, -1 where the upper is
    while True:
        held = np.flatnonzero(bound)
        if len(C) + held.size > LARGEST:
            return None
        E = np.zeros((held.size, k))
        E[np.arange(held.size), held] = bound[held]
        B = np.vstack([C, E])
        b = np.concatenate([d, np.where(bound[held] > 0, lower, -upper)])
        if B.shape[0] == 0 or np.all(b <= 0):
            return np.zeros(k)
        found = solve(B @ B.T, b)
        if not found.solved:
            return None
        x: Vector = B.T @ found.y
        violated = (bound == 0) & ((x < lower - OUTSIDE) | (x > upper + OUTSIDE))
        if not violated.any():
            return np.clip(x, lower, upper)
        bound[violated] = np.where(x[violated] < lower, 1.0, -1.0)
