"""Activation functions s with the derivatives that jets ask for: s' and s'' forward, s''' too on the way back."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from incenter.pinn.taylor import Array

Saved = tuple[Array, ...]
Orders = tuple[Array, Array, Array, Array]  # s, s', s'', s''', entry by entry


class Activation(NamedTuple):
    """What is kept of z for the way back, and the derivatives from what is kept."""

    save: Callable[[Array], Saved]
    orders: Callable[[Saved], Orders]

    def __call__(self, z: Array) -> tuple[Array, Array, Array]:
        """s, s', s'' at z."""
        return self.orders(self.save(z))[:3]


def _tanh_orders(saved: Saved) -> Orders:
    (t,) = saved
    slope = 1 - t * t
    return t, slope, -2 * t * slope, (6 * t * t - 2) * slope


def _sin_orders(saved: Saved) -> Orders:
    sine, cosine = saved
    return sine, cosine, -sine, -cosine


def _derived(function: Callable[[Array], Array]) -> Activation:
    """Any smooth entrywise function."""

    def slope(z: Array) -> Array:
        along: Array = jax.jvp(function, (z,), (jnp.ones_like(z),))[1]
        return along

    def two(z: Array) -> tuple[Array, Array]:
        return jax.jvp(slope, (z,), (jnp.ones_like(z),))

    def orders(saved: Saved) -> Orders:
        (z,) = saved
        (first, second), (_, third) = jax.jvp(two, (z,), (jnp.ones_like(z),))
        return function(z), first, second, third

    return Activation(lambda z: (z,), orders)


# `gelu` is the exact one, with the error function.
ACTIVATIONS: dict[str, Activation] = {
    "tanh": Activation(lambda z: (jnp.tanh(z),), _tanh_orders),
    "sin": Activation(lambda z: (jnp.sin(z), jnp.cos(z)), _sin_orders),
    "swish": _derived(jax.nn.swish),
    "gelu": _derived(lambda z: jax.nn.gelu(z, approximate=False)),
}
