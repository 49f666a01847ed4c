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

from typing import NamedTuple, TypeAlias

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
PATIENCE = 2  # corrections in a row that may fail to halve the gap: the way to a good one may lead through a worse one
LINE_STEPS = 40
LEVEL = 16.0  # roundings between margins that count as level: an inner product of unit vectors has a few
SUFFICIENT_SLOPE = 0.1  # a line search ends when the slope fell to this share: the next Newton step does the rest
SMALLEST_SHARE = 1e-8  # of the largest |w_j|: below it t^(p-2) for p < 2 is as good as infinite


class Centre(NamedTuple):
    """An answer to (1), before it is certified."""

    weights: Weights  # small
    direction: Vector  # long, wide
    radius: Scalar  # |w|_p
    margins: Weights  # small; u_i . direction, +inf for rows that are not live


class Progress(NamedTuple):
    """Where an iteration is, the best seen (weights and direction each by themselves), and how it goes."""

    now: Centre
    best: Centre
    steps: Scalar
    poor: Scalar  # steps in a row that gained little


# length and slope there; the bracket: low, its slope, high, its slope; steps
Bracket: TypeAlias = tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]


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
    return supported(rows, problem, corrected(problem, newton(problem), None))


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
    tolerance = LEVEL * epsilon(problem.inverse)

    def keep_going(state: Progress) -> Scalar:
        open_gap = (gap_of(xp, state.now) > tolerance) & (state.now.radius > tolerance)
        return (state.steps < NEWTON_STEPS) & (state.poor == 0) & open_gap

    def step(state: Progress) -> Progress:
        weights, v, radius, margins = state.now
        model = _hessian(problem, v, margins)
        level = xp.trace(model) / len(weights)
        target, _ = minimum_norm_of(model / level, problem.live)
        following = at(problem, line_search(problem, weights, target, margins))
        better = (gap_of(xp, following) < gap_of(xp, state.now)) | (following.radius < radius)
        now = _choose(xp, better, following, state.now)
        return Progress(now, now, state.steps + 1, state.poor + ~better)

    start = at(problem, problem.live / xp.maximum(xp.sum(problem.live), 1))
    return while_loop(xp, keep_going, step, Progress(start, start, xp.asarray(0), xp.asarray(0))).now


def gap_of(xp: Namespace, centre: Centre) -> Scalar:
    return centre.radius - xp.min(centre.margins)


def minimum_norm_of(gram_matrix: Square, live: Mask) -> tuple[Weights, Scalar]:
    """The min-norm weights for points of any lengths, given by their Gram matrix."""
    xp = namespace(gram_matrix)
    found = solve(bordered(gram_matrix, live), xp.where(live, 1.0, 0.0))
    return found.y / xp.maximum(xp.sum(found.y), xp.finfo(found.y.dtype).smallest_normal), found.solved


def line_search(problem: Problem, weights: Weights, target: Weights, margins: Weights) -> Weights:
    """A point from the weights through the target and beyond where the slope of f is small, by regula falsi.

    The target itself is tried first, and steps double from there while f still falls; later the side of the bracket
    that stays has its slope halved, so that it is left sooner.
    """
    xp = namespace(weights)
    move = target - weights
    shrinking = move < 0
    limit = xp.min(xp.where(shrinking, weights / xp.where(shrinking, -move, 1.0), xp.inf))  # where the simplex ends
    limit = xp.where(xp.isfinite(limit), xp.maximum(limit, 1.0), 1.0)

    def slope_of(cosines: Weights) -> Scalar:
        return xp.sum(xp.where(problem.live, cosines, 0.0) * move)

    def slope_at(length: Scalar) -> Scalar:
        return slope_of(at(problem, xp.maximum(weights + length * move, 0.0)).margins)

    def keep_going(state: Bracket) -> Scalar:
        length, slope, _, _, _, _, steps = state
        falls_at_the_end = (slope < 0) & (length >= limit)
        return (steps < LINE_STEPS) & (xp.abs(slope) > SUFFICIENT_SLOPE * xp.abs(initial)) & ~falls_at_the_end

    def step(state: Bracket) -> Bracket:
        length, slope, low, low_slope, high, high_slope, steps = state
        falls = slope < 0
        low, low_slope = xp.where(falls, length, low), xp.where(falls, slope, 0.5 * low_slope)
        high, high_slope = xp.where(falls, high, length), xp.where(falls, 0.5 * high_slope, slope)
        bracketed = xp.isfinite(high)
        rise = high_slope - low_slope
        share = xp.clip(-low_slope / xp.where(rise > 0, rise, 1.0), 0.05, 0.95)
        between = low + share * (xp.where(bracketed, high, low) - low)
        length = xp.where(bracketed, between, xp.minimum(2 * low, limit))
        return length, slope_at(length), low, low_slope, high, high_slope, steps + 1

    initial = slope_of(margins)
    one = xp.ones_like(limit)
    bracket = (one, slope_at(one), 0 * one, initial, one * xp.inf, 0 * one, xp.asarray(0))
    moved = xp.maximum(weights + while_loop(xp, keep_going, step, bracket)[0] * move, 0.0)
    return moved / xp.sum(moved)


def corrected(problem: Problem, centre: Centre, gram_matrix: Square | None) -> Centre:
    """The centre with its direction mended until its margins are level to rounding, or little is gained."""
    xp = namespace(problem.inverse)
    tolerance = LEVEL * epsilon(problem.inverse)

    def keep_going(state: Progress) -> Scalar:
        open_gap = (gap_of(xp, state.best) > tolerance) & (state.best.radius > tolerance)
        return (state.steps < CORRECTIONS) & (state.poor < PATIENCE) & open_gap

    def step(state: Progress) -> Progress:
        now = _correct(problem, state.now, gram_matrix)
        best = best_of(xp, state.best, now)
        poor = xp.where(gap_of(xp, best) > 0.5 * gap_of(xp, state.best), state.poor + 1, 0)
        return Progress(now, best, state.steps + 1, poor)

    return while_loop(xp, keep_going, step, Progress(centre, centre, xp.asarray(0), xp.asarray(0))).best


def best_of(xp: Namespace, first: Centre, second: Centre) -> Centre:
    """The weights of least norm and the direction of largest least margin, each from either."""
    lighter, deeper = second.radius < first.radius, xp.min(second.margins) > xp.min(first.margins)
    weights = _choose(xp, lighter, second, first)
    direction = _choose(xp, deeper, second, first)
    return Centre(weights.weights, direction.direction, weights.radius, direction.margins)


def supported(rows: Rows, problem: Problem, centre: Centre) -> Centre:
    """The centre, helped by that of p = 2 where r* is too small for its own direction to be made out.

    Whether 0 is in the hull does not depend on p, nor does which directions decrease every loss; and v = |w|^(p-1) has
    no digit right once w is all rounding, which for p = 2 is mended.
    """
    xp = namespace(problem.inverse)

    def lost(state: Progress) -> Scalar:
        centre = state.best
        return (state.steps < 1) & (xp.min(centre.margins) <= 0) & (centre.radius > LEVEL * epsilon(problem.inverse))

    def help_out(state: Progress) -> Progress:
        best = best_of(xp, state.best, from_euclidean(rows, problem))
        return state._replace(best=best, steps=state.steps + 1)

    return while_loop(xp, lost, help_out, Progress(centre, centre, xp.asarray(0), xp.asarray(0))).best


def from_euclidean(rows: Rows, problem: Problem) -> Centre:
    """Weights and direction of p = 2, for the rows as they are normalised here."""
    xp = namespace(problem.inverse)
    found = solve_smooth(rows, 2.0)
    weights = found.weights * rows.inverse_lengths * reciprocal(problem.inverse)
    weights = weights / xp.maximum(xp.sum(weights), xp.finfo(weights.dtype).smallest_normal)
    v = found.direction / _norm_and_dual(namespace(found.direction), found.direction, problem.p / (problem.p - 1))[0]
    return Centre(weights, v, at(problem, weights).radius, problem.margins(v))


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
