"""The networks themselves: modules that push jets through their layers (`taylor` says what a jet is).

`push(points, needs)` takes the needs of each output, None where it is not asked for, and answers with their jets. What
flows through the layers is one stack (streams, N, width), so that a layer is one matrix product; an activation s turns
z into a_0 = s(z_0), a_i = s'(z_0) z_i, a_L = s'(z_0) z_L + s''(z_0) sum_ij A_ij z_i z_j.
"""

import inspect
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from incenter.pinn.operators import Needs, restricted, union
from incenter.pinn.taylor import Array, Jet, coordinates, pushed

Activation = Callable[[Array], Array]


class Network(eqx.Module):
    """A network whose outputs share one stack of streams."""

    @abstractmethod
    def streams(self, start: Array, needs: Needs) -> Array:
        """(streams, N, outputs) from the jet (streams, N, inputs) of the inputs."""

    def from_points(self, points: Array, needs: Needs) -> Array:
        """The same where the inputs are the points themselves."""
        return self.streams(coordinates(points, needs), needs)

    def push(self, points: Array, needs: tuple[Needs | None, ...]) -> tuple[Jet | None, ...]:
        shared = union(one for one in needs if one is not None)
        streams = self.from_points(points, shared)
        return tuple(None if one is None else Jet(shared, streams[:, :, k]) for k, one in enumerate(needs))


class Dense(Network):
    """Linear layers with an activation between them; row vectors, z = a W + b."""

    weights: tuple[Array, ...]  # (inputs, width), (width, width), ..., (width, outputs)
    biases: tuple[Array, ...]
    activation: str = eqx.field(static=True)

    def streams(self, start: Array, needs: Needs) -> Array:
        last = len(self.weights) - 1
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            start = affine(start, weight, bias)
            start = start if k == last else activated(self.activation, start, needs)
        return start


class Gated(Network):
    """The modified MLP of Wang et al.: each layer blends two encodings of the inputs, H' = U + s(H W) (V - U)."""

    encoders: tuple[Dense, Dense]
    first: Dense
    hidden: tuple[Dense, ...]
    last: Dense
    activation: str = eqx.field(static=True)

    def streams(self, start: Array, needs: Needs) -> Array:
        u, v = (activated(self.activation, one.streams(start, needs), needs) for one in self.encoders)
        state = activated(self.activation, self.first.streams(start, needs), needs)
        for layer in self.hidden:
            gate = activated(self.activation, layer.streams(state, needs), needs)
            state = u + product(gate, v - u, needs)
        return self.last.streams(state, needs)


class Features(Network):
    """cos(2 pi x B), sin(2 pi x B) in front of a network; B is fixed by the recipe, not trained."""

    then: Network
    frequencies: tuple[tuple[float, ...], ...] = eqx.field(static=True)  # (inputs, features)

    def streams(self, start: Array, needs: Needs) -> Array:
        turns = 2 * np.pi * np.asarray(self.frequencies, start.dtype)

        def features(x: Array) -> Array:
            phase = x @ turns
            return jnp.concatenate([jnp.cos(phase), jnp.sin(phase)], axis=-1)

        return self.then.streams(pushed(features, start, needs), needs)


class Plain(Network):
    """Any module or function of one point: correct, by differentiation of the whole of it."""

    module: Any

    def streams(self, start: Array, needs: Needs) -> Array:
        return pushed(jax.vmap(self.module), start, needs)


class Selected(eqx.Module):
    """A network that sees only some columns of the points; derivatives along the others are zero."""

    network: Network
    columns: tuple[int, ...] = eqx.field(static=True)

    def push(self, points: Array, needs: tuple[Needs | None, ...]) -> tuple[Jet | None, ...]:
        seen = tuple(None if one is None else restricted(one, self.columns) for one in needs)
        jets = self.network.push(points[:, list(self.columns)], seen)
        return tuple(None if jet is None else jet.of_columns(self.columns) for jet in jets)


class Parallel(eqx.Module):
    """Several networks side by side, each with outputs of its own; what is not asked for is not computed."""

    branches: tuple[Any, ...]
    owned: tuple[tuple[int, ...], ...] = eqx.field(static=True)  # the outputs of each branch

    def push(self, points: Array, needs: tuple[Needs | None, ...]) -> tuple[Jet | None, ...]:
        jets: list[Jet | None] = [None] * len(needs)
        for branch, outputs in zip(self.branches, self.owned, strict=True):
            mine = tuple(needs[k] for k in outputs)
            if any(one is not None for one in mine):
                for k, jet in zip(outputs, branch.push(points, mine), strict=True):
                    jets[k] = jet
        return tuple(jets)


class Output(eqx.Module):
    """A network followed by a function of its outputs and of the coordinates, by name: hard boundary conditions."""

    network: Any
    function: Callable[..., Any] = eqx.field(static=True)
    axes: tuple[str, ...] = eqx.field(static=True)
    outputs: tuple[str, ...] = eqx.field(static=True)

    def push(self, points: Array, needs: tuple[Needs | None, ...]) -> tuple[Jet | None, ...]:
        shared = union(one for one in needs if one is not None)
        jets = self.network.push(points, (shared,) * len(self.outputs))
        inner = jnp.stack([jet.all(shared) for jet in jets], axis=-1)
        streams = pushed(self._transformed, jnp.concatenate([inner, coordinates(points, shared)], axis=-1), shared)
        return tuple(None if one is None else Jet(shared, streams[:, :, k]) for k, one in enumerate(needs))

    def _transformed(self, quantities: Array) -> Array:
        names = (*self.outputs, *self.axes)
        wanted = inspect.signature(self.function).parameters
        answer = self.function(**{name: quantities[..., names.index(name)] for name in wanted})
        answer = answer if isinstance(answer, tuple | list) else (answer,)
        return jnp.stack([jnp.broadcast_to(one, quantities.shape[:-1]) for one in answer], axis=-1)


def affine(streams: Array, weight: Array, bias: Array) -> Array:
    """a W for all streams in one product; the bias belongs to the value alone."""
    count, points, width = streams.shape
    out = (streams.reshape(count * points, width) @ weight).reshape(count, points, weight.shape[1])
    return out.at[0].add(bias)


def activated(name: str, streams: Array, needs: Needs) -> Array:
    """The jet of s(z) from that of z."""
    value, slope, curvature = ACTIVATIONS[name](streams[0])
    out = [value]
    out += [slope * streams[needs.first(axis)] for axis in needs.axes]
    for k, operator in enumerate(needs.operators):
        terms = [c * streams[needs.first(i)] * streams[needs.first(j)] for (i, j), c in operator]
        out.append(slope * streams[needs.second(k)] + curvature * sum(terms[1:], terms[0]))
    return jnp.stack(out)


def product(a: Array, b: Array, needs: Needs) -> Array:
    """The jet of the entrywise product."""
    out = [a[0] * b[0]]
    out += [a[0] * b[k] + a[k] * b[0] for k in map(needs.first, needs.axes)]
    for k, operator in enumerate(needs.operators):
        at = needs.second(k)
        pairs = [(c, needs.first(i), needs.first(j)) for (i, j), c in operator]
        out.append(a[0] * b[at] + a[at] * b[0] + sum(c * (a[i] * b[j] + a[j] * b[i]) for c, i, j in pairs))
    return jnp.stack(out)


def _tanh(z: Array) -> tuple[Array, Array, Array]:
    t = jnp.tanh(z)
    slope = 1 - t * t
    return t, slope, -2 * t * slope


def _sin(z: Array) -> tuple[Array, Array, Array]:
    s = jnp.sin(z)
    return s, jnp.cos(z), -s


def _derived(function: Activation) -> Callable[[Array], tuple[Array, Array, Array]]:
    """Any smooth entrywise function with its two derivatives."""

    def both(z: Array) -> tuple[Array, Array]:
        return jax.jvp(function, (z,), (jnp.ones_like(z),))

    def three(z: Array) -> tuple[Array, Array, Array]:
        (value, slope), (_, curvature) = jax.jvp(both, (z,), (jnp.ones_like(z),))
        return value, slope, curvature

    return three


# By name: (s, s', s'') at the same argument. `gelu` is the exact one, with the error function.
ACTIVATIONS: dict[str, Callable[[Array], tuple[Array, Array, Array]]] = {
    "tanh": _tanh,
    "sin": _sin,
    "swish": _derived(jax.nn.swish),
    "gelu": _derived(lambda z: jax.nn.gelu(z, approximate=False)),
}
