"""The Gram matrix without holding the gradients: parameters a few at a time, as many as fit into one gradient.

With n parameters and m losses, parameters are taken in blocks of at most n / m numbers. For each block all m gradients
by it are computed and multiplied: m backward passes that go only as far as the block. A single tensor that is larger
than n / m is a block of its own; of its gradients as many are held as fit, and the others come one by one.
"""

import torch

from incenter.torch.products import Row
from incenter.torch.whole import WholeGradients


def low_memory_gram(gradients: WholeGradients) -> torch.Tensor:
    """(m, m) in float64; the graph stays."""
    m, total = len(gradients.losses), sum(parameter.numel() for parameter in gradients.used)
    K = torch.zeros(m, m, dtype=torch.float64, device=gradients.params[0].device)
    for block in blocks(gradients.used, total // m):
        size = sum(parameter.numel() for parameter in block)
        K += _of_block(gradients, block, m if m * size <= total else max(1, total // size - 1))
    return K


def blocks(params: list[torch.Tensor], limit: int) -> list[list[torch.Tensor]]:
    """Neighbours together, up to `limit` numbers; what is larger stays alone."""
    found: list[list[torch.Tensor]] = []
    room = 0
    for parameter in params:
        if parameter.numel() > room:
            found.append([])
            room = limit
        found[-1].append(parameter)
        room -= parameter.numel()
    return found


def _of_block(gradients: WholeGradients, block: list[torch.Tensor], held: int) -> torch.Tensor:
    """`held` gradients are kept at a time, and each later one meets them and is forgotten."""
    m = len(gradients.losses)
    K = torch.zeros(m, m, dtype=torch.float64, device=block[0].device)
    for start in range(0, m, held):
        stop = min(start + held, m)
        rows: list[Row] = [gradients.part(index, block) for index in range(start, stop)]
        K[start:stop, start:stop] = gradients.gram(rows)
        for index in range(stop, m):
            met = gradients.gram([*rows, gradients.part(index, block)])
            K[start:stop, index] = met[:-1, -1]
            K[index, start:stop] = met[-1, :-1]
    return K
