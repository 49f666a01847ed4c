"""Gradient matrices by kind, drawn from a seed: what is hard for a solver, with the exact answer where there is one.

`SAMPLERS` maps a kind to its sampler, a function of (rng, p); `draw(kind, seed, index)` chooses p and calls it. In the
docstrings u_i are the gradients divided by their l_p norm, r the radius, d the direction, 1/p + 1/q = 1, and x# is the
dual vector of x: of unit dual norm, with <x, x#> = ||x||. A radius is proved by two sides: weights a with
||sum a_i u_i||_p = r, and a direction d with u_i . d >= r for all i.

Rounding the entries of a row moves u_i by at most one rounding, and r is 1-Lipschitz in every u_i: the radii given hold
for the rounded data to a few roundings, whatever the conditioning. Directions hold to a few roundings over r.
"""

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from incenter import Status

Floats: TypeAlias = NDArray[np.floating[Any]]
Sampler: TypeAlias = "Callable[[np.random.Generator, float], Sample]"

NORMS = (1.0, 1.5, 2.0, 2.0, 2.0, 3.0, math.inf)  # p = 2 is what nearly everybody uses
LARGEST_M = 64
LARGEST_N = 10_000
# Above it a radius is beyond doubt, and STATIONARY would be a wrong answer; far above any certificate's rounding bound.
CLEARLY_POSITIVE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}

OPTIMAL_ONLY = frozenset({Status.OPTIMAL})
STATIONARY_ONLY = frozenset({Status.STATIONARY})
EITHER = OPTIMAL_ONLY | STATIONARY_ONLY


@dataclass(frozen=True)
class Sample:
    """Gradients and what is known of the answer. Statuses that own up to a loss of accuracy are never listed."""

    gradients: Floats
    p: float
    radius: float | None = None
    direction: Floats | None = None  # only where it is unique
    statuses: frozenset[Status] = EITHER
    kind: str = ""

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.gradients.dtype


def draw(kind: str, seed: int, index: int) -> Sample:
    """The sample `index` of `kind`: the same whatever else is drawn."""
    rng = np.random.default_rng([seed, index, zlib.crc32(kind.encode())])
    return replace(SAMPLERS[kind](rng, NORMS[rng.integers(len(NORMS))]), kind=kind)


def norm(x: Floats, p: float) -> Floats:
    """l_p norms along the last axis."""
    return np.asarray(np.linalg.norm(x, p, axis=-1))


def dual_exponent(p: float) -> float:
    if p == 1:
        return math.inf
    return 1.0 if math.isinf(p) else p / (p - 1)


def dual_vector(x: Floats, p: float) -> Floats:
    """x#: of unit l_q norm, with <x, x#> = ||x||_p. Where several exist (p = 1, inf) the plainest."""
    if p == 1:
        return np.sign(x)
    if math.isinf(p):
        peak = np.argmax(np.abs(x), axis=-1)[..., None]
        return np.where(np.arange(x.shape[-1]) == peak, np.sign(x), 0.0)
    largest = np.max(np.abs(x), axis=-1, keepdims=True)
    powers: Floats = np.sign(x) * np.abs(x / largest) ** (p - 1)
    return powers / norm(powers, dual_exponent(p))[..., None]


# Plain random matrices.


def gaussian(rng: np.random.Generator, p: float) -> Sample:
    """Independent normal entries: for m above n/2 mostly r = 0, below it mostly not."""
    return _finish(rng, rng.standard_normal(_shape(rng)), p)


def leaning(rng: np.random.Generator, p: float) -> Sample:
    """Normal rows plus a common vector: all conflicts are mild, r > 0 in most draws."""
    m, n = _shape(rng)
    return _finish(rng, rng.standard_normal((m, n)) + rng.uniform(0, 2) * rng.standard_normal(n), p)


def heavy_tailed(rng: np.random.Generator, p: float) -> Sample:
    """Cauchy entries: a few coordinates carry whole rows."""
    return _finish(rng, rng.standard_cauchy(_shape(rng)), p)


def sparse(rng: np.random.Generator, p: float) -> Sample:
    """One entry in ten is not zero; every row has at least one."""
    m, n = _shape(rng)
    rows = rng.standard_normal((m, n)) * (rng.random((m, n)) < 0.1)
    rows[np.arange(m), rng.integers(n, size=m)] += 1.0
    return _finish(rng, rows, p)


def low_rank(rng: np.random.Generator, p: float) -> Sample:
    """Gradients in a subspace of at most three dimensions that leans to one side."""
    m, n = _shape(rng)
    rank = min(3, n)
    coordinates = np.column_stack([rng.uniform(0.01, 1, m), rng.standard_normal((m, rank - 1))])
    return _finish(rng, coordinates @ rng.standard_normal((rank, n)), p)


# Few rows, and rows that nearly agree.


def single(rng: np.random.Generator, p: float) -> Sample:
    """m = 1: r = 1 and d = u_1#, because <u_1, u_1#> = ||u_1|| = 1."""
    rows = rng.standard_normal((1, _columns(rng)))
    return _finish(rng, rows, p, 1.0, dual_vector(rows[0], p))


def pair(rng: np.random.Generator, p: float) -> Sample:
    """m = 2, p = 2: a = (1/2, 1/2), so r = sqrt((1 + c)/2) = |u_1 + u_2|/2 and d is the bisector."""
    rows = rng.standard_normal((2, _columns(rng, 2)))
    if p != 2:
        return _finish(rng, rows, p)
    units = rows / norm(rows, 2)[:, None]
    middle = units.sum(axis=0) / 2
    radius = float(norm(middle, 2))
    return _finish(rng, rows, p, radius, middle / radius)


def triple(rng: np.random.Generator, p: float) -> Sample:
    """m = 3, p = 2: the face formula where K^-1 1 >= 0, else the bisector of the widest pair: the least over faces."""
    rows = rng.standard_normal((3, _columns(rng, 3))) + rng.uniform(0, 2) * np.sign(rng.standard_normal())
    units = rows / norm(rows, 2)[:, None]
    cosines = units @ units.T
    if p != 2 or np.linalg.eigvalsh(cosines)[0] < 1e-8:  # nearly dependent: the formula loses its digits
        return _finish(rng, rows, p)
    return _finish(rng, rows, p, _radius_by_faces(cosines))


def nearly_parallel(rng: np.random.Generator, p: float) -> Sample:
    """u + e z_i, e from 1e-2 to 1e-16; z_i unit, orthogonal to u, sum z_i = 0. p = 2: r = (1 + e^2)^-1/2, d = u."""
    e = 10 ** rng.uniform(-16, -2)
    m = _rows(rng, 2)
    simplex = np.eye(m) - 1 / m
    simplex /= norm(simplex, 2)[:, None]
    n = m + _columns(rng)
    rows = np.zeros((m, n))
    rows[:, 0] = 1.0
    rows[:, 1 : m + 1] = e * simplex
    axis = np.eye(1, n)[0]
    if p != 2:  # the claim needs a rotation-invariant norm, and so does turning the rows away from the axis
        return _finish(rng, rows, p)
    turned = _reflected(rng, np.vstack([rows, axis]))
    return _finish(rng, turned[:-1], p, 1 / math.sqrt(1 + e * e), turned[-1])


def duplicates(rng: np.random.Generator, p: float) -> Sample:
    """Rows repeated one to four times: r and d stay those of the distinct rows; the Gram matrix is singular."""
    rows, radius, direction = _random_needle(rng, p, LARGEST_M // 4)
    return _finish(rng, np.repeat(rows, rng.integers(1, 5, len(rows)), axis=0), p, radius, direction)


def rank_one(rng: np.random.Generator, p: float) -> Sample:
    """Multiples of one vector x (n = 1 among them): r = 1, d = x# where all have one sign, r = 0 exactly otherwise."""
    x = rng.standard_normal(1 if rng.random() < 0.3 else _columns(rng))
    signs = rng.choice([-1.0, 1.0], _rows(rng))
    rows = signs[:, None] * x
    if np.all(signs == signs[0]):
        return _finish(rng, rows, p, 1.0, dual_vector(rows[0], p))
    return _finish(rng, rows, p, 0.0, statuses=STATIONARY_ONLY)


# Radius zero, and next to it.


def opposite_pair(rng: np.random.Generator, p: float) -> Sample:
    """g and -g among others: their midpoint is 0, so r = 0 exactly, in any precision."""
    rows = rng.standard_normal((_rows(rng, 2), _columns(rng)))
    rows[1] = -rows[0]
    return _finish(rng, rows, p, 0.0, statuses=STATIONARY_ONLY)


def near_opposite(rng: np.random.Generator, p: float) -> Sample:
    """(s, c) and (s, -c) of unit norm: by symmetry a = (1/2, 1/2), r = s, d = e_1; s from 1 down to 1e-15."""
    s = 10 ** rng.uniform(-15, 0)
    c = 1.0 if math.isinf(p) else (1 - s**p) ** (1 / p)
    rows = np.array([[s, c], [s, -c]])
    return _placed(rng, rows, p, s, np.array([1.0, 0.0]))


def zero_inside(rng: np.random.Generator, p: float) -> Sample:
    """G - 1 w^T G / sum(w) with w > 0: the weights w cancel the rows, so r = 0 up to the rounding of the data."""
    m, n = _rows(rng, 2), _columns(rng)
    w = rng.uniform(0.05, 1, m)
    rows = rng.standard_normal((m, n))
    return _finish(rng, rows - (w @ rows) / w.sum(), p, 0.0)


def zero_on_boundary(rng: np.random.Generator, p: float) -> Sample:
    """Some unit rows z_i orthogonal to d cancel, the others lie on d's side: r = 0 up to rounding of the data."""
    tangents, _, dual = _cancelling(rng, p)
    return _finish(rng, np.vstack([tangents, _lifted(rng, tangents, dual, p)]), p, 0.0)


def boundary_moved_up(rng: np.random.Generator, p: float) -> Sample:
    """The same moved by e d#, e = 1e-6 to 1e-14: margins e/||z_i + e d#||_p, which is e to e^2, so r = e to 1e-12."""
    e = 10 ** rng.uniform(-14, -6)
    tangents, _, dual = _cancelling(rng, p)
    return _finish(rng, np.vstack([tangents + e * dual, _lifted(rng, tangents, dual, p)]), p, e)


def boundary_moved_down(rng: np.random.Generator, p: float) -> Sample:
    """The same moved by -e d#, with d# itself a row: some combination of the rest is -e d#, so r = 0."""
    e = 10 ** rng.uniform(-14, -6)
    tangents, _, dual = _cancelling(rng, p)
    return _finish(rng, np.vstack([tangents - e * dual, dual]), p, 0.0)


def many_rows(rng: np.random.Generator, p: float) -> Sample:
    """48 to 64 normal rows in at most 6 dimensions: 0 is inside the hull, but for a chance below 1e-7 (Wendel)."""
    m, n = int(rng.integers(48, LARGEST_M + 1)), int(rng.integers(1, 7))
    return _finish(rng, rng.standard_normal((m, n)), p, 0.0, statuses=STATIONARY_ONLY)


# Planted answers.


def needle(rng: np.random.Generator, p: float) -> Sample:
    """r = 10^-k, k = 0..15, with binding rows, rows of margin r and weight 0, and rows of larger margin: `_needle`."""
    rows, radius, direction = _random_needle(rng, p, LARGEST_M)
    return _finish(rng, rows, p, radius, direction)


def needle_face(rng: np.random.Generator, p: float) -> Sample:
    """All rows bind and the radius is small: the optimum is inside a face, where first-order solvers zig-zag."""
    m = _rows(rng, 2)
    radius = 10.0 ** -rng.uniform(1, 6)
    rows, direction = _needle(rng, p, max(m, _columns(rng, 2)), radius, m, 0, 0)
    return _finish(rng, rows, p, radius, direction)


def equiangular(rng: np.random.Generator, p: float) -> Sample:
    """1 on the diagonal, b elsewhere: exchanging losses exchanges coordinates, so a = 1/m, and d = 1#.

    r = (1 + (m - 1) b) m^(1/p - 1) / ||u||_p. b is random, 0 (orthonormal rows), or e above -1/(m - 1), where r is 0.
    """
    m = _rows(rng, 2)
    edge = -1 / (m - 1)
    e = rng.choice([1.0, 1e-4, 1e-8, 1e-12])
    b = float(rng.choice([rng.uniform(edge, 1), 0.0, edge + e * rng.random(), edge]))
    rows = np.full((m, m), b)
    np.fill_diagonal(rows, 1.0)
    total = 1 + (m - 1) * b
    radius = max(total, 0.0) * m ** (1 / p - 1) / float(norm(rows[0], p))
    return _placed(rng, rows, p, radius, dual_vector(np.ones(m), p))


def hilbert(rng: np.random.Generator, p: float) -> Sample:
    """1, x, ..., x^(m-1) on [0, 1] at Gauss nodes, condition to 1e16. p = 2: only the first and the last row bind."""
    m = int(rng.integers(2, 16))
    nodes, weights = np.polynomial.legendre.leggauss(m + int(rng.integers(0, 50)))
    rows = np.sqrt(weights / 2) * ((nodes + 1) / 2) ** np.arange(m)[:, None]
    radius = math.sqrt((1 + math.sqrt(2 * m - 1) / m) / 2) if p == 2 else None
    return _finish(rng, rows, p, radius)


def fan(rng: np.random.Generator, p: float) -> Sample:
    """(cos f t, sin f t), t in [-1, 1]: the two outermost bind, r = 1/||(1, tan f)||_p and d = e_1."""
    f = math.pi / 2 - 10 ** rng.uniform(-8, 0.1)
    angles = f * np.linspace(-1, 1, _rows(rng, 2))
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    radius = 1 / float(norm(np.array([1, math.tan(f)]), p))
    return _placed(rng, rows, p, radius, np.array([1.0, 0.0]))


def lifted_polygon(rng: np.random.Generator, p: float) -> Sample:
    """(r, t_k cos, t_k sin) over a regular m-gon, t_k making the norm 1: all tie, weights 1/t_k cancel, d = e_1."""
    m = _rows(rng, 3)
    radius = 10.0 ** -rng.uniform(0.05, 12)
    angles = 2 * math.pi * np.arange(m) / m
    tangents = np.column_stack([np.zeros(m), np.cos(angles), np.sin(angles)])
    axis = np.array([1.0, 0.0, 0.0])
    return _placed(rng, _reach(axis, tangents, np.full(m, radius), p), p, radius, axis)


# Ties.


def integer_ties(rng: np.random.Generator, p: float) -> Sample:
    """Rows of four entries +-1: all norms equal. p = 2: r^2 is a ratio of small integers, found over all faces."""
    m, n = int(rng.integers(2, 9)), int(rng.integers(5, 9))
    rows = np.zeros((m, n))
    for row in rows:
        row[rng.choice(n, 4, replace=False)] = rng.choice([-1.0, 1.0], 4)
    if p != 2:
        return _finish(rng, rows, p)
    radius = _radius_by_faces(rows @ rows.T / 4)
    return _finish(rng, rows, p, radius, statuses=STATIONARY_ONLY if radius == 0 else None)


def one_hot(rng: np.random.Generator, p: float) -> Sample:
    """+-e_j: k distinct ones give r = k^(1/p - 1), a vector and its opposite among them give r = 0 exactly."""
    n = _columns(rng)
    columns = rng.integers(n, size=_rows(rng))
    signs = rng.choice([-1.0, 1.0], n)[columns]
    if rng.random() < 0.3:
        signs[0] = -signs[0]
    rows = np.zeros((len(columns), n))
    rows[np.arange(len(columns)), columns] = signs
    distinct = len(np.unique(columns))
    if len(np.unique(columns * signs + 0.5 * signs)) > distinct:
        return _finish(rng, rows, p, 0.0, statuses=STATIONARY_ONLY)
    return _finish(rng, rows, p, distinct ** (1 / p - 1))


def sign_ties(rng: np.random.Generator, p: float) -> Sample:
    """Rows of signs, half of the columns repeated: for p = 1 and inf every vertex is tied many times over."""
    m, n = _rows(rng), _columns(rng)
    rows = rng.choice([-1.0, 1.0], (m, n))
    rows[:, n // 2 :] = rows[:, : n - n // 2]
    return _finish(rng, rows, p)


def block_repeated(rng: np.random.Generator, p: float) -> Sample:
    """Columns repeated k times: every norm grows by k^(1/p), so r stays and d is repeated, divided by k^(1/q)."""
    rows, radius, direction = _random_needle(rng, p, LARGEST_M, 100)
    k = int(rng.integers(2, 30))
    return _finish(rng, np.tile(rows, k), p, radius, np.tile(direction, k) / k ** (1 / dual_exponent(p)))


# Inputs on which pivoting takes long.


def wolfe_exponential(rng: np.random.Generator, p: float) -> Sample:
    """The minimum-norm examples of De Loera, Haddock and Rademacher: poor insertion rules need 2^levels steps."""
    points: Floats = np.ones((1, 1))
    nearest: Floats = np.ones(1)
    for _ in range(int(rng.integers(1, 6))):
        points, nearest = _next_wolfe_level(points, nearest)
    return _finish(rng, points, p)


def klee_minty(rng: np.random.Generator, p: float) -> Sample:
    """Klee and Minty's cube, 2 b^(i-j) below a unit diagonal, b from 2 to 10, and a column that pulls the other way."""
    m = int(rng.integers(2, 11))
    b = rng.uniform(2, 10)
    rows = np.tril(2 * b ** np.subtract.outer(np.arange(m), np.arange(m)), -1) + np.eye(m)
    return _finish(rng, np.column_stack([rows, -rng.random(m) * rows.max(axis=1)]), p)


# Scales.


def scales(rng: np.random.Generator, p: float) -> Sample:
    """Needle rows times 10^-30 to 10^30 (float64: 10^-300 to 10^300): r and d do not change."""
    dtype = _precision(rng)
    decades = 30 if dtype == np.float32 else 300
    rows, radius, direction = _random_needle(rng, p, LARGEST_M, 100)
    factors = 10.0 ** rng.uniform(-decades, decades, len(rows))
    return _exactly(factors[:, None] * rows, dtype, p, radius, direction)


def one_loud_row(rng: np.random.Generator, p: float) -> Sample:
    """One row of 1e30, the others of 1: r and d do not change."""
    rows, radius, direction = _random_needle(rng, p, LARGEST_M)
    rows[rng.integers(len(rows))] *= 1e30
    return _exactly(rows, _precision(rng), p, radius, direction)


def subnormal(rng: np.random.Generator, p: float) -> Sample:
    """One row is wholly subnormal. It counts like any other, unless the library flushes it to zero and says so."""
    dtype = _precision(rng)
    m, n = _rows(rng, 2), _columns(rng, 2)
    rows = (rng.standard_normal((m, n)) + 2 * rng.standard_normal(n)).astype(dtype)
    rows[0] = np.clip(rows[0], -9, 9) * np.finfo(dtype).smallest_normal / 10
    return Sample(rows, p, statuses=EITHER | {Status.ZERO_ROW})


def accumulation(rng: np.random.Generator, p: float) -> Sample:
    """Two long rows of 999 and 1001: c exactly from the integer Gram matrix, r = sqrt((1 + c)/2) for p = 2."""
    n = int(10 ** rng.uniform(4, 5.3))
    rows = rng.integers(0, 2, (2, n)) * 2 + 999
    gram = [[int(np.dot(x, y)) for y in rows] for x in rows]
    radius = math.sqrt((1 + gram[0][1] / math.sqrt(gram[0][0] * gram[1][1])) / 2) if p == 2 else None
    return _exactly(rows.astype(np.float64), _precision(rng), p, radius)


# Bad input.


def zero_row(rng: np.random.Generator, p: float) -> Sample:
    """Some rows are zero: they are dropped, and r and d are those of the others."""
    rows, radius, direction = _random_needle(rng, p, LARGEST_M // 2)
    zeros = np.zeros((int(rng.integers(1, 4)), rows.shape[1]))
    return _with_zero_row(_finish(rng, np.vstack([rows, zeros]), p, radius, direction))


def all_zero(rng: np.random.Generator, p: float) -> Sample:
    """Nothing but zero rows: none is left, so there is no direction."""
    return Sample(np.zeros(_shape(rng), _precision(rng)), p, statuses=frozenset({Status.ZERO_ROW}))


def nonfinite_row(rng: np.random.Generator, p: float) -> Sample:
    """NaN or an infinity somewhere: no direction is computed."""
    rows = rng.standard_normal(_shape(rng)).astype(_precision(rng))
    for _ in range(int(rng.integers(1, 4))):
        rows[rng.integers(rows.shape[0]), rng.integers(rows.shape[1])] = rng.choice([np.nan, np.inf, -np.inf])
    return Sample(rows, p, statuses=frozenset({Status.NONFINITE}))


def empty(rng: np.random.Generator, p: float) -> Sample:
    """m = 0: nothing to combine."""
    return Sample(np.zeros((0, _columns(rng)), _precision(rng)), p, statuses=frozenset({Status.EMPTY}))


def composed(rng: np.random.Generator, p: float) -> Sample:
    """A needle with rows and columns repeated, any scales, a shuffle and at times a zero row: r does not change."""
    rows, radius, _ = _random_needle(rng, p, LARGEST_M // 2, 300)
    if rng.random() < 0.5:
        rows = np.repeat(rows, rng.integers(1, 3, len(rows)), axis=0)
    if rng.random() < 0.5:
        rows = np.tile(rows, int(rng.integers(1, 6)))
    rows *= 10.0 ** rng.uniform(-15, 15, (len(rows), 1))
    if rng.random() < 0.7:
        return _exactly(rng.permutation(rows), _precision(rng), p, radius)
    rows = rng.permutation(np.vstack([rows, np.zeros(rows.shape[1])]))
    return _with_zero_row(_exactly(rows, _precision(rng), p, radius))


SAMPLERS: dict[str, Sampler] = {
    sampler.__name__: sampler
    for sampler in (
        gaussian, leaning, heavy_tailed, sparse, low_rank,
        single, pair, triple, nearly_parallel, duplicates, rank_one,
        opposite_pair, near_opposite, zero_inside, zero_on_boundary, boundary_moved_up, boundary_moved_down, many_rows,
        needle, needle_face, equiangular, hilbert, fan, lifted_polygon,
        integer_ties, one_hot, sign_ties, block_repeated,
        wolfe_exponential, klee_minty,
        scales, one_loud_row, subnormal, accumulation,
        zero_row, all_zero, nonfinite_row, empty, composed,
    )
}  # fmt: skip


# Sizes and precision.


def _rows(rng: np.random.Generator, least: int = 1, most: int = LARGEST_M) -> int:
    return _log_uniform(rng, least, most)


def _columns(rng: np.random.Generator, least: int = 1, most: int = LARGEST_N) -> int:
    return _log_uniform(rng, least, most)


def _shape(rng: np.random.Generator, least_m: int = 1, least_n: int = 1) -> tuple[int, int]:
    """Log-uniform, with few of the shapes that are both tall and long: they cost most and break least."""
    m, n = _rows(rng, least_m), _columns(rng, least_n)
    return m, n // 10 if m > 16 and n > 2000 and rng.random() < 0.8 else n


def _log_uniform(rng: np.random.Generator, least: int, most: int) -> int:
    return int(math.exp(rng.uniform(math.log(least), math.log(most + 1))))


def _precision(rng: np.random.Generator) -> np.dtype[Any]:
    return np.dtype(np.float64 if rng.random() < 0.5 else np.float32)


# From rows to samples.


def _finish(
    rng: np.random.Generator,
    rows: Floats,
    p: float,
    radius: float | None = None,
    direction: Floats | None = None,
    statuses: frozenset[Status] | None = None,
) -> Sample:
    """Rows in random order, at lengths that differ by powers of two (which round nothing), in either precision."""
    lengths = 2.0 ** rng.integers(-10, 11, len(rows))
    sample = _exactly(rng.permutation(lengths[:, None] * rows), _precision(rng), p, radius, direction)
    return sample if statuses is None else replace(sample, statuses=statuses)


def _exactly(
    rows: Floats, dtype: np.dtype[Any], p: float, radius: float | None = None, direction: Floats | None = None
) -> Sample:
    is_unique = 1 < p < math.inf
    return Sample(rows.astype(dtype), p, radius, direction if is_unique else None, _statuses(radius, dtype))


def _statuses(radius: float | None, dtype: np.dtype[Any]) -> frozenset[Status]:
    return OPTIMAL_ONLY if radius is not None and radius > CLEARLY_POSITIVE[dtype] else EITHER


def _with_zero_row(sample: Sample) -> Sample:
    statuses = {Status.ZERO_ROW if status is Status.OPTIMAL else status for status in sample.statuses}
    return replace(sample, statuses=frozenset(statuses))


def _placed(rng: np.random.Generator, rows: Floats, p: float, radius: float, direction: Floats) -> Sample:
    """Rows of few columns among zero columns, in random places, with random signs; for p = 2 mirrored as well."""
    both = np.vstack([rows, direction])
    m, k = both.shape
    wide = np.zeros((m, max(k, _columns(rng))))
    wide[:, rng.choice(wide.shape[1], k, replace=False)] = both * rng.choice([-1.0, 1.0], k)
    if p == 2 and rng.random() < 0.5:
        wide = _reflected(rng, wide)
    return _finish(rng, wide[:-1], p, radius, wide[-1])


def _reflected(rng: np.random.Generator, rows: Floats) -> Floats:
    """The rows in the mirror of a random hyperplane."""
    normal: Floats = np.asarray(rng.standard_normal(rows.shape[1]))
    normal /= norm(normal, 2)
    return rows - 2 * np.outer(rows @ normal, normal)


# Planting.


def _random_needle(
    rng: np.random.Generator, p: float, largest_m: int, largest_n: int = LARGEST_N
) -> tuple[Floats, float, Floats]:
    """Rows, radius and direction of a needle of random size; most of its rows bind, up to largest_m in all."""
    binding = _rows(rng, 2, max(2, largest_m // 2))
    weak, inactive = rng.integers(0, max(2, largest_m // 4), 2)
    n = _columns(rng, 2, largest_n if binding + weak + inactive <= 16 else min(largest_n, 2000))
    radius = 10.0 ** -int(rng.integers(0, 16))
    rows, direction = _needle(rng, p, n, radius, binding, int(weak), int(inactive))
    return rows, radius, direction


def _needle(
    rng: np.random.Generator, p: float, n: int, radius: float, binding: int, weak: int, inactive: int
) -> tuple[Floats, Floats]:
    """u_i = r d# + t_i z_i with <z_i, d> = 0 and sum b_i z_i = 0 over the binding rows.

    So u_i . d = r for them, and the weights b_i / t_i, normalised, give the combination r d#, whose norm is r.
    Weakly active rows have margin r too but weight 0, inactive ones a larger margin.
    """
    direction, dual = _dual_pair(rng, n, p)
    tangents = _cancel(rng, _tangential(rng.standard_normal((binding + weak + inactive, n)), direction, dual), binding)
    margins = np.full(len(tangents), radius)
    margins[binding + weak :] += max(0.9 - radius, 0) * rng.random(inactive)
    return _reach(dual, tangents, margins, p), direction


def _cancelling(rng: np.random.Generator, p: float) -> tuple[Floats, Floats, Floats]:
    """Rows of unit norm orthogonal to d of which a positive combination is 0, with d and d#."""
    m, n = _shape(rng, 2, 2)
    direction, dual = _dual_pair(rng, n, p)
    tangents = _cancel(rng, _tangential(rng.standard_normal((m, n)), direction, dual), m)
    return tangents / norm(tangents, p)[:, None], direction, dual


def _lifted(rng: np.random.Generator, tangents: Floats, dual: Floats, p: float) -> Floats:
    """Up to eight rows of margin 0.09 or more whose tangential parts lie among `tangents`."""
    mixtures = rng.standard_normal((int(rng.integers(0, 9)), len(tangents))) @ tangents
    mixtures /= norm(mixtures, p)[:, None]
    return mixtures + np.outer(rng.uniform(0.1, 1, len(mixtures)), dual)


def _dual_pair(rng: np.random.Generator, n: int, p: float) -> tuple[Floats, Floats]:
    """d of unit l_q norm and d# of unit l_p norm with <d, d#> = 1; for p = 1 and inf d is at a corner or on a face."""
    if p == 1 or math.isinf(p):
        corner = rng.choice([-1.0, 1.0], n)
        loose = (rng.random(n) < 0.3) & (np.arange(n) != rng.integers(n))
        sparse = np.where(loose, 0.0, corner * rng.uniform(0.1, 1, n))
        sparse /= norm(sparse, 1)
        corner[loose] *= rng.random(np.count_nonzero(loose))
        return (corner, sparse) if p == 1 else (sparse, corner)
    q = dual_exponent(p)
    direction = rng.standard_normal(n)
    direction /= norm(direction, q)
    return direction, dual_vector(direction, q)


def _tangential(rows: Floats, direction: Floats, dual: Floats) -> Floats:
    for _ in range(2):  # the second pass removes the rounding of the first
        rows = rows - np.outer(rows @ direction, dual)
    return rows


def _cancel(rng: np.random.Generator, rows: Floats, count: int) -> Floats:
    """Replaces row `count - 1` so that a positive combination of the first `count` rows is 0."""
    weights = rng.uniform(0.2, 1, count - 1)
    rows[count - 1] = -weights @ rows[: count - 1] / rng.uniform(0.2, 1)
    return rows


def _reach(dual: Floats, tangents: Floats, margins: Floats, p: float) -> Floats:
    """margin_i d# + t_i z_i with t_i >= 0 such that the l_p norm is 1.

    The norm is convex in t and at least 1 at the first t, so Newton's steps come down to the root from above.
    """
    base = np.outer(margins, dual)
    t = (1 + margins) / norm(tangents, p)
    if p == 2:  # z_i is orthogonal to d# itself
        return base + (np.sqrt(1 - margins**2) / norm(tangents, 2))[:, None] * tangents
    for _ in range(60):
        rows = base + t[:, None] * tangents
        excess = norm(rows, p) - 1
        slopes = np.sum(dual_vector(rows, p) * tangents, axis=1)
        t = np.where((excess > 1e-15) & (slopes > 0) & (margins < 1), t - excess / np.where(slopes > 0, slopes, 1), t)
        if np.all((excess <= 1e-15) | (margins >= 1)):
            break
    return base + np.where(margins < 1, t, 0.0)[:, None] * tangents


# Exact answers of small problems.


def _radius_by_faces(cosines: Floats) -> float:
    """The least over all faces of the distance from 0 to the face's plane, where its foot lies in the face.

    z = (K + 1 1^T)^-1 1 has the direction of the weights of the foot, and 1^T z = 1/(1 + r^2). Squares below 1e-9 are 0
    exactly: in the families that ask, the others cannot be so small.
    """
    least = 1.0
    for size in range(2, len(cosines) + 1):
        for face in combinations(range(len(cosines)), size):
            matrix = cosines[np.ix_(face, face)] + 1
            if np.linalg.det(matrix) < 1e-12:  # a dependent face: smaller ones have the same foot
                continue
            z = np.linalg.solve(matrix, np.ones(size))
            if np.all(z > -1e-12):
                least = min(least, 1 / z.sum() - 1)
    return math.sqrt(least) if least > 1e-9 else 0.0


def _next_wolfe_level(points: Floats, nearest: Floats) -> tuple[Floats, Floats]:
    """Two more dimensions and four more points; and the new nearest point of the hull to 0."""
    height, reach = np.max(np.abs(nearest)) / 4, np.max(norm(points, 1))
    half, none = nearest / 2, np.zeros_like(nearest)
    added = [
        np.append(half, [height, reach]),
        np.append(half, [height, -(reach + 1)]),
        np.append(none, [height, reach + 2]),
        np.append(none, [height, -(reach + 3)]),
    ]
    share = height**2 / (nearest @ nearest + height**2)
    return np.vstack([np.pad(points, ((0, 0), (0, 2))), *added]), np.append(
        share * nearest, [(1 - share) * height, 0.0]
    )
