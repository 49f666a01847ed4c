"""The rows as the solvers see them: which are alive, how long they are, and their cosines.

Squares of float entries leave the range of floats long before the entries do. Where the diagonal of the Gram matrix
shows that this happened (0, subnormal or infinite), the rows are scaled by powers of two, which rounds nothing, and
read again; only then can a row be called zero or non-finite.
"""

import math
from typing import NamedTuple

import numpy as np

from incenter.geometry.arrays import (
    Mask,
    Matrix,
    Namespace,
    Square,
    Weights,
    is_jax,
    namespace,
    to_small,
    wide,
)
from incenter.geometry.long_rows import gram

# A squared norm inside these bounds was computed without harm: what underflowed in it is below its rounding.
_SAFE_SQUARE = 2.0**-960


class Rows(NamedTuple):
    """Gradients ready to be combined. Small arrays (see `arrays`), except `scaled`.

    A dropped row (zero or not finite) is all zeros in `scaled` and `cosines`, and its norms are 0.
    """

    scaled: Matrix  # (m, n): the gradients, each times its own power of two
    exponents: Weights  # g_i = scaled_i * 2^exponents_i
    lengths: Weights  # Euclidean norms of the scaled rows, 0 where dropped
    cosines: Square  # cosines between the rows, 0 where dropped
    zero: Mask
    nonfinite: Mask

    @property
    def live(self) -> Mask:
        return ~(self.zero | self.nonfinite)

    @property
    def norms(self) -> Weights:
        """Euclidean norms of the gradients themselves; see `relative_norms` where they may overflow."""
        xp = namespace(self.lengths)
        return xp.ldexp(self.lengths, self.exponents)

    @property
    def relative_norms(self) -> Weights:
        """Norms divided by a power of two near the largest, so that their squares neither overflow nor all vanish."""
        xp = namespace(self.lengths)
        return xp.ldexp(self.lengths, self.exponents - largest_exponent(xp, self))

    @property
    def inverse_lengths(self) -> Weights:
        return reciprocal(self.lengths)


def read_rows(G: Matrix) -> Rows:
    """Norms and cosines of the rows of a floating (m, n) array."""
    xp = namespace(G)
    if not is_jax(xp):
        K = to_small(gram(G))
        squares = K.diagonal()
        if squares.size and squares.min() > _SAFE_SQUARE and squares.max() < 1 / _SAFE_SQUARE:
            lengths = np.sqrt(squares)
            none = np.zeros(len(lengths), dtype=bool)
            return Rows(G, np.zeros(len(lengths), dtype=np.int32), lengths, K / np.outer(lengths, lengths), none, none)
    return _read_scaled(G)


def read_gramian(K: Square) -> Rows:
    """The same from a Gram matrix alone, for rules that need no more; `scaled` then holds no columns."""
    K = to_small(K)
    xp = namespace(K)
    K = wide(xp, K)
    nonfinite = ~xp.all(xp.isfinite(K), axis=1)
    K = xp.where(nonfinite[:, None] | nonfinite[None, :], 0.0, K)
    _, halves = xp.frexp(xp.sqrt(xp.maximum(xp.linalg.diagonal(K), 0.0)))
    K = xp.ldexp(xp.ldexp(K, -halves[:, None]), -halves[None, :])
    lengths = xp.sqrt(xp.maximum(xp.linalg.diagonal(K), 0.0))
    inverse = reciprocal(lengths)
    return Rows(
        K[:, :0], halves, lengths, K * inverse[:, None] * inverse[None, :], (lengths == 0) & ~nonfinite, nonfinite
    )


def largest_exponent(xp: Namespace, rows: Rows) -> Weights:
    return xp.max(xp.where(rows.lengths > 0, rows.exponents, -(2**20)), initial=-(2**20))


def norms_of(rows: Rows, p: float) -> Weights:
    """l_p norms of the scaled rows; 0 where dropped."""
    if p == 2:
        return rows.lengths
    xp = namespace(rows.scaled)
    X = xp.abs(wide(xp, rows.scaled))
    if p == 1:
        return to_small(xp.sum(X, axis=1))
    largest = xp.max(X, axis=1)
    if p == math.inf:
        return to_small(largest)
    safe = xp.where(largest > 0, largest, 1.0)
    return to_small(largest * xp.sum((X / safe[:, None]) ** p, axis=1) ** (1 / p))


def reciprocal(values: Weights) -> Weights:
    """1 / values, and 0 where a value is 0 (a dropped row weighs nothing)."""
    xp = namespace(values)
    return xp.where(values > 0, 1.0 / xp.where(values > 0, values, 1.0), 0.0)


def scale_rows(G: Matrix, exponents: Weights) -> Matrix:
    """Rows times 2^exponents, in two steps because 2^exponents itself may be out of range.

    The two powers are made once per row: `ldexp` of every entry was a tenth of a training step in JAX.
    """
    xp = namespace(G)
    half, one = exponents // 2, xp.ones_like(G[:, 0])
    return G * xp.ldexp(one, half)[:, None] * xp.ldexp(one, exponents - half)[:, None]


def _read_scaled(G: Matrix) -> Rows:
    xp = namespace(G)
    finite = xp.all(xp.isfinite(G), axis=1)
    clean = xp.where(finite[:, None], G, xp.zeros_like(G))
    largest = xp.max(xp.abs(clean), axis=1)
    exponents = _exponents(largest)
    scaled = scale_rows(clean, -exponents)
    K = to_small(gram(scaled))
    small = namespace(K)
    lengths = small.sqrt(small.linalg.diagonal(K))
    inverse = reciprocal(lengths)
    nonfinite = to_small(~finite)
    return Rows(
        scaled,
        to_small(exponents),
        lengths,
        K * inverse[:, None] * inverse[None, :],
        (lengths == 0) & ~nonfinite,
        nonfinite,
    )


def _exponents(largest: Weights) -> Weights:
    """Exponents of the power of two just above each value; 0 for 0."""
    xp = namespace(largest)
    return xp.frexp(largest)[1]
