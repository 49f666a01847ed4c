"""The parameters that the rule sees, in every form that a torch optimiser takes."""

import sys
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import torch

from incenter.geometry.errors import IncenterError

Parameters: TypeAlias = Iterable[torch.Tensor] | Iterable[tuple[str, torch.Tensor]] | Iterable[Mapping[str, Any]]


def read_parameters(params: Parameters) -> list[torch.Tensor]:
    """Each parameter once; `params` holds tensors, (name, tensor) pairs or parameter groups."""
    if isinstance(params, torch.Tensor) or not isinstance(params, Iterable):
        raise IncenterError(
            f"`params` must be the parameters, one after another; got {type(params).__name__}. "
            "Pass model.parameters(), or optimizer.param_groups."
        )
    found: dict[int, torch.Tensor] = {}
    for item in params:
        for tensor in _tensors(item):
            _check(tensor)
            found[id(tensor)] = tensor
    return list(found.values())


def trainable(params: list[torch.Tensor]) -> list[torch.Tensor]:
    """Those that are not frozen at the moment."""
    if not params:
        raise IncenterError(
            "`params` holds no parameter: it is empty, or a generator that was read before. "
            "Pass model.parameters() anew, or a list of it."
        )
    some = [parameter for parameter in params if parameter.requires_grad]
    if not some:
        raise IncenterError(f"None of the {len(params)} `params` requires a gradient; pass the ones that are trained.")
    return some


def are_sharded(params: list[torch.Tensor]) -> bool:
    """Whether the parameters lie in pieces on several processes (FSDP2's `fully_shard`)."""
    distributed = sys.modules.get("torch.distributed.tensor")  # nobody has sharded anything without it
    if distributed is None:
        return False
    count = sum(isinstance(parameter, distributed.DTensor) for parameter in params)
    if 0 < count < len(params):
        raise IncenterError(
            f"{count} of the {len(params)} `params` are sharded and the others are not; shard all of them, or leave "
            "out the others, which then get the plain summed gradient."
        )
    return count > 0


def _tensors(item: Any) -> list[Any]:
    if isinstance(item, Mapping):
        return [tensor for inner in item.get("params", ()) for tensor in _tensors(inner)]
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str):
        return [item[1]]
    return [item]


def _check(tensor: Any) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise IncenterError(f"`params` must hold tensors; got {type(tensor).__name__}. Pass model.parameters().")
    if not tensor.is_leaf:
        raise IncenterError(
            f"`params` must hold leaves; got the result of an operation, of shape {tuple(tensor.shape)}. "
            "Pass the parameters themselves."
        )
    if not tensor.dtype.is_floating_point:
        raise IncenterError(f"`params` must be real floating numbers; got dtype {tensor.dtype}.")
