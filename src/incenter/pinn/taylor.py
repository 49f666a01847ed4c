"""Values, first derivatives and second-order operators of a network, in one pass over its layers.

A jet of k quantities at N points is a stack (streams, N, k): first the values a_0, then a_i = d_i a for each axis asked
for, then a_L = sum A_ij d_i d_j a for each operator L. A function f of the quantities at one point moves it on by

    b_0 = f(a_0)        b_i = f'(a_0) a_i        b_L = f'(a_0) a_L + sum_ij A_ij f''(a_0)[a_i, a_j]

`pushed` does so for any function, by forward differentiation of forward differentiation: what no faster way is known
for takes this one. Networks have their own, see `networks`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from incenter.pinn.operators import Needs, Operator, combination, restricted_operator

Array = jax.Array
Pointwise = Callable[[Array], Array]  # (..., k) -> (..., h), row by row


class Jet(NamedTuple):
    """The streams of one output, with the needs that say what they are."""

    needs: Needs
    streams: Array  # (streams, N)
    columns: tuple[int, ...] | None = None  # the axes that the output depends on, in the numbering of `needs`; all

    def of_columns(self, columns: tuple[int, ...]) -> "Jet":
        """The same jet for a caller who has more axes than these, on which the output does not depend."""
        return self._replace(columns=columns)

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

    def all(self, needs: Needs) -> Array:
        """(streams, N) in the order of these needs, which may be fewer than those carried."""
        if self.columns is None and needs == self.needs:
            return self.streams
        firsts = [self.first(axis) for axis in needs.axes]
        return jnp.stack([self.value(), *firsts, *(self.second(operator) for operator in needs.operators)])


def coordinates(points: Array, needs: Needs) -> Array:
    """The jet (streams, N, d) of the points themselves: unit vectors as first derivatives, no second ones."""
    units = np.zeros((needs.streams - 1, 1, points.shape[1]), points.dtype)
    for k, axis in enumerate(needs.axes):
        units[k, 0, axis] = 1.0
    return jnp.concatenate([points[None], jnp.broadcast_to(units, (needs.streams - 1, *points.shape))])


def pushed(function: Pointwise, streams: Array, needs: Needs) -> Array:
    """The jet of `function` of the quantities whose jet is `streams` (streams, N, k)."""
    value = streams[0]
    firsts = {axis: streams[needs.first(axis)] for axis in needs.axes}
    out = [function(value)]
    out += [jax.jvp(function, (value,), (firsts[axis],))[1] for axis in needs.axes]
    for k, operator in enumerate(needs.operators):
        linear = jax.jvp(function, (value,), (streams[needs.second(k)],))[1]
        out.append(linear + _curvature(function, value, firsts, operator))
    return jnp.stack(out)


def _curvature(function: Pointwise, value: Array, firsts: dict[int, Array], operator: Operator) -> Array:
    """sum_ij A_ij f''(a_0)[a_i, a_j], one inner and one outer jvp for each term."""

    def slope(at: Array, along: Array) -> Any:
        return jax.jvp(function, (at,), (along,))[1]

    terms = [
        coefficient * jax.jvp(lambda at, i=i: slope(at, firsts[i]), (value,), (firsts[j],))[1]
        for (i, j), coefficient in operator
    ]
    return jnp.asarray(sum(terms[1:], terms[0]))
