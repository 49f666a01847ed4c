"""What a residual sees: outputs of the network as arrays with derivatives, `u`, `u.x`, `u.xx`, `u.lap`, `u.at.x`.

A field is the array (N,) of its values wherever an array is wanted. Sums stay symbolic while they can,

    e = array + sum over fields f of  L_f f,     L_f = sum_ij A_ij d_i d_j  with constant coefficients,

so that `u.t - u.xx - u.yy` asks for one operator and not for two. A factor that is no number, or a function, turns e
into an array; so does a plain array on the left (`f - u.xx - u.yy` has two operators, `-u.xx - u.yy + f` has one). A
field takes its numbers from a `Source`. The one that records is handed out first, inside `jax.eval_shape`, and knows
afterwards which streams the network must carry.
"""

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from incenter.geometry.errors import IncenterError
from incenter.pinn.domain import TIME
from incenter.pinn.operators import Pair, operator_of
from incenter.pinn.recording import Source
from incenter.pinn.taylor import Array


class UnknownDerivative(IncenterError, AttributeError):
    """A name that a field does not have; an AttributeError too, because libraries ask objects what they have."""


class ArrayLike:
    """Arithmetic of something that is an array as soon as a function wants one; what comes out is symbolic again."""

    __array_ufunc__ = None  # a NumPy number on the left leaves the operation to us

    def __jax_array__(self) -> Array:
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.__jax_array__(), dtype=dtype, copy=copy)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.__jax_array__().shape

    @property
    def dtype(self) -> Any:
        return self.__jax_array__().dtype

    def __add__(self, other: Any) -> "Lazy":
        return as_lazy(self).plus(as_lazy(other))

    def __sub__(self, other: Any) -> "Lazy":
        return as_lazy(self).plus(as_lazy(other).scaled(-1.0))

    def __rsub__(self, other: Any) -> "Lazy":
        return as_lazy(other) - self

    def __neg__(self) -> "Lazy":
        return as_lazy(self).scaled(-1.0)

    def __pos__(self) -> "Lazy":
        return as_lazy(self)

    def __mul__(self, other: Any) -> "Lazy":
        return as_lazy(self).scaled(float(other)) if is_number(other) else Lazy(as_array(self) * as_array(other))

    def __truediv__(self, other: Any) -> "Lazy":
        if is_number(other) and other != 0:
            return as_lazy(self).divided(float(other))
        return Lazy(as_array(self) / as_array(other))

    def __rtruediv__(self, other: Any) -> "Lazy":
        return Lazy(as_array(other) / as_array(self))

    def __pow__(self, other: Any) -> "Lazy":
        return Lazy(as_array(self) ** as_array(other))

    def __rpow__(self, other: Any) -> "Lazy":
        return Lazy(as_array(other) ** as_array(self))

    def __abs__(self) -> "Lazy":
        return Lazy(abs(as_array(self)))

    def __lt__(self, other: Any) -> Any:
        return as_array(self) < as_array(other)

    def __le__(self, other: Any) -> Any:
        return as_array(self) <= as_array(other)

    def __gt__(self, other: Any) -> Any:
        return as_array(self) > as_array(other)

    def __ge__(self, other: Any) -> Any:
        return as_array(self) >= as_array(other)

    def __getitem__(self, index: Any) -> Any:
        return as_array(self)[index]

    def __radd__(self, other: Any) -> "Lazy":
        return self.__add__(other)

    def __rmul__(self, other: Any) -> "Lazy":
        return self.__mul__(other)


class Field(ArrayLike):
    """One output of the network on a set of points; see the module header."""

    def __init__(self, name: str, source: Source) -> None:
        self._name, self._source = name, source

    def __jax_array__(self) -> Array:
        return self._source.value(self._name)

    @property
    def at(self) -> "Coordinates":
        """The coordinates of the points, by axis: `u.at.x`."""
        return Coordinates(self._name, self._source)

    @property
    def lap(self) -> "Lazy":
        """The sum of the second derivatives over the space axes."""
        space = [k for k, axis in enumerate(self._source.axes) if axis != TIME]
        return Lazy(operators={self: {(k, k): 1.0 for k in space}})

    @property
    def normal(self) -> "Lazy":
        """The derivative along the outward normal, on a boundary."""
        normals = self._source.normals
        if normals is None:
            raise IncenterError(
                f"`{self._name}.normal` needs a boundary, and these points have no normal; use it in a Boundary term."
            )
        along = [k for k, axis in enumerate(self._source.axes) if axis != TIME]
        return sum((Lazy(normals[:, k] * self._source.first(self._name, k)) for k in along), start=Lazy())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        axes = self._source.axes
        if name in axes:
            return Lazy(self._source.first(self._name, axes.index(name)))
        pairs = [(i, j) for i, one in enumerate(axes) for j, two in enumerate(axes) if one + two == name]
        if pairs:
            low, high = sorted(pairs[0])
            return Lazy(operators={self: {(low, high): 1.0}})
        raise UnknownDerivative(self._unknown(name))

    def _unknown(self, name: str) -> str:
        axes = self._source.axes
        spelled = _spelled(name, axes)
        if spelled is not None and len(spelled) > 2:
            return (
                f"`{self._name}.{name}` is a derivative of order {len(spelled)}, and fields have orders 1 and 2; "
                f"give the network another output for a lower one, and make their equality an equation."
            )
        return (
            f"`{self._name}.{name}` is no derivative on a domain with the axes {', '.join(axes)}; "
            f"write `{self._name}.{axes[0]}`, `{self._name}.{axes[0]}{axes[-1]}`, `{self._name}.lap`, "
            f"`{self._name}.normal` or `{self._name}.at.{axes[0]}`."
        )


class Coordinates:
    """The points of a field, by axis."""

    def __init__(self, name: str, source: Source) -> None:
        self._name, self._source = name, source

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_"):
            raise AttributeError(name)
        axes = self._source.axes
        if name not in axes:
            raise UnknownDerivative(
                f"`{self._name}.at.{name}` is no coordinate of a domain with the axes {', '.join(axes)}; "
                f"write `{self._name}.at.{axes[0]}`."
            )
        return self._source.points[:, axes.index(name)]


class Lazy(ArrayLike):
    """array + sum over fields of a second-order operator of the field; no array, None, is zero."""

    def __init__(self, array: Any = None, operators: Mapping[Field, Mapping[Pair, float]] | None = None) -> None:
        self._array, self._operators = array, operators or {}

    def __getattr__(self, name: str) -> Any:
        """What an array has otherwise: `astype`, `mean`, `at`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.__jax_array__(), name)

    def __jax_array__(self) -> Array:
        total = self._array
        for field, coefficients in self._operators.items():
            scale, operator = operator_of(dict(coefficients))
            if operator:
                part = scale * field._source.second(field._name, operator)
            else:
                part = jnp.zeros_like(field._source.points[:, 0])
            total = part if total is None else total + part
        return jnp.asarray(0.0 if total is None else total)

    def scaled(self, factor: float) -> "Lazy":
        """All of it times a number."""
        if self._array is None:
            array = None
        else:
            array = -self._array if factor == -1.0 else factor * self._array
        return Lazy(array, self._each(lambda value: factor * value))

    def divided(self, number: float) -> "Lazy":
        """All of it over a number."""
        array = None if self._array is None else self._array / number
        return Lazy(array, self._each(lambda value: value / number))

    def plus(self, other: "Lazy") -> "Lazy":
        """The sum, symbolic as far as both are."""
        operators = {field: dict(coefficients) for field, coefficients in self._operators.items()}
        for field, coefficients in other._operators.items():
            mine = operators.setdefault(field, {})
            for pair, value in coefficients.items():
                mine[pair] = mine.get(pair, 0.0) + value
        if self._array is None or other._array is None:
            return Lazy(other._array if self._array is None else self._array, operators)
        return Lazy(self._array + other._array, operators)

    def _each(self, change: Callable[[float], float]) -> dict[Field, dict[Pair, float]]:
        return {
            field: {pair: change(value) for pair, value in coefficients.items()}
            for field, coefficients in self._operators.items()
        }


def is_number(value: Any) -> bool:
    """A constant by which a symbolic derivative may be scaled."""
    return isinstance(value, numbers.Real | np.number) or (isinstance(value, np.ndarray) and value.ndim == 0)


def as_array(value: Any) -> Any:
    """The array behind a field or a symbolic derivative; anything else as it is."""
    return value.__jax_array__() if isinstance(value, ArrayLike) else value


def as_lazy(value: Any) -> Lazy:
    """Anything as a symbolic sum."""
    return value if isinstance(value, Lazy) else Lazy(as_array(value))


def _spelled(name: str, axes: tuple[str, ...]) -> list[str] | None:
    """The name as a sequence of axes, if it is one."""
    if not name:
        return []
    for axis in axes:
        if name.startswith(axis):
            rest = _spelled(name[len(axis) :], axes)
            if rest is not None:
                return [axis, *rest]
    return None


# Compiled functions of JAX take a field or a symbolic derivative for the one array that it is.
for _kind in (Field, Lazy):
    jax.tree_util.register_pytree_node(_kind, lambda one: ((one.__jax_array__(),), None), lambda _, leaves: leaves[0])
