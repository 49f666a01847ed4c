"""Values, first derivatives and second-order operators of a network, in one pass over its layers.

A jet of k quantities at N points is a tuple of streams (k, N): first the values a_0, then a_i = d_i a for each axis
asked for, then a_L = sum_ij A_ij d_i d_j a for each operator L. A function f of the quantities at a point makes of it

    b_0 = f(a_0)        b_i = f'(a_0) a_i        b_L = f'(a_0) a_L + sum_ij A_ij f''(a_0)[a_i, a_j]

`pushed` does so for any function, by forward differentiation of forward differentiation: what no faster way is known
for takes this one. Layers have their own, see `layers`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from incenter.pinn.operators import Needs, Operator, combination, restricted_operator

Array = jax.Array
Streams = tuple[Array, ...]  # (k, N) each, in the order of some `Needs`
Pointwise = Callable[[Array], Array]  # (k, N) -> (h, N), column by column


class Jet(NamedTuple):
    """The streams of one output, (N,) each, with the needs that say what they are."""

    needs: Needs
    streams: Streams
    columns: tuple[int, ...] | None = None  # the axes of the caller that `needs` counts through; None for all of them

    def value(self) -> Array:
        """(N,)"""
        return self.streams[0]

    def first(self, axis: int) -> Array:
        """(N,), the derivative along one axis."""
        if self.columns is None:
            return self.streams[self.needs.first(axis)]
        if axis not in self.columns:
            return jnp.zeros_like(self.streams[0])
        return self.streams[self.needs.first(self.columns.index(axis))]

    def second(self, operator: Operator) -> Array:
        """(N,), any operator in the span of those carried."""
        scale, seen = (1.0, operator) if self.columns is None else restricted_operator(operator, self.columns)
        if not seen:
            return jnp.zeros_like(self.streams[0])
        parts = enumerate(scale * combination(seen, self.needs.operators))
        terms = [float(c) * self.streams[self.needs.second(k)] for k, c in parts if c != 0.0]
        return jnp.asarray(sum(terms[1:], terms[0]))

    def all(self, needs: Needs) -> Streams:
        """The streams in the order of these needs, which may be fewer than those carried."""
        firsts = (self.first(axis) for axis in needs.axes)
        return (self.value(), *firsts, *(self.second(operator) for operator in needs.operators))


def coordinates(points: Array, needs: Needs) -> Streams:
    """The jet of the points (N, d) themselves: unit vectors as first derivatives, no second ones."""
    value = points.T
    firsts = (jnp.zeros_like(value).at[axis].set(1.0) for axis in needs.axes)
    return (value, *firsts, *(jnp.zeros_like(value) for _ in needs.operators))


def pushed(function: Pointwise, streams: Streams, needs: Needs) -> Streams:
    """The jet of `function` of the quantities that have these streams."""
    value = streams[0]
    firsts = {axis: streams[needs.first(axis)] for axis in needs.axes}
    out = [function(value)]
    out += [jax.jvp(function, (value,), (firsts[axis],))[1] for axis in needs.axes]
    for k, operator in enumerate(needs.operators):
        linear = jax.jvp(function, (value,), (streams[needs.second(k)],))[1]
        out.append(linear + _curvature(function, value, firsts, operator))
    return tuple(out)


def _curvature(function: Pointwise, value: Array, firsts: dict[int, Array], operator: Operator) -> Array:
    """sum_ij A_ij f''(a_0)[a_i, a_j], one inner and one outer jvp for each term."""

    def slope(at: Array, along: Array) -> Any:
        return jax.jvp(function, (at,), (along,))[1]

    terms = [
        coefficient * jax.jvp(lambda at, i=i: slope(at, firsts[i]), (value,), (firsts[j],))[1]
        for (i, j), coefficient in operator
    ]
    return jnp.asarray(sum(terms[1:], terms[0]))
