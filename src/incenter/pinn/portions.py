"""Functions of many points and sums over them, a portion at a time, so that what is on its way stays in the cache.

sum_k w_k f(point k)  =  sum over portions of  sum_{k in portion} w_k f(point k),        w = 1, and 0 where padded

On a mesh each device has as many portions as any other, and what they found is summed over the devices.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import Mesh

from incenter.pinn.devices import summed_over
from incenter.pinn.taylor import Array

# Points to a portion. From 500 to 2500 the time of a step hardly changes; a network with four hidden layers takes three
# times as long in one piece of 5,000.
_WANTED = 1280
_MULTIPLE = 16  # vector units take so many numbers at once; rows that are no multiple end in single ones


class Portions(NamedTuple):
    """So many of such a size; the last one is filled up with copies of the last point."""

    number: int
    size: int


def portions_of(points: int, devices: int = 1) -> Portions:
    """About the size wanted, the same number for each device, with little filling; one each where there are few."""
    each = max(1, round(points / devices / _WANTED))
    if each == 1:
        return Portions(devices, math.ceil(points / devices))
    number = each * devices
    return Portions(number, math.ceil(points / number / _MULTIPLE) * _MULTIPLE)


def summed(
    function: Callable[[Any, Array | None], Any],
    sample: Any,
    points: int,
    portions: Portions,
    mesh: Mesh | None = None,
) -> Any:
    """The sum of `function(sample, weights)` over portions; leaves of `sample` are (points, ...), weights (size,)."""
    if portions.number == 1:
        return function(sample, None)
    parts = (jax.tree.map(lambda leaf: cut(leaf, portions), sample), _weights(points, portions, sample.points.dtype))

    def one_after_another(parts: Any) -> Any:
        shapes = jax.eval_shape(function, *jax.tree.map(lambda leaf: leaf[0], parts))
        start = jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)

        def add(so_far: Any, part: Any) -> tuple[Any, None]:
            return jax.tree.map(jnp.add, so_far, function(*part)), None

        total, _ = jax.lax.scan(add, start, parts)
        return total

    return one_after_another(parts) if mesh is None else summed_over(mesh, one_after_another, parts)


def mapped(function: Callable[[Array], Array], points: Array) -> Array:
    """`function` of points (N, d), row by row, with its rows in the same order."""
    portions = portions_of(points.shape[0])
    if portions.number == 1:
        return function(points)
    answers: Array = jax.lax.map(function, cut(points, portions))
    return answers.reshape(-1, *answers.shape[2:])[: points.shape[0]]


def cut(leaf: Array, portions: Portions) -> Array:
    """(points, ...) as (number, size, ...), filled up with the last row."""
    fill = portions.number * portions.size - leaf.shape[0]
    filled = jnp.concatenate([leaf, jnp.broadcast_to(leaf[-1:], (fill, *leaf.shape[1:]))]) if fill else leaf
    return filled.reshape(portions.number, portions.size, *leaf.shape[1:])


def _weights(points: int, portions: Portions, dtype: Any) -> Array | None:
    """1 for the points and 0 for the filling; None without filling."""
    size = portions.number * portions.size
    return None if size == points else (jnp.arange(size) < points).astype(dtype).reshape(portions)
