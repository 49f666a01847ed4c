r"""The small problem behind every exact rule here:

    minimise  1/2 y^T A y - b^T y   over  y >= 0,        A (m, m) positive semidefinite.             (1)

y solves (1) iff y >= 0, slack = b - A y <= 0, and y_i slack_i = 0. The face is {i : slack_i = 0}.

`from_all` guesses the face: it starts from all of it and exchanges every wrong index at once, which takes a handful of
factorisations where most losses bind. `pivot` proves or mends: from any y it inserts the index of largest slack
(most-violated insertion; other rules need exponentially many steps on some inputs) and moves along the edge that keeps
the face's slacks, until the new slack is 0 or an old y_i is. The face stays independent, so A may be singular; a face
that was given (`settle`) may be dependent, and moves are then of least norm. Slacks are updated, never recomputed from
y: given more precise ones it continues at their precision.
"""

from typing import NamedTuple, TypeAlias

import numpy as np

from incenter.geometry.arrays import Mask, Scalar, Square, Weights, epsilon, is_jax, namespace, while_loop

# An index whose distance from the face, squared, is below this many roundings of its diagonal depends on the face.
DEPENDENT = 16.0
EXCHANGES = 12  # rounds of `from_all`; more than 8 were never seen where it ends at all

# y, slack, face, index being driven in or -1, levelling the face first, steps, no end in sight, sum of the moves
Walk: TypeAlias = tuple[Weights, Weights, Mask, Scalar, Scalar, Scalar, Scalar, Weights]


class Face(NamedTuple):
    """A point of (1): y >= 0, its slack, the indices with slack 0, and whether the optimality test was met."""

    y: Weights
    slack: Weights
    face: Mask
    solved: Scalar
    moved: Weights  # y less the y that was started from, added up from the moves: precise where it is small


def solve(A: Square, b: Weights) -> Face:
    """Solve (1) from scratch."""
    xp = namespace(A)
    m = len(b)
    tolerance = 4.0 * m * epsilon(A) * xp.max(xp.abs(b))
    if not is_jax(xp):
        guess = from_all(A, b, tolerance)
        if guess.solved:
            return guess
    empty = xp.zeros(m, dtype=bool)
    return polish(A, b, pivot(A, xp.zeros_like(b), b, empty, tolerance), tolerance)


def from_all(A: Square, b: Weights, tolerance: Scalar) -> Face:
    """The whole face first, then every wrong index exchanged at once while their number falls (NumPy only)."""
    face = b > 0
    best = len(b) + 1
    y = np.zeros_like(b)
    slack = b
    for _ in range(EXCHANGES):
        y = _solve_on(A, b, face)
        slack = b - A @ y
        wrong = np.where(face, y < 0, slack > tolerance)
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return Face(y, slack, face, bool(np.all(np.abs(slack[face]) <= tolerance)), y)
        if not count < best:
            break
        best = count
        face = face ^ wrong
    return Face(y, slack, face, False, y)


def pivot(A: Square, y: Weights, slack: Weights, face: Mask, tolerance: Scalar, settle: bool = False) -> Face:
    """Continue from y >= 0 on `face` until no slack is above `tolerance`; with `settle` level its own slacks first."""
    xp = namespace(A)
    m = y.shape[0]
    index = xp.arange(m)
    diagonal = xp.linalg.diagonal(A)
    state = (y, slack, face, xp.asarray(-1), xp.asarray(settle), xp.asarray(0), xp.asarray(False), xp.zeros_like(y))
    limit = 10 * m + 20  # Wolfe's exponential examples need under 3 m with this insertion rule; the rest is margin

    def driver(slack: Weights, face: Mask, driving: Scalar) -> Scalar:
        most = xp.argmax(xp.where(face, -xp.inf, slack))
        return xp.where(driving >= 0, driving, most)

    def violated(slack: Weights, face: Mask) -> Scalar:
        return xp.any(~face & (slack > tolerance))

    def keep_going(state: Walk) -> Scalar:
        _, slack, face, driving, settling, steps, stuck, _ = state
        return ~stuck & (steps < limit) & (settling | (driving >= 0) | violated(slack, face))

    def step(state: Walk) -> Walk:
        y, slack, face, driving, settling, steps, _, moved = state
        j = driver(slack, face, driving)
        move = _solve_on(A, xp.where(settling, slack, -A[:, j]), face, dependent=settle)
        move = xp.where((index == j) & ~settling, 1.0, move)
        change = A @ move
        curvature = change[j]
        independent = curvature > DEPENDENT * epsilon(A) * diagonal[j]
        whole = xp.where(settling, 1.0, xp.where(independent, slack[j] / xp.where(independent, curvature, 1.0), xp.inf))
        shrinking = face & (move < 0)
        room = xp.where(shrinking, y / xp.where(shrinking, -move, 1.0), xp.inf)
        i = xp.argmin(room)
        blocked = room[i] < whole
        length = xp.minimum(room[i], whole)
        stuck = ~xp.isfinite(length)  # no edge ends: (1) is unbounded, to rounding
        length = xp.where(stuck, 0.0, length)
        leaves = (index == i) & blocked
        y = xp.where(leaves, 0.0, xp.maximum(y + length * move, 0.0))
        # a dependent index trades places with no change but rounding, which a long edge would multiply
        felt = xp.where(independent | settling, length, 0.0)
        moved = moved + felt * move
        slack = slack - felt * change
        enters = (index == j) & ~blocked & ~settling & ~stuck
        face = (face & ~leaves) | enters
        slack = xp.where(face & ~(settling & blocked), 0.0, slack)
        driving = xp.where(blocked & ~settling, j, -1)
        return y, slack, face, driving, settling & blocked, steps + 1, stuck, moved

    y, slack, face, driving, settling, _, stuck, moved = while_loop(xp, keep_going, step, state)
    return Face(y, slack, face, ~stuck & ~settling & (driving < 0) & ~violated(slack, face), moved)


def polish(A: Square, b: Weights, found: Face, tolerance: Scalar) -> Face:
    """Solve once more on the face that was found, and keep that if it is feasible: it has one rounding, not many."""
    xp = namespace(A)
    y = _solve_on(A, b, found.face)
    feasible = xp.all(y >= 0) & xp.all(xp.isfinite(y)) & xp.all(b - A @ y <= 2 * tolerance)
    return found._replace(y=xp.where(feasible, y, found.y), slack=xp.where(feasible, b - A @ y, found.slack))


def _solve_on(A: Square, b: Weights, face: Mask, dependent: bool = False) -> Weights:
    """x with (A x)_i = b_i on the face and x_i = 0 off it. NumPy cuts the face out; traced shapes are fixed."""
    xp = namespace(A)
    if is_jax(xp):
        # a dependent face has many solutions; a shift of the diagonal picks the one of least norm, up to an error that
        # the next correction, from slacks measured anew, takes away
        shift = _cutoff(A) if dependent else 0.0
        diagonal = xp.where(face, shift * xp.linalg.diagonal(A), 1.0)
        masked = xp.where(face[:, None] & face[None, :], A, 0.0) + xp.diag(diagonal)
        return xp.linalg.solve(masked, xp.where(face, b, 0.0))
    solve = _least_norm if dependent else _unique
    if face.all():
        return solve(A, b)
    x = np.zeros_like(b)
    index = np.flatnonzero(face)
    if index.size:
        x[index] = solve(A[np.ix_(index, index)], b[index])
    return x


def _unique(A: Square, b: Weights) -> Weights:
    try:
        x: Weights = np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return np.full_like(b, np.nan)
    return x


def _least_norm(A: Square, b: Weights) -> Weights:
    """A solution where A may be singular; by the dear way only where Cholesky's pivots say that it is."""
    try:
        pivots = np.linalg.cholesky(A).diagonal() ** 2
        if np.all(pivots > _cutoff(A) * A.diagonal()):
            return _unique(A, b)
    except np.linalg.LinAlgError:
        pass
    x: Weights = np.linalg.lstsq(A, b, rcond=_cutoff(A))[0]
    return x


def _cutoff(A: Square) -> float:
    return DEPENDENT * len(A) * epsilon(A)
