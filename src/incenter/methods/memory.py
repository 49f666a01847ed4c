"""What a rule remembers: a named tuple of arrays, `step` among them, which an unusable step leaves as it was.

All zeros are the fresh state (a rule reads `step == 0` as "nothing seen yet"), so a compiled loop can make one from its
shapes alone.
"""

import math
from typing import Any

from incenter.geometry.arrays import Array, Namespace, Scalar, State, Weights, is_traced, namespace, wide_dtype
from incenter.geometry.errors import IncenterError


def recall(rule: str, state: State | None, fresh: State) -> State:
    """`state`, which must be one of this rule for as many losses; `fresh` at the first step."""
    if state is None:
        return fresh
    if not isinstance(state, type(fresh)) or _shapes(state) != _shapes(fresh):
        raise IncenterError(
            f"`state` does not fit {rule} with these gradients: expected {type(fresh).__name__} with arrays of shapes "
            f"{_shapes(fresh)}, got {type(state).__name__} with {_shapes(state)}; pass the `state` of its last update, "
            "or None to start anew."
        )
    return state


def keep_if(usable: Scalar, new: State, old: State) -> State:
    """`new` after a usable step, else `old` untouched."""
    if not is_traced(usable):
        return new if usable else old
    xp = namespace(usable)
    kept: State = type(old)(*(xp.where(usable, after, before) for after, before in zip(new, old, strict=True)))
    return kept


def first_step(xp: Namespace) -> Scalar:
    """The step counter at 0; 32 bits everywhere, so that adding 1 does not change its type."""
    return xp.zeros((), dtype=xp.int32)


def is_due(step: Scalar, every: int) -> Any:
    """Whether this is one of every `every` steps, the first included."""
    return step % every == 0


def filled_share(xp: Namespace, beta: float, steps: Scalar | Weights) -> Scalar | Weights:
    """1 - beta^steps, without cancellation: how far a running average that began at 0 has forgotten it."""
    steps = xp.astype(steps, wide_dtype(xp))
    return -xp.expm1(steps * math.log(beta)) if beta > 0 else xp.minimum(steps, 1.0)


def _shapes(state: Any) -> list[tuple[int, ...]]:
    return [_shape(array) for array in state] if isinstance(state, tuple) else []


def _shape(array: Array) -> tuple[int, ...]:
    return tuple(getattr(array, "shape", ()))
