"""Matrices of the kinds, shapes, ranks and scales that TorchJD tests its aggregators on: 24 typical, 36 scaled.

In the docstrings w are weights on the rows: a matrix J is strongly stationary where w J = 0 for a positive w, weakly
where it is for a nonnegative w that is not 0.
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rng = np.random.Generator

NORMAL = [(1, 1, 1), (4, 3, 1), (4, 3, 2), (4, 3, 3), (9, 11, 5), (9, 11, 9)]
BY_STATIONARITY = [(20, 10, 5), (20, 100, 1), (20, 100, 5), (20, 100, 10), (20, 100, 19)]
ZERO = [(1, 1), (4, 3), (9, 11)]
SCALES = [0.0, 1e-10, 1e3, 1e5, 1e10, 1e15]


def _orthonormal(rng: Rng, first: Floats, count: int) -> Floats:
    """`count` random orthonormal columns, orthogonal to those of `first`."""
    drawn = np.concatenate([first, rng.normal(size=(len(first), count))], axis=1)
    columns: Floats = np.linalg.qr(drawn)[0][:, first.shape[1] :]
    return columns


def _with_left(rng: Rng, left: Floats, n: int) -> Floats:
    """A matrix with these left singular vectors, random right ones and random singular values."""
    right = _orthonormal(rng, np.zeros((n, 0)), left.shape[1])
    matrix: Floats = (left * np.abs(rng.normal(size=left.shape[1]))) @ right.T
    return matrix


def _positive(rng: Rng, m: int) -> Floats:
    drawn = np.abs(rng.normal(size=(m, 1)))
    unit: Floats = drawn / np.linalg.norm(drawn)
    return unit


def normal(rng: Rng, m: int, n: int, rank: int) -> Floats:
    return _with_left(rng, _orthonormal(rng, np.zeros((m, 0)), rank), n)


def strong(rng: Rng, m: int, n: int, rank: int) -> Floats:
    """w J = 0 for a positive w."""
    return _with_left(rng, _orthonormal(rng, _positive(rng, m), rank), n)


def strictly_weak(rng: Rng, m: int, n: int, rank: int) -> Floats:
    """w J = 0 for a w that is 0 on some rows, on which J has a positive left singular vector: for no positive w."""
    on_some = rng.permutation(m) < rng.integers(1, m)
    drawn = _positive(rng, m)
    both = [np.where(rows[:, None], drawn, 0.0) for rows in (on_some, ~on_some)]
    w, singular = (part / np.linalg.norm(part) for part in both)
    others = _orthonormal(rng, np.concatenate([w, singular], axis=1), rank - 1)
    return _with_left(rng, np.concatenate([singular, others], axis=1), n)


def non_weak(rng: Rng, m: int, n: int, rank: int) -> Floats:
    """A positive left singular vector: w J = 0 for no nonnegative w but 0."""
    positive = _positive(rng, m)
    return _with_left(rng, np.concatenate([positive, _orthonormal(rng, positive, rank - 1)], axis=1), n)


def _drawn(kind: Callable[[Rng, int, int, int], Floats], shapes: list[tuple[int, int, int]]) -> list[torch.Tensor]:
    rng = np.random.default_rng(0)
    return [torch.from_numpy(kind(rng, *shape)).float() for shape in shapes]


ZEROS = [torch.zeros(shape) for shape in ZERO]
NORMALS = _drawn(normal, NORMAL)
STRONG, STRICTLY_WEAK, NON_WEAK = (_drawn(kind, BY_STATIONARITY) for kind in (strong, strictly_weak, non_weak))
TYPICAL = [*ZEROS, *NORMALS, *STRONG, *STRICTLY_WEAK, *NON_WEAK]
SCALED = [scale * matrix for scale in SCALES for matrix in NORMALS]
