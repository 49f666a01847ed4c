"""Losses summed into two groups, the residual and the rest, as if they were two losses.

Sums are formed from cosines. A group without live rows, or whose gradients cancel to rounding, counts as a zero row.
"""

from collections.abc import Sequence

import numpy as np

from incenter.geometry.arrays import Scalar, Weights, epsilon, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows, reciprocal
from incenter.methods.stationarity import ROUNDINGS


def check_residual(residual: Sequence[int]) -> tuple[int, ...]:
    """The residual's rows as a tuple of distinct indices."""
    rows = tuple(int(row) for row in residual)
    if not rows or min(rows) < 0 or len(set(rows)) != len(rows):
        raise IncenterError(f"`residual` must name distinct rows, counted from 0; got {residual!r}.")
    return rows


def in_residual(residual: tuple[int, ...], m: int) -> np.ndarray:
    """Mask of the residual's rows among m; the other group is empty only where there is one loss alone."""
    if max(residual) >= m or (len(residual) == m and m > 1):
        raise IncenterError(
            f"`residual` must name some but not all of the {m} gradients; got {residual!r}. "
            "Set `residual` to the rows of the PDE losses."
        )
    mask = np.zeros(m, dtype=bool)
    mask[list(residual)] = True
    return mask


def grouped(rows: Rows, residual: tuple[int, ...]) -> Rows:
    """Two rows: the sum over `residual`, and the sum of the others. They hold no columns."""
    xp = namespace(rows.cosines)
    mask = in_residual(residual, len(rows.lengths))
    member = xp.asarray(np.stack([mask, ~mask])) & rows.live
    exponents = xp.max(xp.where(member, rows.exponents, -(2**20)), axis=1)
    exponents = xp.where(xp.any(member, axis=1), exponents, 0)
    sums = xp.where(member, xp.ldexp(rows.lengths, rows.exponents - exponents[:, None]), 0.0)
    largest = xp.max(sums, axis=1)
    sums = sums * reciprocal(largest)[:, None]
    K = sums @ rows.cosines @ sums.T
    rounding = ROUNDINGS * mask.size * epsilon(K) * xp.sum(sums, axis=1) ** 2
    squares = xp.linalg.diagonal(K)
    norms = xp.where(squares > rounding, xp.sqrt(xp.maximum(squares, 0.0)), 0.0)
    inverse = reciprocal(norms)
    cosines = K * inverse[:, None] * inverse[None, :]
    none = norms < 0
    return Rows(rows.scaled[:0], exponents, norms * largest, cosines, norms == 0, none)


def cancelled(groups: Rows, rows: Rows, residual: tuple[int, ...]) -> Scalar:
    """Whether a group holds live gradients that sum to 0."""
    xp = namespace(rows.cosines)
    mask = xp.asarray(in_residual(residual, len(rows.lengths)))
    live = xp.stack([xp.any(rows.live & mask), xp.any(rows.live & ~mask)])
    return xp.any(groups.zero & live)


def spread(weights: Weights, residual: tuple[int, ...], m: int) -> Weights:
    """Weights of the two groups as weights of their m gradients."""
    xp = namespace(weights)
    return xp.where(xp.asarray(in_residual(residual, m)), weights[0], weights[1])
