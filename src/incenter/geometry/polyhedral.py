r"""The Chebyshev centre for p = 1 and p = inf, where the norms are polyhedral and the problem is a linear program.

With unit rows u_i = g_i / ||g_i||_p and 1/p + 1/q = 1,

    r* = max { min_i u_i.v : ||v||_q <= 1 } = min { ||w||_p : w = sum_i alpha_i u_i, alpha in the simplex }.      (1)

The master program sees v through cuts c_k = U v_k, for points v_k of the dual ball, and, for p = 1, through the columns
of a free set F, where the v_k are 0:

    maximise r  over  mu in the simplex, |x_j| <= 1:   sum_k mu_k c_k + sum_{j in F} x_j u_j >= r.                (2)

Its value bounds r* from below; its multipliers are weights alpha, whose ||w||_p bounds r* from above. For p = 1 the
difference is sum_j |w_j| - v_j w_j: the columns that hold most of it become free, and sgn(w) off F is a new cut. For
p = inf the cuts are e_j and -e_j for the columns seen, and the columns of largest |w_j| are seen next. So a model of m
rows tightens until the bounds meet, and a million columns need about ten programs of some hundred. Up to a few hundred
columns, all are free or seen at once, and (2) is (1) itself.

v is not unique: of all optimal v the one of least Euclidean norm is returned (see `least_norm`), which depends neither
on the order of the rows nor on the solver's path. r* = 0 gives v = 0. Weights may be any optimal ones.
Related: Portnoy and Koenker, The Gaussian hare and the Laplacian tortoise, Statistical Science 12 (1997), section 5,
who fix the signs of far residuals. Here the bounds say which to free.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.optimize import linprog

from incenter.geometry.arrays import Array, Matrix, Vector, Weights
from incenter.geometry.least_norm import least_norm
from incenter.geometry.long_rows import BLOCK, inner_products, weighted_sum
from incenter.geometry.rows import read_rows
from incenter.geometry.smooth import solve_smooth

# Columns at the start, and new ones per round. The time of a mix of problems, m = 4 ... 64 and n = 3e3 ... 1e6, moves
# by a fifth between half and 1.6 times as many at the start.
FIRST_COLUMNS, FIRST_COLUMNS_PER_ROW = 300, 10
MORE_COLUMNS, MORE_COLUMNS_PER_ROW = 100, 4
ROUNDS = 300  # 45 is the most that was seen; every round frees a column at least
BOUNDS_MEET = 1e-13  # the gap at which rounds end; vertices of (2) come out with 1e-15, the rows being of length 1
ACCEPTED_GAP = 1e-9  # up to this gap, recomputed in n dimensions, an answer counts as solved
FEASIBILITY = 1e-10  # the tightest that HiGHS accepts; its default, 1e-7, would be the gap
# The simplex method, and where it ends without a status (one in a thousand, at r* = 0) the interior-point one.
METHODS: tuple[Literal["highs", "highs-ipm"], ...] = ("highs", "highs-ipm")
LIFT = 2.0**10  # HiGHS drops coefficients below 1e-9; of lifted ones it drops what is below 1e-12
NEGLIGIBLE = 2.0**-1000  # in rows of size 1: no sum feels it, and LIFT over it would soon overflow
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of u_i.v, a sum of numbers whose sizes sum to 1 at most
# |w_j| nearer than this to its tie, relative to the column, does not decide v_j. Weights are mostly good to 1e-15;
# where the basis is ill-conditioned they are not, and the first value leaves no v. Larger ones make the problem
# larger, and see false ties where r* itself is tiny.
TIED = (1e-14, 1e-11)
TIGHT = 1e-12  # u_i.v this near to the radius binds: of the vertices of (2) the worst have 1e-13
# The most that breaking ties may cost of r*, and that as a share of it; otherwise the vertex of (2) is returned.
LOST_TO_TIES, LOST_SHARE = 1e-12, 1e-6


class PolyhedralAnswer(NamedTuple):
    """Weights alpha on the simplex, v with ||v||_q = 1 (0 where r* = 0), and whether their gap is accepted."""

    weights: Weights
    direction: Vector
    solved: bool


class UnitRows(NamedTuple):
    """u_i = g_i / ||g_i||_p without a copy of G: every product goes through the coefficients 1 / ||g_i||_p."""

    gradients: Matrix
    inverse_norms: Weights

    @property
    def shape(self) -> tuple[int, int]:
        m, n = self.gradients.shape
        return m, n

    def combine(self, alpha: Weights) -> Vector:
        w: Vector = weighted_sum(alpha * self.inverse_norms, self.gradients)
        return w

    def against(self, v: Vector) -> Weights:
        products: Weights = self.inverse_norms * inner_products(self.gradients, v)
        return products

    def columns(self, index: Array) -> Matrix:
        return self.gradients[:, index].astype(np.float64) * self.inverse_norms[:, None]

    def column_sizes(self) -> Vector:
        """max_i |u_ij| for every column."""
        sizes = np.zeros(self.shape[1])
        for row, inverse in zip(self.gradients, self.inverse_norms, strict=True):
            np.maximum(sizes, np.abs(row) * inverse, out=sizes)
        return sizes


class Master(NamedTuple):
    """The answer of (2)."""

    alpha: Weights
    mu: Weights
    x: Vector
    radius: float
    solved: bool


class Bounds(NamedTuple):
    """Weights with the least upper bound seen, and the v of the last master, with its lower bound."""

    alpha: Weights
    upper: float
    v: Vector


def solve_polyhedral(G: Matrix, p: float) -> PolyhedralAnswer:
    """Solve (1) for p = 1 or p = inf; the rows of G are finite, not zero, and their l_p norms are safe floats."""
    rows = UnitRows(G, 1.0 / _norms(G, p))
    bounds = _bounds_p1(rows) if p == 1 else _bounds_inf(rows)
    lower = float(np.min(rows.against(bounds.v)))
    if lower <= ROUNDING < bounds.upper:
        bounds, lower = _supported(rows, p, bounds, lower)
    if lower <= 0:
        return PolyhedralAnswer(bounds.alpha, np.zeros(rows.shape[1]), bounds.upper <= ACCEPTED_GAP)
    direction, lower = _least_norm_direction(rows, p, bounds, lower)
    return PolyhedralAnswer(bounds.alpha, direction, bounds.upper - lower <= ACCEPTED_GAP)


def _supported(rows: UnitRows, p: float, bounds: Bounds, lower: float) -> tuple[Bounds, float]:
    """The bounds and the lower one, helped by the centre for p = 2 where r* is below what linear programs resolve.

    Whether 0 is in the hull does not depend on p, nor does which directions decrease every loss.
    """
    euclidean = read_rows(rows.gradients)
    found = solve_smooth(euclidean, 2.0)
    alpha = found.weights * euclidean.inverse_lengths / rows.inverse_norms
    alpha = alpha / np.sum(alpha)
    upper = float(np.linalg.norm(rows.combine(alpha), p))
    if upper < bounds.upper:
        bounds = bounds._replace(alpha=alpha, upper=upper)
    v = found.direction / np.linalg.norm(found.direction, np.inf if p == 1 else 1)
    deeper = float(np.min(rows.against(v)))
    return (bounds._replace(v=v), deeper) if deeper > lower else (bounds, lower)


def _norms(G: Matrix, p: float) -> Weights:
    if p != 1:
        largest: Weights = np.maximum(G.max(axis=1), -G.min(axis=1)).astype(np.float64)
        return largest
    total = np.zeros(len(G))
    for start in range(0, G.shape[1], BLOCK):
        total += np.abs(G[:, start : start + BLOCK]).sum(axis=1, dtype=np.float64)
    return total


def _bounds_p1(rows: UnitRows) -> Bounds:
    """Rounds of (2) for p = 1, where v_k = sgn(w) off the free columns."""
    m, n = rows.shape
    best = np.full(m, 1.0 / m)
    w = rows.combine(best)
    upper = float(np.sum(np.abs(w)))
    free = _first_columns(np.abs(w), rows.column_sizes(), FIRST_COLUMNS + FIRST_COLUMNS_PER_ROW * m)
    signs: list[Array] = []  # of the cuts, one byte per entry
    cuts = np.empty((m, 0))
    v = np.zeros(n)
    for _ in range(ROUNDS):
        if not free.all():
            signs.append(np.sign(w).astype(np.int8))
            cuts = np.column_stack([cuts, rows.against(np.where(free, 0.0, signs[-1]))])
        master = solve_master(cuts, rows.columns(free))
        if not master.solved:
            break
        v = _recombine(master, signs, free)
        w = rows.combine(master.alpha)
        if np.sum(np.abs(w)) < upper:
            best, upper = master.alpha, float(np.sum(np.abs(w)))
        shares = np.where(free, 0.0, np.abs(w) - v * w)
        if min(upper - master.radius, np.sum(shares)) <= BOUNDS_MEET:
            break
        new = _largest(shares, MORE_COLUMNS + MORE_COLUMNS_PER_ROW * m, above=BOUNDS_MEET / n)
        used = np.flatnonzero(master.mu)
        signs = [signs[k] for k in used]
        U_new = rows.columns(new)
        cuts = np.column_stack([cuts[:, k] - U_new @ s[new] for k, s in zip(used, signs, strict=True)])
        free[new] = True
    return Bounds(best, upper, v)


def _bounds_inf(rows: UnitRows) -> Bounds:
    """Rounds of (2) for p = inf, where the cuts are e_j and -e_j for the columns seen."""
    m, n = rows.shape
    best = np.full(m, 1.0 / m)
    sizes = np.abs(rows.combine(best))
    upper = float(np.max(sizes))
    seen = np.zeros(n, dtype=bool)
    seen[_largest(sizes, FIRST_COLUMNS + FIRST_COLUMNS_PER_ROW * m)] = True
    v = np.zeros(n)
    for _ in range(ROUNDS):
        U_seen = rows.columns(seen)
        master = solve_master(np.hstack([U_seen, -U_seen]), np.empty((m, 0)))
        if not master.solved:
            break
        v = np.zeros(n)
        v[seen] = master.mu[: U_seen.shape[1]] - master.mu[U_seen.shape[1] :]
        sizes = np.abs(rows.combine(master.alpha))
        if np.max(sizes) < upper:
            best, upper = master.alpha, float(np.max(sizes))
        excess = np.where(seen, 0.0, sizes - master.radius)
        if min(upper - master.radius, np.max(excess)) <= BOUNDS_MEET:
            break
        seen[_largest(excess, MORE_COLUMNS + MORE_COLUMNS_PER_ROW * m, above=0.0)] = True
    return Bounds(best, upper, v)


def solve_master(cuts: Matrix, U_free: Matrix) -> Master:
    """Solve (2) by HiGHS; free columns are scaled by powers of two to size about 1, which rounds nothing."""
    m, k = cuts.shape
    f = U_free.shape[1]
    scale = _power_of_two_above(np.max(np.abs(U_free), axis=0, initial=0.0))
    whole = float(max(np.max(scale, initial=0.0), _power_of_two_above(np.max(np.abs(cuts), initial=0.0))))
    objective = np.append(np.zeros(k + f), -1.0)
    largest = np.concatenate([np.full(k, np.inf), scale / whole, [np.inf]])
    smallest = np.concatenate([np.zeros(k), -scale / whole, [-np.inf]])
    limits: Any = np.column_stack([smallest, largest])
    A_ub = np.hstack([cuts * (-LIFT / whole), U_free * (-LIFT / scale), np.ones((m, 1))])
    for method in METHODS:
        found = linprog(
            objective,
            A_ub=A_ub,
            b_ub=np.zeros(m),
            A_eq=np.repeat([[1.0, 0.0]], [k, f + 1], axis=1) if k else None,
            b_eq=np.ones(1) if k else None,
            bounds=limits,
            method=method,
            options={"primal_feasibility_tolerance": FEASIBILITY, "dual_feasibility_tolerance": FEASIBILITY},
        )
        if found.status == 0 and found.x is not None:
            return _read_master(found, k, f, whole / scale, whole / LIFT)
    return Master(np.full(m, 1.0 / m), np.zeros(k), np.zeros(f), 0.0, False)


def _read_master(found: Any, k: int, f: int, scale: Vector, lifted: float) -> Master:
    alpha = np.maximum(-found.ineqlin.marginals, 0.0)
    mu = np.maximum(found.x[:k], 0.0)
    x = np.clip(found.x[k : k + f] * scale, -1.0, 1.0)
    return Master(alpha / np.sum(alpha), mu / max(np.sum(mu), 1.0), x, float(found.x[-1]) * lifted, True)


def _least_norm_direction(rows: UnitRows, p: float, bounds: Bounds, lower: float) -> tuple[Vector, float]:
    """Among the optimal v the one of least Euclidean norm, and its least u_i.v; the v of `bounds` where that fails.

    Every optimal v is complementary to any optimal alpha. For p = 1: v_j = sgn(w_j) wherever w_j is not 0. For
    p = inf: v_j is 0 but where |w_j| is largest, and has the sign of w_j there.
    """
    w = rows.combine(bounds.alpha)
    enough = lower - max(min(LOST_TO_TIES, LOST_SHARE * lower), ROUNDING)
    choose = _least_norm_p1 if p == 1 else _least_norm_inf
    for tie in TIED:
        v = choose(rows, w, bounds.v, tie)
        if v is not None and (attained := float(np.min(rows.against(v)))) >= enough:
            return v, attained
    return bounds.v, lower


def _least_norm_p1(rows: UnitRows, w: Vector, v: Vector, tie: float) -> Vector | None:
    tied = np.abs(w) <= tie * rows.column_sizes()
    v = np.where(tied, v, np.sign(w))
    x = least_norm(rows.columns(tied), v[tied], _slack(rows.against(v)), lower=-1.0, upper=1.0)
    if x is None:
        return None
    v[tied] = x
    length = np.max(np.abs(v))
    return v / length if length > 0 else None


def _least_norm_inf(rows: UnitRows, w: Vector, v: Vector, tie: float) -> Vector | None:
    support = np.flatnonzero(np.abs(w) >= np.max(np.abs(w)) - tie)
    sigma = np.sign(w[support])
    C = rows.columns(support) * sigma
    z = np.maximum(sigma * v[support], 0.0)
    if not z.any():
        return None
    z = z / np.sum(z)
    slack = np.append(_slack(C @ z), 0.0)
    x = least_norm(np.vstack([C, -np.ones(support.size)]), z, slack, lower=0.0, upper=np.inf)
    if x is None or not x.any():
        return None
    v = np.zeros(rows.shape[1])
    v[support] = sigma * (x / np.sum(x))
    return v


def _slack(products: Weights) -> Weights:
    """How far each u_i.v is above the least, and 0 for those that bind."""
    slack: Weights = products - np.min(products)
    return np.where(slack <= TIGHT, 0.0, slack)


def _first_columns(size: Vector, column_sizes: Vector, count: int) -> Array:
    """The columns whose w_j is smallest against their entries: the likeliest to change sign before the optimum."""
    free = np.zeros(size.size, dtype=bool)
    free[_largest(-size / np.where(column_sizes > 0, column_sizes, 1.0), count)] = True
    return free


def _largest(values: Vector, count: int, above: float = -np.inf) -> Array:
    """Indices of the `count` largest of the values above a bound (a selection among many equal ones would be slow)."""
    index = np.flatnonzero(values > above)
    if count >= index.size:
        return index
    return index[np.argpartition(-values[index], count)[:count]]


def _recombine(master: Master, signs: list[Array], free: Array) -> Vector:
    v = np.zeros(free.size)
    for mu, s in zip(master.mu, signs, strict=True):
        if mu > 0:
            v += mu * s
    v[free] = master.x
    return v


def _power_of_two_above(values: Vector) -> Vector:
    """Scaling by it rounds nothing; 1 for what is negligible."""
    powers: Vector = np.ldexp(1.0, np.frexp(np.where(values > NEGLIGIBLE, values, 0.5))[1])
    return powers
