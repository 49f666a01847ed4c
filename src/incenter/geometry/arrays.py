"""What NumPy, JAX and torch do not share, in one place: dtypes, loops, and where the small matrices live.

Every solver is written once, against the array namespace of its input. Two kinds of arrays occur. *Long* ones have
n columns and stay where the user put them. *Small* ones are m x m; for NumPy and torch they are NumPy float64 (so that
a device is waited for once, for the m x m solve), for JAX they stay traced JAX arrays.
"""

import sys
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias, TypeVar

import numpy as np
from array_api_compat import array_namespace, is_jax_namespace, is_torch_namespace

Array: TypeAlias = Any
Namespace: TypeAlias = Any
Matrix = Annotated[Any, "(m, n): one gradient per row"]
Square = Annotated[Any, "(m, m)"]
Vector = Annotated[Any, "(n,)"]
Weights = Annotated[Any, "(m,)"]
Mask = Annotated[Any, "(m,) of bool"]
Scalar = Annotated[Any, "()"]
State = TypeVar("State", bound=tuple[Any, ...])


def namespace(array: Array) -> Namespace:
    """The array namespace of `array`; NumPy's own is taken as it is, because wrapping it costs microseconds."""
    return np if isinstance(array, (np.ndarray, np.generic)) else array_namespace(array)


def small_namespace(xp: Namespace) -> Namespace:
    """Where the m x m work of long arrays in `xp` is done."""
    return xp if is_jax_namespace(xp) else np


def is_jax(xp: Namespace) -> bool:
    return xp is not np and is_jax_namespace(xp)


def is_torch(xp: Namespace) -> bool:
    return xp is not np and is_torch_namespace(xp)


def is_traced(array: Array) -> bool:
    """Whether `array` is a JAX tracer: its values are not known yet, so nothing may depend on them in Python."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(array, jax.core.Tracer)


def working_dtype(xp: Namespace, dtype: Any) -> Any:
    """The dtype of the answer: float64 and float32 as they are, halves as float32, integers as the default float."""
    if dtype in (xp.float64, xp.float32):
        return dtype
    if _is_half(dtype):
        return xp.float32
    return wide_dtype(xp)


def wide_dtype(xp: Namespace) -> Any:
    """The widest float to accumulate in: float64, except in JAX without x64, which has none."""
    if is_jax(xp):
        return xp.zeros(0).dtype
    return xp.float64


def wide(xp: Namespace, array: Array) -> Array:
    dtype = wide_dtype(xp)
    return array if array.dtype == dtype else xp.astype(array, dtype)


def epsilon(array: Array) -> float:
    """Spacing of the floats at 1 in the dtype of `array`."""
    if isinstance(array, np.ndarray):
        return _EPSILON[array.dtype.char]
    return float(namespace(array).finfo(array.dtype).eps)


def to_small(array: Array) -> Array:
    """`array` as the small namespace has it (torch: the one wait for the device)."""
    if isinstance(array, (np.ndarray, np.generic)) or is_jax(namespace(array)):
        return array
    return array.detach().cpu().numpy()


def to_host(array: Array) -> Array:
    """`array` as a NumPy one."""
    return np.asarray(to_small(array))


def from_small(array: Array, like: Array) -> Array:
    """A small array back in the library, on the device and in the dtype of `like`; NumPy's bool stays bool."""
    xp = namespace(like)
    if xp is np:
        return array.astype(like.dtype, copy=False) if array.dtype.kind == "f" else array
    if is_torch(xp):
        tensor = xp.asarray(np.asarray(array, order="C"), device=like.device)  # `ascontiguousarray` makes () into (1,)
        return tensor.to(like.dtype) if tensor.dtype.is_floating_point else tensor
    return array.astype(like.dtype) if xp.isdtype(array.dtype, "real floating") else array


def while_loop(
    xp: Namespace, keep_going: Callable[[State], Any], step: Callable[[State], State], state: State
) -> State:
    """`while keep_going(state): state = step(state)`, in Python or, for JAX, as one compiled loop."""
    if is_jax(xp):
        from jax.lax import while_loop as traced_loop

        result: State = traced_loop(keep_going, step, state)
        return result
    while keep_going(state):
        state = step(state)
    return state


def select(condition: Scalar, yes: Array, no: Array) -> Array:
    """`yes if condition else no`, also where the condition is traced and both are."""
    if not isinstance(condition, bool) and is_traced(condition):
        return namespace(condition).where(condition, yes, no)
    return yes if condition else no


def compiled(function: Callable[..., Any], *, static: tuple[str, ...]) -> Callable[..., Any]:
    """`jax.jit(function)` with static keyword arguments, made once per function."""
    key = (function, static)
    if key not in _COMPILED:
        import jax

        _COMPILED[key] = jax.jit(function, static_argnames=static)
    return _COMPILED[key]


def put(xp: Namespace, array: Array, index: Any, value: Any) -> Array:
    """A copy of `array` with `array[index] = value`."""
    if is_jax(xp):
        return array.at[index].set(value)
    array = array.copy()
    array[index] = value
    return array


def _is_half(dtype: Any) -> bool:
    return str(dtype).rsplit(".", 1)[-1] in ("float16", "bfloat16")


_COMPILED: dict[Any, Callable[..., Any]] = {}
_EPSILON = {"d": float(np.finfo(np.float64).eps), "f": float(np.finfo(np.float32).eps)}
