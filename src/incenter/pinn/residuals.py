"""The user's residual functions: their parameters by name, and what they return."""

import inspect
import operator
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from incenter.geometry.arrays import Array
from incenter.geometry.errors import IncenterError

Residual = Callable[..., Any]

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def read_residual(term: str, residual: Any) -> tuple[str, ...]:
    """The names that a residual wants: its parameters, but for those with a default."""
    if not callable(residual):
        raise IncenterError(
            f"The residual of {term} must be a function, such as lambda u: u.x; got {residual!r} "
            f"(the order is {term}(count, residual))."
            if term != "Data"
            else f"The residual of Data must be a function, such as lambda u, value: u - value; got {residual!r}."
        )
    try:
        parameters = inspect.signature(residual).parameters.values()
    except (ValueError, TypeError) as error:
        raise IncenterError(
            f"{residual!r} does not tell its parameters; wrap it in a lambda that names them."
        ) from error
    for parameter in parameters:
        if parameter.kind not in _BY_NAME:
            raise IncenterError(
                f"The residual of {term} takes its arguments by name, and {parameter} has none; "
                "write the outputs that it uses, such as lambda u, v: ..."
            )
    return tuple(parameter.name for parameter in parameters if parameter.default is parameter.empty)


def equations_of(result: Any, count: int) -> tuple[Array, ...]:
    """What a residual returned as a tuple of real arrays (count,)."""
    equations = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    if not equations:
        raise IncenterError("the residual returns an empty tuple; return an array (N,) for each equation.")
    return tuple(_equation(k, equation, count) for k, equation in enumerate(equations))


def read_count(owner: str, count: Any) -> int:
    """A number of points."""
    try:
        number = operator.index(count)
    except TypeError:
        number = 0
    if number < 1 or isinstance(count, bool):
        raise IncenterError(f"The number of points of {owner} must be a whole number, at least 1; got {count!r}.")
    return number


def _equation(k: int, equation: Any, count: int) -> Array:
    try:
        array = jnp.asarray(equation)
    except (TypeError, ValueError) as error:
        raise IncenterError(
            f"the residual returns {type(equation).__name__} as equation {k}; return an array (N,) for each equation."
        ) from error
    if not jnp.issubdtype(array.dtype, jnp.floating):
        raise IncenterError(f"equation {k} has dtype {array.dtype}; return real floating-point numbers.")
    if array.shape != (count,):
        raise IncenterError(
            f"equation {k} has shape {array.shape} at {count} points; return one number per point, shape ({count},), "
            "and a tuple of such arrays for several equations."
        )
    return array
