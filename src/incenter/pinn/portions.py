"""Sums over many points, a portion of them at a time, so that what a portion needs on its way stays in the cache.

sum_k w_k f(point k)  =  sum over portions of  sum_{k in portion} w_k f(point k),        w = 1, and 0 where padded
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from incenter.pinn.taylor import Array

# Points to a portion. From 500 to 2500 the time of a step hardly changes; a network with four hidden layers takes three
# times as long in one piece of 5,000.
_WANTED = 1280
_MULTIPLE = 16  # vector units take so many numbers at once; rows that are no multiple end in single ones


class Portions(NamedTuple):
    """So many of such a size; the last one is filled up with copies of the last point."""

    number: int
    size: int


def portions_of(points: int) -> Portions:
    """About the size wanted, with little filling; few points are one portion, without any."""
    number = max(1, round(points / _WANTED))
    if number == 1:
        return Portions(1, points)
    return Portions(number, math.ceil(points / number / _MULTIPLE) * _MULTIPLE)


def summed(function: Callable[[Any, Array | None], Any], sample: Any, points: int, portions: Portions) -> Any:
    """The sum of `function(sample, weights)` over portions; leaves of `sample` are (points, ...), weights (size,)."""
    if portions.number == 1:
        return function(sample, None)
    fill = portions.number * portions.size - points

    def cut(leaf: Array) -> Array:
        filled = jnp.concatenate([leaf, jnp.broadcast_to(leaf[-1:], (fill, *leaf.shape[1:]))]) if fill else leaf
        return filled.reshape(portions.number, portions.size, *leaf.shape[1:])

    weights = cut(jnp.ones(points, sample.points.dtype)).at[-1, portions.size - fill :].set(0.0) if fill else None
    parts = (jax.tree.map(cut, sample), weights)
    shapes = jax.eval_shape(function, *jax.tree.map(lambda leaf: leaf[0], parts))
    start = jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)

    def add(so_far: Any, part: Any) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, so_far, function(*part)), None

    total, _ = jax.lax.scan(add, start, parts)
    return total
