"""Inner products and weighted sums of gradients that lie parameter by parameter, as autograd returns them.

Nothing is put side by side as a whole: a block of columns is widened to float64, multiplied, and forgotten.
"""

from collections.abc import Sequence
from typing import TypeAlias

import torch

Row: TypeAlias = list[torch.Tensor | None]  # one loss's gradient; None where it does not depend on the parameter

BLOCK = {"cpu": 65_536}  # columns: 0.5 MB per row, which stays in the cache
ELSEWHERE = 1 << 20  # not measured: few enough launches, 8 MB per row
FEW_ROWS = 16  # up to here a processor multiplies row by row in half the time of a matrix product


def gram(rows: Sequence[Row], device: torch.device) -> torch.Tensor:
    """(k, k) inner products of k rows in float64, on `device`."""
    K = torch.zeros(len(rows), len(rows), dtype=torch.float64, device=device)
    size = sum(max((0 if part is None else part.numel()) for part in parts) for parts in zip(*rows, strict=True))
    block = min(BLOCK.get(device.type, ELSEWHERE), size)
    X = torch.empty(len(rows), block, dtype=torch.float64, device=device)
    filled = 0
    for parts in zip(*rows, strict=True):
        flat = [None if part is None else part.reshape(-1) for part in parts]
        start, stop = 0, max(0 if part is None else part.numel() for part in flat)
        while start < stop:
            taken = min(stop - start, block - filled)
            for target, part in zip(X[:, filled : filled + taken], flat, strict=True):
                _fill(target, part, start)
            start, filled = start + taken, filled + taken
            if filled == block:
                _add_products(K, X)
                filled = 0
    _add_products(K, X[:, :filled])
    return torch.triu(K) + torch.triu(K, 1).T


def weighted_sum(weights: Sequence[float], parts: Sequence[torch.Tensor | None], like: torch.Tensor) -> torch.Tensor:
    """sum_i weights_i parts_i for one parameter; what weighs nothing is not touched, so it may hold infinities."""
    total = torch.zeros_like(like)
    for weight, part in zip(weights, parts, strict=True):
        if part is not None and weight != 0:
            total.add_(part, alpha=weight)
    return total


def add_to_grad(parameter: torch.Tensor, gradient: torch.Tensor) -> None:
    """Accumulate as autograd does; `gradient` must belong to nobody else."""
    if parameter.grad is None:
        parameter.grad = gradient
    else:
        parameter.grad.add_(gradient)


def _add_products(K: torch.Tensor, X: torch.Tensor) -> None:
    """Adds the upper triangle of X X^T; the lower one may be anything."""
    if X.device.type != "cpu" or len(X) > FEW_ROWS:
        K.addmm_(X, X.T)
        return
    for index in range(len(X)):
        K[index, index:].addmv_(X[index:], X[index])


def _fill(target: torch.Tensor, part: torch.Tensor | None, start: int) -> None:
    if part is None:
        target.zero_()
    else:
        target.copy_(part[start : start + len(target)])
