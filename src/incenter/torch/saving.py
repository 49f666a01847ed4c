"""What a rule remembers, as the tensors and plain values that `torch.save` writes and reads without pickled code."""

import sys
from typing import Any

import numpy as np
import torch

from incenter.geometry.errors import IncenterError
from incenter.methods.rule import Rule


def to_saved(state: Any) -> dict[str, Any] | None:
    """A rule's named tuple of NumPy arrays and tensors; None stays None."""
    if state is None:
        return None
    arrays = {name: value for name, value in state._asdict().items() if not isinstance(value, torch.Tensor)}
    return {
        "kind": type(state).__name__,
        "numbers": {name: torch.from_numpy(np.array(value)) for name, value in arrays.items()},
        "tensors": {name: value for name, value in state._asdict().items() if name not in arrays},
    }


def from_saved(saved: dict[str, Any] | None, rule: Rule, device: torch.device) -> Any:
    """The named tuple again, its tensors on `device`. Its class stands in the module of the rule."""
    if saved is None:
        return None
    kind = getattr(sys.modules[type(rule).__module__], saved["kind"], None)
    if kind is None:
        raise IncenterError(f"The saved state is a {saved['kind']}, which the rule {rule.name!r} does not have.")
    numbers = {name: value.cpu().numpy() for name, value in saved["numbers"].items()}
    return kind(**numbers, **{name: value.to(device) for name, value in saved["tensors"].items()})
