"""Per-loss gradients of parameters that lie in pieces on several processes: FSDP2's `fully_shard`.

`torch.autograd.grad` would return each process's own gradients here, neither summed nor sharded, and say nothing. So
`backward()` is called once per loss, which reduces and scatters that loss's gradient, and what it left in `.grad` is
taken from there. Parameters that are none of `params` accumulate as they always do. Beyond that only the Gram matrix
crosses the wire: each process multiplies its pieces, and the m x m results are summed.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor

from incenter.geometry.errors import IncenterError
from incenter.torch.averaging import Average
from incenter.torch.graph import read_graph
from incenter.torch.products import Row, add_to_grad, gram

Cut: TypeAlias = tuple[DeviceMesh, tuple[int, ...]]  # the mesh, and those of its dimensions that a tensor is cut along


class ShardedGradients:
    """The gradients of one step by sharded `params`."""

    def __init__(self, losses: list[torch.Tensor], params: list[torch.Tensor], *, keep: bool) -> None:
        self.losses, self.params = losses, params
        self.passes = 0
        self._shared = [keep or shared for shared in read_graph(losses).shared]

    def local_row(self, index: int) -> Row:
        """One loss's gradient, reduced and sharded; what was in `.grad` before is there again afterwards."""
        before = [parameter.grad for parameter in self.params]
        for parameter in self.params:
            parameter.grad = None
        self.passes += 1
        self.losses[index].backward(retain_graph=self._shared[index])  # type: ignore[no-untyped-call]
        row: Row = [parameter.grad for parameter in self.params]
        for parameter, gradient in zip(self.params, before, strict=True):
            parameter.grad = gradient
        return row

    def average(self, row: Row) -> Average:
        return Average(row, self.params, None)

    def gram(self, rows: list[Row]) -> torch.Tensor:
        """Of the pieces, then summed over the mesh dimensions along which they were cut."""
        alike: dict[Cut, list[int]] = defaultdict(list)
        for index, parameter in enumerate(self.params):
            alike[_cut(parameter)].append(index)
        device = torch.device(self.params[0].device)
        K = torch.zeros(len(rows), len(rows), dtype=torch.float64, device=device)
        for (mesh, dimensions), indices in alike.items():
            part = gram([[_piece(row[index], self.params[index]) for index in indices] for row in rows], device)
            for dimension in dimensions:
                dist.all_reduce(part, group=mesh.get_group(dimension))
            K += part
        return K

    def add_weighted(self, weights: Sequence[float]) -> None:
        """One pass per loss: in a single one the parameters outside `params` would get the weights too."""
        for index, weight in enumerate(weights):
            for parameter, gradient in zip(self.params, self.local_row(index), strict=True):
                if gradient is not None:
                    add_to_grad(parameter, gradient * weight if weight != 0 else torch.zeros_like(gradient))


def _cut(parameter: torch.Tensor) -> Cut:
    assert isinstance(parameter, DTensor)
    return parameter.device_mesh, tuple(k for k, placement in enumerate(parameter.placements) if placement.is_shard())


def _piece(gradient: torch.Tensor | None, parameter: torch.Tensor) -> torch.Tensor | None:
    """This process's part of a gradient, which must be cut as its parameter is."""
    if gradient is None:
        return None
    if not isinstance(gradient, DTensor) or gradient.placements != getattr(parameter, "placements", None):
        raise IncenterError(
            f"The gradient of a sharded parameter was not reduced and sharded (it is a {type(gradient).__name__}); "
            "leave FSDP's gradient synchronisation on where losses go to incenter."
        )
    return gradient.to_local()
