"""Heat in a medium that jumps, on the unit square, by finite volumes.

    divergence   u_t - div(a grad u) = f          paper   u_t - a (u_xx + u_yy) = f
    u = 0 on the boundary and at t = 0,  f(x, y, t) = source(x, y) sin(omega t)

Both are M u_t + K u = M f with a symmetric K: the flux form with a on the faces and M = 1, and, divided by a, the
Laplacian with M = 1/a. a is taken as constant on each cell of the mesh, whose centres are the nodes, so that it jumps
on faces only; there the flux is that of two half cells in series, which is the harmonic mean. (The arithmetic mean lets
too much through.)
Time: the L-stable SDIRK method of order 2 in two stages (Alexander, SIAM J. Numer. Anal. 14, 1977), with gamma =
1 - 1/sqrt(2): both stages and all steps share one sparse factorisation of M + gamma dt K.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

Floats = NDArray[np.float64]
Operator = Literal["paper", "divergence"]

_GAMMA = 1.0 - 1.0 / math.sqrt(2.0)


class Heat(NamedTuple):
    """u[k, j, i] at times[k], y = nodes[j], x = nodes[i], boundary included."""

    nodes: Floats
    times: Floats
    u: Floats


def solve_heat(
    a: Floats,
    operator: Operator,
    source: Callable[[Floats, Floats], Floats],
    omega: float,
    until: float,
    records: int,
    steps_between: int,
) -> Heat:
    """The solution at `records` equally spaced times from 0 to `until`; `a` (n, n) at the nodes, rows y, columns x."""
    nodes, times = np.linspace(0.0, 1.0, a.shape[0]), np.linspace(0.0, until, records)
    mass, stiffness = _matrices(a, operator)
    inside = nodes[1:-1]
    load = mass * source(inside[None, :], inside[:, None]).ravel()
    u = np.zeros((records, *a.shape))
    states = _march(mass, stiffness, load, omega, until / ((records - 1) * steps_between))
    for record in u[1:]:
        for _ in range(steps_between):
            state = next(states)
        record[1:-1, 1:-1] = state.reshape(len(inside), len(inside))
    return Heat(nodes, times, u)


def _march(mass: Floats, stiffness: sparse.csc_array, load: Floats, omega: float, dt: float) -> Iterator[Floats]:
    """u after one step, two steps, and so on."""
    factors = splu(
        sparse.csc_array(sparse.diags_array(mass) + _GAMMA * dt * stiffness),
        permc_spec="MMD_AT_PLUS_A",  # symmetric and definite: no pivoting is needed, and a third of the entries
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    u = np.zeros_like(load)
    for step in itertools.count():
        first_time, second_time = (step + _GAMMA) * dt, (step + 1.0) * dt
        first = factors.solve(load * math.sin(omega * first_time) - stiffness @ u)
        u = u + (1.0 - _GAMMA) * dt * first
        second = factors.solve(load * math.sin(omega * second_time) - stiffness @ u)
        u = u + _GAMMA * dt * second
        yield u


def _matrices(a: Floats, operator: Operator) -> tuple[Floats, sparse.csc_array]:
    """M's diagonal and K over the inner nodes, row by row."""
    if operator == "divergence":
        across_x, across_y, mass = _in_series(a[:, 1:], a[:, :-1]), _in_series(a[1:], a[:-1]), np.ones_like(a)
    else:
        across_x, across_y, mass = np.ones_like(a[:, 1:]), np.ones_like(a[1:]), 1.0 / a
    return mass[1:-1, 1:-1].ravel(), _stiffness(across_x[1:-1], across_y[:, 1:-1], a.shape[0] - 1)


def _in_series(one: Floats, other: Floats) -> Floats:
    """What two half cells conduct together."""
    return 2.0 * one * other / (one + other)


def _stiffness(across_x: Floats, across_y: Floats, cells: int) -> sparse.csc_array:
    """-div(a grad) from its faces: across_x (cells - 1, cells) between neighbours in x, across_y (cells, cells - 1)."""
    side = cells - 1
    diagonal = (across_x[:, 1:] + across_x[:, :-1] + across_y[1:] + across_y[:-1]).ravel()
    # The last node of a row has no right neighbour in it: the next entry of the vector is another row's first.
    right = np.pad(across_x[:, 1:-1], ((0, 0), (0, 1))).ravel()[:-1]
    above = across_y[1:-1].ravel()
    upper = sparse.diags_array(right, offsets=1) + sparse.diags_array(above, offsets=side)
    return sparse.csc_array((sparse.diags_array(diagonal) - upper - upper.T) * cells**2)
