r"""Two-sided bounds on r* from anybody's answer, recomputed in n dimensions.

With u_i = g_i / |g_i|_p and 1/p + 1/q = 1, for every alpha on the simplex and every v with |v|_q <= 1

    min_i u_i . v   <=   r*   <=   || sum_i alpha_i u_i ||_p.                                         (1)

`certify` makes any weights a point of the simplex (negative ones cut, the rest divided by their sum) and any direction
a unit one, so its bounds hold whatever it is given; v = 0 gives the lower bound 0, and the upper one never exceeds 1.
Both are widened by a bound on the rounding of this very computation, which is accumulated in the widest float there
is. Nothing here is shared with the solvers. Zero rows are left out; a non-finite row leaves only 0 <= r* <= 1.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from incenter.geometry.arrays import (
    Array,
    Matrix,
    Namespace,
    Scalar,
    Vector,
    Weights,
    epsilon,
    is_jax,
    is_torch,
    is_traced,
    namespace,
    select,
    wide,
    wide_dtype,
)
from incenter.geometry.errors import IncenterError, read_gradients, read_p

BLOCK = 65_536  # columns widened at a time: the copy stays in the cache, and so does the rounding of a sum
POWER_ULPS = 8.0  # roundings of a power, a root or a quotient; the libraries' own powers are within 4
# Squares of norms between these were computed without harmful over- or underflow; otherwise rows are scaled first.
SAFE_SQUARES = {"float64": (2.0**-960, 2.0**960), "float32": (2.0**-100, 2.0**100)}
FAN = 8  # terms added at a time where sums are by parts
LIFT = 2.0**64  # takes every number there is above the lower bound

Scale: TypeAlias = tuple[Weights, Weights]  # two factors per row, because one may be out of range


class Certificate(NamedTuple):
    """lower <= r* <= upper, with what it rests on."""

    lower: Scalar  # what `direction` proves
    upper: Scalar  # what `weights` prove
    gap: Scalar  # upper - lower
    rounding: Scalar  # what cannot be told apart from 0: this computation's rounding and one of the dtype of G
    cosines: Weights  # u_i . v, as computed; 0 for a row left out


class Bounds(NamedTuple):
    """The two sides of (1) as computed, before rounding is allowed for."""

    least: Scalar
    norm: Scalar
    cosines: Weights
    lower: Scalar
    upper: Scalar
    rounding: Scalar


@np.errstate(over="ignore", invalid="ignore")  # what overflows is found, scaled and done again
def certify(G: Matrix, weights: Weights, direction: Vector, p: float = 2.0) -> Certificate:
    """Bounds on r* that `weights` (of the l_p-normalised gradients) and `direction` prove.

    >>> import numpy as np, incenter
    >>> bounds = incenter.certify(np.eye(2), np.array([0.5, 0.5]), np.array([1.0, 0.0]))
    >>> round(bounds.lower, 6), round(bounds.upper, 6)
    (0.0, 0.707107)
    """
    G, p = read_gradients(G), read_p(p)
    weights = _read_vector("weights", weights, G, G.shape[0])
    direction = _read_vector("direction", direction, G, G.shape[1])
    bounds = bound(G, weights, direction, p)
    lower, upper, rounding = (known(value) for value in (bounds.lower, bounds.upper, bounds.rounding))
    return Certificate(lower, upper, upper - lower, rounding, bounds.cosines)


def bound(G: Matrix, weights: Weights, direction: Vector, p: float) -> Bounds:
    """`certify` on arrays that were checked already."""
    xp = namespace(G)
    if G.shape[0] == 0:
        return Bounds(0.0, 0.0, xp.zeros(0, dtype=wide_dtype(xp)), 0.0, 1.0, 0.0)
    if p == 2 and xp is np and G.dtype == np.float64:
        plain = _plain_sums(G, weights, direction)
        if plain is not None:
            return _widened(xp, G, p, plain, (True, True))
    q = 1.0 if p == math.inf else math.inf if p == 1 else p / (p - 1)
    direction = wide(xp, direction)
    scale, norms, live, finite = _norms(xp, G, p)
    coefficients, total = _simplex(xp, wide(xp, weights), norms, live)
    length = _norm(xp, direction, q)
    norm, products = _sums(xp, G, scale, coefficients, direction, p)
    divisor = xp.where(live, norms, 1.0) * xp.where(length > 0, length, 1.0)
    cosines = xp.where(live, products / divisor, 0.0)
    least = xp.min(xp.where(live, cosines, xp.inf))
    least = xp.where(xp.isfinite(least), least, 0.0)
    usable = xp.all(finite) & xp.any(live)
    sums = Sums(known(least), known(norm), cosines)
    return _widened(xp, G, p, sums, (usable & (length > 0), usable & (total > 0)))


class Sums(NamedTuple):
    """The two sides of (1) without their rounding."""

    least: Scalar
    norm: Scalar
    cosines: Weights


def _plain_sums(G: Matrix, weights: Weights, direction: Vector) -> Sums | None:
    """Both sides for p = 2 where nothing is out of range: few NumPy calls, which is what a call costs at m = 3."""
    low, high = SAFE_SQUARES["float64"]
    squares = np.vecdot(G, G).tolist()
    positive = [max(weight, 0.0) for weight in weights.tolist()]
    total, length = sum(positive), float(direction.dot(direction))
    if not (low < min(squares) and max(squares) < high and low < length < high and low < total < high):
        return None
    length = math.sqrt(length)
    norms = [math.sqrt(square) for square in squares]
    w = np.array([weight / (total * norm) for weight, norm in zip(positive, norms, strict=True)]).dot(G)
    products = G.dot(direction).tolist()
    cosines = [product / (norm * length) for product, norm in zip(products, norms, strict=True)]
    return Sums(min(cosines), math.sqrt(w.dot(w)), np.array(cosines))


def _widened(xp: Namespace, G: Matrix, p: float, sums: Sums, usable: tuple[Any, Any]) -> Bounds:
    """Both sides moved outward by what rounding may have done to them."""
    m, n = G.shape
    least, norm, cosines = sums
    unit = 0.5 * epsilon(cosines)
    of_sum = (_additions(xp, n) + 2) * unit  # of a sum of n products, relative to the sum of their magnitudes (<= 1)
    of_power = POWER_ULPS * unit * (1.0 if p in (1, 2, math.inf) else max(p, p / (p - 1)))
    low = of_sum + (2 * of_sum + 3 * of_power) * abs(least)
    high = (m + 3) * unit * (1 + 2 * of_sum) + (of_sum + 2 * of_power) * norm
    rounding = low + high + epsilon(G)
    lower = select(usable[0], _within_unit(xp, least - low), 0.0)
    upper = select(usable[1], _within_unit(xp, norm + high), 1.0)
    return Bounds(least, norm, cosines, lower, upper, rounding)


def _within_unit(xp: Namespace, value: Scalar) -> Scalar:
    return xp.clip(value, 0.0, 1.0) if is_traced(value) else min(max(float(value), 0.0), 1.0)


def known(value: Scalar) -> Any:
    """A Python float wherever the value is known."""
    return value if is_traced(value) else float(value)


def _norms(xp: Namespace, G: Matrix, p: float) -> tuple[Scale | None, Weights, Weights, Weights]:
    """Scale (None: 1), norms of the scaled rows, and which rows are live and finite."""
    if p == 2 and not is_jax(xp):
        squares = sum(_squares(xp, X) for X in _blocks(xp, G))
        low, high = SAFE_SQUARES["float64"]
        if xp.min(squares) > low and xp.max(squares) < high:
            live = squares > 0
            return None, xp.sqrt(squares), live, live
    finite = xp.all(xp.isfinite(G), axis=1)
    largest = xp.max(xp.where(finite[:, None], xp.abs(G), xp.zeros_like(G)), axis=1)
    largest = wide(xp, largest)
    live = (largest > 0) & finite
    # the smallest floats have no reciprocal: their rows are lifted first
    lift = xp.where(largest < SAFE_SQUARES[_name(largest)][0], LIFT, 1.0)
    scale = lift, xp.where(live, 1.0 / xp.where(live, largest * lift, 1.0), 0.0)
    norms = _root(xp, _power_sums(xp, G, scale, p), p)
    return scale, norms, live, finite


def _power_sums(xp: Namespace, G: Matrix, scale: Scale, p: float) -> Weights:
    total: Any = 0.0
    for X in _blocks(xp, G):
        X = xp.abs(_scaled(xp, X, scale))
        total = (
            xp.maximum(xp.asarray(total), xp.max(X, axis=1)) if p == math.inf else total + _sum(xp, _power(xp, X, p))
        )
    return total


def _sums(
    xp: Namespace, G: Matrix, scale: Scale | None, coefficients: Weights, direction: Vector, p: float
) -> tuple[Scalar, Weights]:
    """|sum_i coefficients_i x_i|_p and x_i . direction, block by block, x_i the scaled rows."""
    powers: Any = 0.0
    products: Any = 0.0
    largest: Any = 0.0
    start = 0
    for X in _blocks(xp, G):
        X = X if scale is None else _scaled(xp, X, scale)
        v = direction[start : start + X.shape[1]]
        start += X.shape[1]
        w = _product(xp, coefficients, X)
        products = products + (_sum(xp, X * v) if is_jax(xp) else X @ v)
        if p == 2:
            powers = powers + (_sum(xp, w * w) if is_jax(xp) else w @ w)
        else:
            powers, largest = _accumulate(xp, powers, largest, w, p)
    if p == 2:
        return xp.sqrt(powers), products
    return (largest if p == math.inf else largest * _root(xp, powers, p)), products


def _accumulate(xp: Namespace, powers: Scalar, largest: Scalar, w: Vector, p: float) -> tuple[Scalar, Scalar]:
    """Running sum of |w|^p relative to the largest entry so far, so that a large p underflows nowhere it matters."""
    largest = xp.asarray(largest, dtype=w.dtype)
    most = xp.maximum(largest, xp.max(xp.abs(w)))
    if p == math.inf:
        return powers, most
    safe = xp.where(most > 0, most, 1.0)
    return powers * _power(xp, largest / safe, p) + _sum(xp, _power(xp, xp.abs(w) / safe, p)), most


def _norm(xp: Namespace, v: Vector, q: float) -> Scalar:
    largest = xp.max(xp.abs(v))
    if q == 2 and not is_jax(xp):
        square = v @ v
        low, high = SAFE_SQUARES["float64"]
        if low < square < high:
            return xp.sqrt(square)
    if q == math.inf:
        return largest
    safe = xp.where(largest > 0, largest, 1.0)
    powers: Any = 0.0
    for start in range(0, v.shape[0], v.shape[0] if is_jax(xp) else BLOCK):
        part = v if is_jax(xp) else v[start : start + BLOCK]
        powers = powers + _sum(xp, _power(xp, xp.abs(part) / safe, q))
    return largest * _root(xp, powers, q)


def _simplex(xp: Namespace, weights: Weights, norms: Weights, live: Weights) -> tuple[Weights, Scalar]:
    """Weights as a point of the simplex of the live rows, divided by the norms; and the sum they had."""
    positive = xp.where(live & (weights > 0), weights, 0.0)
    largest = xp.max(positive)
    positive = positive / xp.where(largest > 0, largest, 1.0)
    total = xp.sum(positive)
    alpha = positive / xp.where(total > 0, total, 1.0)
    return alpha / xp.where(live, norms, 1.0), total


def _blocks(xp: Namespace, G: Matrix) -> Iterator[Matrix]:
    n = G.shape[1]
    if is_jax(xp) or n <= BLOCK:
        yield wide(xp, G)
        return
    for start in range(0, n, BLOCK):
        yield wide(xp, G[:, start : start + BLOCK])


def _scaled(xp: Namespace, X: Matrix, scale: Scale) -> Matrix:
    lift, shrink = scale
    return xp.where(shrink[:, None] > 0, X, 0.0) * lift[:, None] * shrink[:, None]


def _name(array: Array) -> str:
    return str(array.dtype).rsplit(".", 1)[-1]


def _squares(xp: Namespace, X: Matrix) -> Weights:
    return np.vecdot(X, X) if xp is np else xp.sum(X * X, axis=1)


def _product(xp: Namespace, coefficients: Weights, X: Matrix) -> Vector:
    return xp.matmul(coefficients, X, precision="highest") if is_jax(xp) else coefficients @ X


def _power(xp: Namespace, x: Array, p: float) -> Array:
    return x if p == 1 else x * x if p == 2 else xp.pow(x, p) if xp is np or is_jax(xp) else x**p


def _root(xp: Namespace, x: Array, p: float) -> Array:
    return x if p in (1, math.inf) else xp.sqrt(x) if p == 2 else x ** (1 / p)


def _sum(xp: Namespace, x: Array) -> Array:
    """Sum over the last axis. JAX may have no float64, so there it is by eighths, whose rounding grows as log n."""
    if not is_jax(xp):
        return xp.sum(x, axis=-1)
    while x.shape[-1] > 1:
        size = -(-x.shape[-1] // FAN)
        x = xp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, FAN * size - x.shape[-1])])
        x = xp.sum(xp.reshape(x, (*x.shape[:-1], FAN, size)), axis=-2)
    return x[..., 0]


def _additions(xp: Namespace, n: int) -> int:
    """How many roundings a term of `_sum` or of a product of two n-vectors can meet."""
    if not is_jax(xp):
        return min(n, BLOCK) + -(-n // BLOCK)
    levels = 0
    while n > 1:
        n, levels = -(-n // FAN), levels + 1
    return (FAN - 1) * levels + 1


def _read_vector(name: str, vector: Any, G: Matrix, size: int) -> Vector:
    xp = namespace(G)
    if isinstance(vector, (list, tuple)):
        vector = xp.asarray(vector, dtype=G.dtype)
    shape = getattr(vector, "shape", None)
    if shape is None or tuple(shape) != (size,):
        raise IncenterError(f"`{name}` must have shape ({size},) to go with G; got {shape or type(vector).__name__}.")
    if namespace(vector) is not xp:
        raise IncenterError(
            f"`{name}` must come from the library of G; got {type(vector).__name__} with G a {type(G).__name__}."
        )
    if is_torch(xp) and vector.device != G.device:
        raise IncenterError(f"`{name}` is on {vector.device} and G on {G.device}; move one with .to(device).")
    return vector
