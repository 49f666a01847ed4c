"""The losses of a step as the user gives them: a list, or a dict with their names."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import torch

from incenter.geometry.errors import IncenterError

Losses: TypeAlias = Mapping[str, torch.Tensor] | Sequence[torch.Tensor]


def read_losses(losses: Losses) -> tuple[tuple[str, ...], list[torch.Tensor]]:
    """Names and values; a list's names are its positions."""
    if isinstance(losses, torch.Tensor) or not isinstance(losses, (Mapping, Sequence)):
        raise IncenterError(
            f"`losses` must be a list of scalar tensors or a dict of them by name; got {_shown(losses)}. "
            "Give the losses one by one, before they are summed."
        )
    named = losses if isinstance(losses, Mapping) else {str(index): loss for index, loss in enumerate(losses)}
    for name, loss in named.items():
        _check(str(name), loss)
    return tuple(map(str, named)), list(named.values())


def _check(name: str, loss: Any) -> None:
    if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
        raise IncenterError(f"Loss {name!r} must be a scalar tensor; got {_shown(loss)}. Take its mean or its sum.")
    if not loss.requires_grad:
        raise IncenterError(
            f"Loss {name!r} has no gradient: it was detached, computed under no_grad, or from frozen parameters only. "
            "Leave it out, or attach it."
        )


def _shown(value: Any) -> str:
    return f"a tensor of shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
