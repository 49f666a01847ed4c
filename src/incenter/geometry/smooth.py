r"""1 < p < inf: weights and direction of the Chebyshev centre.

    minimise  f(alpha) = || w ||_p,   w = sum_i alpha_i u_i,   over the simplex;                      (1)
    v = sgn(w) |w|^(p-1) / |w|_p^(p-1)          the direction, a unit vector of l_q;                  (2)
    cos_i = u_i . v                             the gradient of f, and the margins of the losses.

Newton's method on f^2 / 2, which is homogeneous of degree 2: its quadratic model is alpha^T H alpha / 2 alone, with

    H = (p-1) U diag(t^(p-2)) U^T - (p-2) cos cos^T,    t = |w| / f,

so that every step is the min-norm problem of p = 2 with H for the Gram matrix, solved by the same small solver; the
steps end at p = 2 after one. Then the direction is mended: alpha fixes w only to the rounding of its largest terms,
which near r* = 0 is most of it. The margins of v are measured in n dimensions, and v gets the combination
diag(t^(p-2)) U^T c that levels those of the active losses (found by `pivot` from the measured slacks r - cos_i). One or
two such corrections leave nothing to mend.
"""

from typing import NamedTuple

from incenter.geometry.arrays import (
    Mask,
    Matrix,
    Namespace,
    Scalar,
    Square,
    Vector,
    Weights,
    epsilon,
    from_small,
    is_jax,
    namespace,
    small_namespace,
    to_small,
    while_loop,
    wide,
)
from incenter.geometry.euclidean import bordered, minimum_norm_weights
from incenter.geometry.long_rows import gram, inner_products, weighted_sum
from incenter.geometry.nonnegative_qp import pivot, solve
from incenter.geometry.rows import Rows, norms_of, reciprocal

NEWTON_STEPS = 60  # of which 3 to 8 are used for 1.5 <= p <= 10; p near 1 is nearly a linear program and takes more
CORRECTIONS = 6  # of the direction, of which 1 or 2 are used
LINE_STEPS = 40
SUFFICIENT_SLOPE = 0.1  # a line search ends when the slope fell to this share: the next Newton step does the rest
SMALLEST_SHARE = 1e-8  # of the largest |w_j|: below it t^(p-2) for p < 2 is as good as infinite


class Centre(NamedTuple):
    """An answer to (1), before it is certified."""

    weights: Weights  # small
    direction: Vector  # long, wide
    radius: Scalar  # |w|_p
    margins: Weights  # small; u_i . direction, +inf for rows that are not live


class Problem(NamedTuple):
    """Rows of norm |.|_p = 1, without copying them: u_i = rows.scaled_i * inverse_i."""

    scaled: Matrix
    inverse: Weights  # small
    live: Mask  # small
    p: float

    def combine(self, weights: Weights) -> Vector:
        return weighted_sum(
            from_small(weights * self.inverse, wide(namespace(self.scaled), self.scaled[:0, 0])), self.scaled
        )

    def margins(self, v: Vector) -> Weights:
        xp = small_namespace(namespace(self.scaled))
        return xp.where(self.live, to_small(inner_products(self.scaled, v)) * self.inverse, xp.inf)


def solve_smooth(rows: Rows, p: float) -> Centre:
    """The Chebyshev centre for 1 < p < inf."""
    if p == 2:
        problem = Problem(rows.scaled, rows.inverse_lengths, rows.live, p)
        weights, _ = minimum_norm_weights(rows.cosines, rows.live)
        return corrected(problem, at(problem, weights), rows.cosines)
    problem = Problem(rows.scaled, reciprocal(norms_of(rows, p)), rows.live, p)
    return corrected(problem, newton(problem), None)


def at(problem: Problem, weights: Weights) -> Centre:
    """w, v and the margins for these weights."""
    w = problem.combine(weights)
    xp = namespace(w)
    if problem.p == 2 and not is_jax(xp):
        radius = xp.sqrt(w @ w)
        v = w / radius if radius > 0 else w
    else:
        radius, v = _norm_and_dual(xp, w, problem.p)
    return Centre(weights, v, to_small(radius), problem.margins(v))


def newton(problem: Problem) -> Centre:
    """Newton's method on f^2 / 2 from the centre of the simplex."""
    xp = namespace(problem.inverse)
    start = at(problem, problem.live / xp.maximum(xp.sum(problem.live), 1))
    tolerance = 8.0 * epsilon(problem.inverse)

    def keep_going(state: tuple[Weights, Vector, Scalar, Weights, Scalar, Scalar]) -> Scalar:
        _, _, radius, margins, steps, stalled = state
        return (steps < NEWTON_STEPS) & ~stalled & (radius - xp.min(margins) > tolerance) & (radius > tolerance)

    def step(
        state: tuple[Weights, Vector, Scalar, Weights, Scalar, Scalar],
    ) -> tuple[Weights, Vector, Scalar, Weights, Scalar, Scalar]:
        weights, v, radius, margins, steps, _ = state
        model = _hessian(problem, v, margins)
        level = xp.trace(model) / len(weights)
        target, _ = minimum_norm_of(model / level, problem.live)
        following = at(problem, line_search(problem, weights, target, margins))
        better = (following.radius - xp.min(following.margins) < radius - xp.min(margins)) | (following.radius < radius)
        return (*_choose(xp, better, following, Centre(weights, v, radius, margins)), steps + 1, ~better)

    end = while_loop(xp, keep_going, step, (*start, xp.asarray(0), xp.asarray(False)))
    return Centre(*end[:4])


def minimum_norm_of(gram_matrix: Square, live: Mask) -> tuple[Weights, Scalar]:
    """The min-norm weights for points of any lengths, given by their Gram matrix."""
    xp = namespace(gram_matrix)
    found = solve(bordered(gram_matrix, live), xp.where(live, 1.0, 0.0))
    return found.y / xp.maximum(xp.sum(found.y), xp.finfo(found.y.dtype).smallest_normal), found.solved


def line_search(problem: Problem, weights: Weights, target: Weights, margins: Weights) -> Weights:
    """A point between the weights and beyond the target where the slope of f is small: regula falsi, halving its bias."""
    xp = namespace(weights)
    move = target - weights
    finite = xp.where(problem.live, margins, 0.0)
    initial = xp.sum(finite * move)
    shrinking = move < 0
    limit = xp.min(xp.where(shrinking, weights / xp.where(shrinking, -move, 1.0), xp.inf))
    limit = xp.where(xp.isfinite(limit), xp.maximum(limit, 1.0), 1.0)

    def slope(length: Scalar) -> Scalar:
        cosines = at(problem, xp.maximum(weights + length * move, 0.0)).margins
        return xp.sum(xp.where(problem.live, cosines, 0.0) * move)

    def keep_going(state: tuple[Scalar, ...]) -> Scalar:
        low, high, _, _, here, there, steps = state
        return (steps < LINE_STEPS) & (xp.abs(there) > SUFFICIENT_SLOPE * xp.abs(initial)) & (high > low)

    def step(state: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        low, high, at_low, at_high, length, there, steps = state
        falls = there < 0
        # the side that stays keeps half its slope, so that it is left sooner
        new_low, new_high = xp.where(falls, length, low), xp.where(falls, high, length)
        low_slope = xp.where(falls, there, 0.5 * at_low)
        high_slope = xp.where(falls, xp.where(high < xp.inf, 0.5 * at_high, at_high), there)
        share = low_slope / xp.where(low_slope - high_slope < 0, low_slope - high_slope, -1.0)
        beyond = xp.minimum(2.0 * new_low, limit)
        inner = new_low + xp.clip(share, 0.05, 0.95) * (xp.where(new_high < xp.inf, new_high, new_low) - new_low)
        following = xp.where(new_high < xp.inf, inner, beyond)
        ended = (new_high == xp.inf) & (new_low >= limit)
        following = xp.where(ended, limit, following)
        high_out = xp.where(ended, limit, new_high)
        low_out = xp.where(ended, limit, new_low)
        return low_out, high_out, low_slope, high_slope, following, xp.where(ended, 0.0, slope(following)), steps + 1

    one = limit * 0.0 + 1.0
    start = (one * 0.0, one * xp.inf, initial, one * 0.0, one, slope(one), xp.asarray(0))
    length = while_loop(xp, keep_going, step, start)[4]
    moved = xp.maximum(weights + length * move, 0.0)
    return moved / xp.sum(moved)


def corrected(problem: Problem, centre: Centre, gram_matrix: Square | None) -> Centre:
    """The centre with its direction mended until its margins are level to rounding, or nothing is gained."""
    xp = namespace(problem.inverse)
    tolerance = 8.0 * epsilon(problem.inverse)

    def keep_going(state: tuple[Weights, Vector, Scalar, Weights, Scalar, Scalar]) -> Scalar:
        _, _, radius, margins, steps, stalled = state
        return (steps < CORRECTIONS) & ~stalled & (radius - xp.min(margins) > tolerance) & (radius > tolerance)

    def step(
        state: tuple[Weights, Vector, Scalar, Weights, Scalar, Scalar],
    ) -> tuple[Weights, Vector, Scalar, Weights, Scalar, Scalar]:
        now = Centre(*state[:4])
        following = _correct(problem, now, gram_matrix)
        gain = (now.radius - xp.min(now.margins)) - (following.radius - xp.min(following.margins))
        better = gain > 0
        return (*_choose(xp, better, following, now), state[4] + 1, ~better)

    end = while_loop(xp, keep_going, step, (*centre, xp.asarray(0), xp.asarray(False)))
    return Centre(*end[:4])


def _correct(problem: Problem, centre: Centre, gram_matrix: Square | None) -> Centre:
    p, live = problem.p, problem.live
    xp = namespace(problem.inverse)
    model = _weighted_gram(problem, centre.direction) if gram_matrix is None else gram_matrix
    level = xp.trace(model) / len(live)
    slack = xp.where(live, centre.radius - xp.where(live, centre.margins, 0.0), 0.0)
    unit = (p - 1) / xp.where(centre.radius > 0, centre.radius, 1.0)  # dv = unit * d(alpha), see (2)
    A = bordered(model / level, live)
    tolerance = 4.0 * epsilon(slack)
    found = pivot(A, centre.weights * unit * level, slack, centre.weights > 0, tolerance, settle=True)
    move = problem.combine(found.moved / level)
    v = centre.direction + (move if p == 2 else _metric(centre.direction, p) * move)
    weights = found.y / xp.sum(found.y)
    lengths = at(problem, weights)
    v = v / _norm_and_dual(namespace(v), v, p / (p - 1))[0]
    return Centre(weights, v, lengths.radius, problem.margins(v))


def _choose(xp: Namespace, better: Scalar, new: Centre, old: Centre) -> Centre:
    if not is_jax(xp):
        return new if better else old
    return Centre(*(xp.where(better, a, b) for a, b in zip(new, old, strict=True)))


def _hessian(problem: Problem, v: Vector, margins: Weights) -> Square:
    xp = namespace(margins)
    H = _weighted_gram(problem, v)
    if problem.p < 2:
        return H  # the term left out is constant on the simplex where the active margins are level
    cosines = xp.where(problem.live, margins, 0.0)
    return (problem.p - 1) * H - (problem.p - 2) * cosines[:, None] * cosines[None, :]


def _weighted_gram(problem: Problem, v: Vector) -> Square:
    """U diag(t^(p-2)) U^T."""
    xp = namespace(v)
    root = xp.sqrt(_metric(v, problem.p))
    H = to_small(gram(wide(xp, problem.scaled) * root))
    return H * problem.inverse[:, None] * problem.inverse[None, :]


def _metric(v: Vector, p: float) -> Vector:
    """t^(p-2), where |v| = t^(p-1)."""
    xp = namespace(v)
    t = xp.abs(v) ** (1 / (p - 1))
    return xp.maximum(t, SMALLEST_SHARE * xp.max(t)) ** (p - 2)


def _norm_and_dual(xp: Namespace, w: Vector, p: float) -> tuple[Scalar, Vector]:
    """|w|_p and (2); 0 for w = 0."""
    largest = xp.max(xp.abs(w))
    t = xp.abs(w) / xp.where(largest > 0, largest, 1.0)
    length = xp.sum(t**p) ** (1 / p)
    t = t / xp.where(length > 0, length, 1.0)
    return largest * length, xp.sign(w) * t ** (p - 1)
