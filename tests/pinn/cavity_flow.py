"""Flow in a box with a sliding lid, by finite differences: the oracle of the cavity example.

    psi_xx + psi_yy = -omega,   u omega_x + v omega_y = (omega_xx + omega_yy) / Re,   u = psi_y,   v = -psi_x
    psi = 0 on the walls;  there omega = -2 (psi one node inside + h speed) / h^2  (Thom)

Central differences on (cells + 1)^2 nodes, both fields in one sparse system, u and v from the iterate before (Picard).
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import spsolve

Floats = NDArray[np.float64]
ITERATIONS = 60
SETTLED = 1e-9  # change of psi in an iteration


def middle_line(lid: Callable[[Floats], Floats], reynolds: float, cells: int) -> tuple[Floats, Floats]:
    """y and u(1/2, y) at the nodes; psi and omega are numbered [x, y], psi first."""
    h, line = 1.0 / cells, np.linspace(0.0, 1.0, cells + 1)
    index = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    inside = np.zeros(index.size)
    inside[index[1:-1, 1:-1]] = 1.0
    wall, speed = sparse.diags_array(1.0 - inside), np.zeros(index.size)
    speed[index[1:-1, -1]] = lid(line[1:-1])
    laplace = stencil(index, np.array([-4.0, 1.0, 1.0, 1.0, 1.0])[:, None] / h**2)
    right = np.concatenate([np.zeros(index.size), -2.0 * speed / h])
    psi = np.zeros(index.shape)
    for _ in range(ITERATIONS):
        u, v = (psi[1:-1, 2:] - psi[1:-1, :-2]) / (2.0 * h), (psi[:-2, 1:-1] - psi[2:, 1:-1]) / (2.0 * h)
        transport = stencil(index, np.stack([0.0 * u, u, -u, v, -v]).reshape(5, -1) / (2.0 * h))
        above = sparse.hstack([laplace + wall, sparse.diags_array(inside)])
        below = sparse.hstack([thom(index, h), transport - laplace / reynolds + wall])
        solution = spsolve(sparse.csc_array(sparse.vstack([above, below])), right)
        before, psi = psi, solution[: index.size].reshape(index.shape)
        if np.max(np.abs(psi - before)) < SETTLED:
            break
    middle = psi[cells // 2]
    return line, np.concatenate([[0.0], (middle[2:] - middle[:-2]) / (2.0 * h), lid(np.array([0.5]))])


def stencil(index: NDArray[np.intp], weights: Floats) -> sparse.csr_array:
    """An operator at the inner nodes from the weights (5, 1 or inner) of centre, east, west, north and south."""
    rows = index[1:-1, 1:-1].ravel()
    parts = (rows, index[2:, 1:-1].ravel(), index[:-2, 1:-1].ravel(), index[1:-1, 2:].ravel(), index[1:-1, :-2].ravel())
    values = np.broadcast_to(weights, (5, rows.size)).ravel()
    return sparse.csr_array((values, (np.tile(rows, 5), np.concatenate(parts))), shape=(index.size, index.size))


def thom(index: NDArray[np.intp], h: float) -> sparse.csr_array:
    """2 / h^2 from each wall node to the node inside it; corners touch nothing."""
    rows = np.concatenate([index[1:-1, -1], index[1:-1, 0], index[0, 1:-1], index[-1, 1:-1]])
    columns = np.concatenate([index[1:-1, -2], index[1:-1, 1], index[1, 1:-1], index[-2, 1:-1]])
    return sparse.csr_array((np.full(rows.size, 2.0 / h**2), (rows, columns)), shape=(index.size, index.size))
