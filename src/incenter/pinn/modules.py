"""The networks themselves: modules that push jets through their layers (`taylor` says what a jet is).

`push(points, needs)` takes the needs of each output, None where it is not asked for, and answers with their jets. It
treats each point by itself, so that points may come in any portions.
"""

import inspect
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from incenter.pinn import layers
from incenter.pinn.layers import activated, affine, product, settled
from incenter.pinn.operators import Needs, restricted, union
from incenter.pinn.taylor import Array, Jet, Streams, coordinates, pushed


class Network(eqx.Module):
    """A network whose outputs share one stack of streams."""

    @abstractmethod
    def streams(self, start: Streams, needs: Needs) -> Streams:
        """The jet of the outputs (outputs, N) from that of the inputs (inputs, N)."""

    def from_points(self, points: Array, needs: Needs) -> Streams:
        """The same where the inputs are the points (N, inputs) themselves."""
        return self.streams(coordinates(points, needs), needs)

    def push(self, points: Array, needs: tuple[Needs | None, ...]) -> tuple[Jet | None, ...]:
        shared = union(one for one in needs if one is not None)
        return as_jets(settled(self.from_points(points, shared)), shared, needs)


class Dense(Network):
    """Linear layers with an activation between them; row vectors, z = a W + b."""

    weights: tuple[Array, ...]  # (inputs, width), (width, width), ..., (width, outputs)
    biases: tuple[Array, ...]
    activation: str = eqx.field(static=True)

    def streams(self, start: Streams, needs: Needs) -> Streams:
        return self._onward(affine(start, self.weights[0], self.biases[0]), 1, needs)

    def from_points(self, points: Array, needs: Needs) -> Streams:
        if len(self.weights) == 1:
            return super().from_points(points, needs)
        (first, second), (one, two) = self.weights[:2], self.biases[:2]
        start = layers.from_points(points, (first, second), (one, two), self.activation, needs)
        return self._onward(start, 2, needs)

    def _onward(self, z: Streams, layer: int, needs: Needs) -> Streams:
        """From the streams in front of an activation, through the layers from there on."""
        for weight, bias in zip(self.weights[layer:], self.biases[layer:], strict=True):
            z = affine(activated(self.activation, needs, z), weight, bias)
        return z


class Gated(Network):
    """The modified MLP of Wang et al.: each layer blends two encodings of the inputs, H' = U + s(H W) (V - U)."""

    encoders: tuple[Dense, Dense]
    first: Dense
    hidden: tuple[Dense, ...]
    last: Dense
    activation: str = eqx.field(static=True)

    def streams(self, start: Streams, needs: Needs) -> Streams:
        def passed(layer: Dense, streams: Streams) -> Streams:
            return activated(self.activation, needs, layer.streams(streams, needs))

        u, v = (passed(one, start) for one in self.encoders)
        across = tuple(there - here for here, there in zip(u, v, strict=True))
        state = passed(self.first, start)
        for layer in self.hidden:
            blended = product(passed(layer, state), across, needs)
            state = tuple(here + part for here, part in zip(u, blended, strict=True))
        return self.last.streams(state, needs)


class Features(Network):
    """cos(2 pi x B), sin(2 pi x B) in front of a network; B is fixed by the recipe, not trained."""

    then: Network
    frequencies: tuple[tuple[float, ...], ...] = eqx.field(static=True)  # (inputs, features)

    def streams(self, start: Streams, needs: Needs) -> Streams:
        turns = 2 * np.pi * np.asarray(self.frequencies, start[0].dtype).T

        def features(x: Array) -> Array:
            phase = turns @ x
            return jnp.concatenate([jnp.cos(phase), jnp.sin(phase)])

        return self.then.streams(pushed(features, start, needs), needs)


class Plain(Network):
    """Any module or function of one point: correct, by differentiation of the whole of it."""

    module: Any

    def streams(self, start: Streams, needs: Needs) -> Streams:
        return pushed(jax.vmap(self.module, in_axes=1, out_axes=1), start, needs)


class Selected(eqx.Module):
    """A network that sees only some columns of the points; derivatives along the others are zero."""

    network: Network
    columns: tuple[int, ...] = eqx.field(static=True)

    def push(self, points: Array, needs: tuple[Needs | None, ...]) -> tuple[Jet | None, ...]:
        seen = tuple(None if one is None else restricted(one, self.columns) for one in needs)
        jets = self.network.push(points[:, list(self.columns)], seen)
        return tuple(None if jet is None else jet._replace(columns=self.columns) for jet in jets)


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
        inner = [jet.all(shared) for jet in jets]
        start = tuple(
            jnp.concatenate([jnp.stack(rows), place])
            for rows, place in zip(zip(*inner, strict=True), coordinates(points, shared), strict=True)
        )
        return as_jets(pushed(self._transformed, start, shared), shared, needs)

    def _transformed(self, quantities: Array) -> Array:
        names = (*self.outputs, *self.axes)
        wanted = inspect.signature(self.function).parameters
        answer = self.function(**{name: quantities[names.index(name)] for name in wanted})
        answer = answer if isinstance(answer, tuple | list) else (answer,)
        return jnp.stack([jnp.broadcast_to(one, quantities.shape[1:]) for one in answer])


def as_jets(streams: Streams, shared: Needs, needs: tuple[Needs | None, ...]) -> tuple[Jet | None, ...]:
    """One jet for each output that is asked for, all with the streams that they share."""
    return tuple(
        None if one is None else Jet(shared, tuple(stream[k] for stream in streams)) for k, one in enumerate(needs)
    )
