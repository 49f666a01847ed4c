r"""The point of least Euclidean norm of a polyhedron in a box:

    minimise  |x|  subject to  C x >= d,   lower <= x_j <= upper,   lower <= 0 <= upper.                  (1)

Written with all constraints as B x >= b: where y >= 0 minimises |B^T y|^2 + (b.y - 1)^2, x is B^T y / (1 - b.y), and
the rows with y_i > 0 are its face (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23). x is then the
least-norm solution of B_face x = b_face, and is taken from there, by a factorisation of B_face itself. The Gram matrix
B B^T would square the condition number, which on the faces of linear programs can be 1e8 already. Bounds of the box
enter B once a solution has violated them: few ever bind, and the problem stays of the size of C's rows, which are
scaled to length 1.
"""

import numpy as np
from scipy.optimize import nnls

from incenter.geometry.arrays import Matrix, Vector

LARGEST = 1000  # rows of B; beyond, the factorisations cost seconds
OUTSIDE = 1e-12  # a bound counts as violated beyond this, x being of size 1


def least_norm(C: Matrix, d: Vector, lower: float, upper: float) -> Vector | None:
    """Solve (1); None where there is no point, to rounding, or too many bounds bind."""
    lengths = np.linalg.norm(C, axis=1)
    some = lengths > 0
    C, d = C[some] / lengths[some, None], d[some] / lengths[some]
    bound = np.zeros(C.shape[1])  # 1 where the lower bound is in B, -1 where the upper is
    while True:
        held = np.flatnonzero(bound)
        if len(C) + held.size > LARGEST:
            return None
        unit = np.zeros((held.size, bound.size))
        unit[np.arange(held.size), held] = bound[held]
        x = _in_cone(np.vstack([C, unit]), np.concatenate([d, np.where(bound[held] > 0, lower, -upper)]))
        if x is None:
            return None
        violated = (bound == 0) & ((x < lower - OUTSIDE) | (x > upper + OUTSIDE))
        if not violated.any():
            return np.clip(x, lower, upper)
        bound[violated] = np.where(x[violated] < lower, 1.0, -1.0)


def _in_cone(B: Matrix, b: Vector) -> Vector | None:
    """Least |x| with B x >= b; infeasible problems give None, or an x that its user will find not feasible."""
    if np.all(b <= 0):
        return np.zeros(B.shape[1])
    target = np.zeros(B.shape[1] + 1)
    target[-1] = 1.0
    try:
        y, _ = nnls(np.vstack([B.T, b]), target)
    except RuntimeError:  # its iteration limit
        return None
    face = y > 0
    if not face.any():
        return None
    x: Vector = np.linalg.lstsq(B[face], b[face], rcond=None)[0]
    return x
