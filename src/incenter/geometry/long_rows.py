"""Products with a few long rows: the Gram matrix, a weighted sum, inner products. Each is one pass over memory.

Everything is accumulated in the widest float there is. A block of columns is small enough to stay in the cache, so a
float32 row is read from memory once, widened there, and used for all products.
"""

from collections.abc import Iterator

import numpy as np

from incenter.geometry.arrays import Matrix, Square, Vector, Weights, is_jax, is_torch, namespace, wide, wide_dtype

BLOCK = 65_536  # columns: 0.5 MB per float64 row; smaller blocks were slower (Python's share), larger ones leave L2
FEW_ROWS = 6  # up to here row-by-row products beat the matrix product, whose packing costs more than it saves


def gram(G: Matrix) -> Square:
    """G G^T in the widest float."""
    xp = namespace(G)
    if is_jax(xp):
        X = wide(xp, G)
        return xp.matmul(X, X.T, precision="highest")
    if G.shape[1] <= BLOCK:
        X = wide(xp, G)
        return X @ X.T
    K = xp.zeros((G.shape[0], G.shape[0]), dtype=xp.float64, **_device_of(G))
    for X in _blocks(G):
        if xp is np and G.shape[0] <= FEW_ROWS:
            _add_row_by_row(K, X)
        else:
            K += X @ X.T
    if xp is np and G.shape[0] <= FEW_ROWS:
        lower = np.tril_indices(G.shape[0], -1)
        K[lower] = K.T[lower]
    return K


def weighted_sum(weights: Weights, G: Matrix) -> Vector:
    """sum_i weights_i g_i in the widest float."""
    xp = namespace(G)
    if is_jax(xp):
        return xp.matmul(weights, wide(xp, G), precision="highest")
    if G.dtype == xp.float64 or G.shape[1] <= BLOCK:
        return weights @ wide(xp, G)
    return xp.concat([weights @ X for X in _blocks(G)])


def inner_products(G: Matrix, v: Vector) -> Weights:
    """g_i . v for every row, in the widest float; v is wide already."""
    xp = namespace(G)
    if is_jax(xp):
        return xp.matmul(wide(xp, G), v, precision="highest")
    if G.dtype == xp.float64 or G.shape[1] <= BLOCK:
        return wide(xp, G) @ v
    total = xp.zeros(G.shape[0], dtype=xp.float64, **_device_of(G))
    for start, X in zip(range(0, G.shape[1], BLOCK), _blocks(G), strict=True):
        total += X @ v[start : start + BLOCK]
    return total


def _blocks(G: Matrix) -> Iterator[Matrix]:
    xp = namespace(G)
    for start in range(0, G.shape[1], BLOCK):
        yield xp.astype(G[:, start : start + BLOCK], wide_dtype(xp), copy=False)


def _add_row_by_row(K: Square, X: Matrix) -> None:
    for i in range(X.shape[0]):
        K[i, i:] += np.vecdot(X[i:], X[i])


def _device_of(G: Matrix) -> dict[str, object]:
    return {"device": G.device} if is_torch(namespace(G)) else {}
