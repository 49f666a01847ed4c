"""What is true of an answer, worked out without the library: bounds in extended precision, and slow solvers.

For every point a of the simplex and every v, min_i u_i . v / ||v||_q <= r* <= ||sum a_i u_i||_p.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, nnls

from tests.matrices import Floats, dual_exponent

Long = NDArray[np.longdouble]


class Bounds(NamedTuple):
    """Both sides of r*, and how far the answer is from the constraints it should meet."""

    upper: float
    least: float  # min_i u_i . v / ||v||_q: negative where v increases a loss
    off_unit: float  # | ||v||_q - 1 |
    off_simplex: float  # the larger of -min a_i and |sum a_i - 1|

    @property
    def lower(self) -> float:
        return max(0.0, self.least)

    @property
    def gap(self) -> float:
        return self.upper - self.lower


def unit_rows(gradients: Floats, p: float) -> Long:
    """The rows divided by their l_p norms; no row may be zero."""
    rows = gradients.astype(np.longdouble)
    return rows / long_norm(rows, p)[:, None]


def bounds(units: Long, weights: Floats, direction: Floats, p: float) -> Bounds:
    """Both bounds from `weights` and `direction`. Rounding here is 2^-64 per operation."""
    a, v = np.maximum(weights.astype(np.longdouble), 0), direction.astype(np.longdouble)
    total, length = a.sum(), long_norm(v, dual_exponent(p))
    upper = long_norm(a @ units, p) / total if total > 0 else np.longdouble(1)
    least = np.min(units @ v) / length if length > 0 else np.longdouble(0)
    off_simplex = max(-float(np.min(weights)), abs(float(total - 1)))
    return Bounds(float(upper), float(least), abs(float(length - 1)), off_simplex)


def long_norm(x: Long, p: float) -> Long:
    """l_p norms along the last axis; the range of long doubles has room for the powers of any double."""
    size = np.abs(x)
    if math.isinf(p):
        return np.asarray(size.max(axis=-1))
    if p == 1:
        return np.asarray(size.sum(axis=-1))
    if p == 2:
        return np.asarray(np.sqrt(np.sum(size * size, axis=-1)))
    if p == 3:
        return np.asarray(np.cbrt(np.sum(size * size * size, axis=-1)))
    if p == 1.5:  # powl is a hundred times slower
        return np.asarray(np.cbrt(np.square(np.sum(size * np.sqrt(size), axis=-1))))
    return np.asarray(np.sum(size**p, axis=-1) ** (1 / np.longdouble(p)))


def solve(units: Floats, p: float) -> tuple[Floats, Floats]:
    """Weights and direction by other means: exact for p = 1, 2, inf. For other p the answer for p = 2: its bounds are
    looser, but hold, and the lower one is positive wherever r* is."""
    if p in (1, math.inf):
        return _linear_program(units, p)
    weights = _least_squares(units)
    return weights, weights @ units


def _least_squares(units: Floats) -> Floats:
    """The nearest point of the hull to 0: non-negative least squares with the row of ones below."""
    m, n = units.shape
    target = np.append(np.zeros(n), 1.0)
    solution, _ = nnls(np.vstack([units.T, np.ones(m)]), target, maxiter=100 * m)
    return np.asarray(solution / solution.sum())


def _linear_program(units: Floats, p: float) -> tuple[Floats, Floats]:
    """max r with u_i . v >= r and v = v+ - v-: bounded by 1 for p = 1, of sum at most 1 for p = inf."""
    m, n = units.shape
    margins = np.hstack([-units, units, np.ones((m, 1))])
    cost = np.append(np.zeros(2 * n), -1.0)
    if p == 1:
        answer: Any = linprog(cost, margins, np.zeros(m), bounds=[(0, 1)] * (2 * n) + [(None, None)], method="highs-ds")
    else:
        ball = np.append(np.ones(2 * n), 0.0)
        answer = linprog(cost, np.vstack([margins, ball]), np.append(np.zeros(m), 1.0), method="highs-ds")
    weights = np.maximum(-answer.ineqlin.marginals[:m], 0)
    return weights / weights.sum(), answer.x[:n] - answer.x[n : 2 * n]
