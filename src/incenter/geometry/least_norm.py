r"""The point of least Euclidean norm of a polyhedron in a box, from a point of it:

    minimise  |x|  subject to  C x >= C z - slack,   lower <= x_j <= upper;   z is feasible, slack >= 0.        (1)

Written with all constraints as B x >= b: where y >= 0 minimises |B^T y|^2 + (b.y - 1)^2, x is B^T y / (1 - b.y), and
the rows with y_i > 0 are its face (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23). Only that is
taken from there. x itself is the projection of z on the row space of B_face, less the least solution of
B_face x = slack_face: on the optimal faces of linear programs z is often the only point, the slacks are 0, and B_face
has condition 1e8; then the projection is z to the last digit, where solving for b_face would lose eight.
Bounds of the box enter B once a solution has violated them: few ever bind, and the problem stays of the size of C's
rows, which are scaled to length 1.
"""

import numpy as np
from scipy.optimize import nnls

from incenter.geometry.arrays import Matrix, Vector

LARGEST = 400  # rows of B; beyond, it costs more than the linear program that asks for it
OUTSIDE = 1e-12  # a bound counts as violated beyond this, x being of size 1
RANK = 1e-13  # singular values below this, relative to the largest, are rounding


def least_norm(C: Matrix, z: Vector, slack: Vector, lower: float, upper: float) -> Vector | None:
    """Solve (1); None where too many bounds bind, or the face was not found."""
    lengths = np.linalg.norm(C, axis=1)
    some = lengths > 0
    C, slack = C[some] / lengths[some, None], slack[some] / lengths[some]
    bound = np.zeros(z.size)  # 1 where the lower bound is in B, -1 where the upper is
    while True:
        held = np.flatnonzero(bound)
        if len(C) + held.size > LARGEST:
            return None
        unit = np.zeros((held.size, z.size))
        unit[np.arange(held.size), held] = bound[held]
        room = np.where(bound[held] > 0, z[held] - lower, upper - z[held])
        x = _in_cone(np.vstack([C, unit]), z, np.concatenate([slack, room]))
        if x is None:
            return None
        violated = (bound == 0) & ((x < lower - OUTSIDE) | (x > upper + OUTSIDE))
        if not violated.any():
            return np.clip(x, lower, upper)
        bound[violated] = np.where(x[violated] < lower, 1.0, -1.0)


def _in_cone(B: Matrix, z: Vector, slack: Vector) -> Vector | None:
    """Least |x| with B x >= B z - slack."""
    b = B @ z - slack
    if np.all(b <= 0):
        return np.zeros(z.size)
    target = np.zeros(z.size + 1)
    target[-1] = 1.0
    try:
        y, _ = nnls(np.vstack([B.T, b]), target)
    except RuntimeError:  # its iteration limit
        return None
    face = y > 0
    if not face.any():
        return None
    left, sigma, right = np.linalg.svd(B[face], full_matrices=False)
    rank = np.count_nonzero(sigma > RANK * sigma[0])
    x: Vector = (right[:rank] @ z - (slack[face] @ left[:, :rank]) / sigma[:rank]) @ right[:rank]
    return x
