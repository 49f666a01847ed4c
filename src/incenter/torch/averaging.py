"""Means over the processes of data-parallel training, of one loss's gradient while the next one is computed."""

from collections import defaultdict
from collections.abc import Sequence

import torch
import torch.distributed as dist

from incenter.torch.products import Row


def several_processes(group: dist.ProcessGroup | None) -> dist.ProcessGroup | None:
    """The group (the default one if None) if it has more than one process, else None."""
    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size(group) == 1:
        return None
    return group if group is not None else dist.group.WORLD


class Average:
    """Begun at once, done when `row` is asked for. A parameter that no loss of this process uses counts as 0.

    Without a group it is the row itself.
    """

    def __init__(self, row: Row, params: Sequence[torch.Tensor], group: dist.ProcessGroup | None) -> None:
        self._params = params
        self._row = row if group is None else None
        self._begun = [] if group is None else [_begin(row, params, part, group) for part in _alike(params)]

    def row(self) -> Row:
        """The mean gradient: views of one array per dtype and device."""
        if self._row is not None:
            return self._row
        row: Row = [None] * len(self._params)
        for indices, flat, work in self._begun:
            if work is not None:
                work.wait()
            parts = torch.split_with_sizes(flat, [self._params[index].numel() for index in indices])
            for index, part in zip(indices, parts, strict=True):
                row[index] = part.view_as(self._params[index])
        return row


def _alike(params: Sequence[torch.Tensor]) -> list[list[int]]:
    """Positions of the parameters that can share one array."""
    alike: dict[tuple[torch.dtype, torch.device], list[int]] = defaultdict(list)
    for index, parameter in enumerate(params):
        alike[parameter.dtype, parameter.device].append(index)
    return list(alike.values())


def _begin(
    row: Row, params: Sequence[torch.Tensor], indices: list[int], group: dist.ProcessGroup
) -> tuple[list[int], torch.Tensor, dist.Work | None]:
    parts = [torch.zeros_like(params[index]) if (part := row[index]) is None else part for index in indices]
    flat = torch.cat([part.reshape(-1) for part in parts]).div_(dist.get_world_size(group))
    return indices, flat, dist.all_reduce(flat, group=group, async_op=True)
