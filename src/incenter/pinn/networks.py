"""Recipes of networks: small frozen dataclasses that a problem names, and that build a module for its axes and outputs.

    MLP(width=50, depth=2)                                      `depth` hidden layers
    Branches(u=MLP(50, 4), a=MLP(50, 4, inputs=("x", "y")))     outputs with networks of their own
    Fourier(features=64, scale=1.0, then=MLP())                 fixed random Fourier features in front
    ModifiedMLP(width=50, depth=2)                              layers that blend two encodings of the point
    Transformed(MLP(), lambda u, x: x * (1 - x) * u)            boundary conditions that hold by construction

Weights are Xavier normal (variance 2 / (inputs + outputs)), biases zero. Instead of a recipe a problem may name any
function `key -> eqx.Module`, or a module, that maps one point (d,) to the outputs (k,).
"""

import inspect
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from incenter.geometry.errors import IncenterError
from incenter.pinn.activations import ACTIVATIONS
from incenter.pinn.initial import Key, children, jax_key, normal
from incenter.pinn.modules import Dense, Features, Gated, Network, Output, Parallel, Plain, Selected

Names = tuple[str, ...]


class Recipe(ABC):
    """What builds a network."""

    @abstractmethod
    def build(self, axes: Names, outputs: Names, key: Key, dtype: Any) -> Any:
        """A module with `push(points, needs)` for points with these axes; its weights are a function of the key."""


@dataclass(frozen=True)
class MLP(Recipe):
    """A multilayer perceptron."""

    width: int = 50
    depth: int = 2  # hidden layers
    activation: str = "tanh"
    inputs: Names | None = None  # the axes that it sees; all of them by default

    def __post_init__(self) -> None:
        _check_size(self, "width", self.width)
        _check_size(self, "depth", self.depth)
        _check_activation(self.activation)

    def build(self, axes: Names, outputs: Names, key: Key, dtype: Any) -> Any:
        seen = axes if self.inputs is None else _checked_inputs(self.inputs, axes)
        network = dense((len(seen), *[self.width] * self.depth, len(outputs)), self.activation, key, dtype)
        return network if seen == axes else Selected(network, tuple(axes.index(name) for name in seen))


@dataclass(frozen=True)
class ModifiedMLP(Recipe):
    """The modified multilayer perceptron of Wang, Teng and Perdikaris (2021)."""

    width: int = 50
    depth: int = 2
    activation: str = "tanh"

    def __post_init__(self) -> None:
        _check_size(self, "width", self.width)
        _check_size(self, "depth", self.depth)
        _check_activation(self.activation)

    def build(self, axes: Names, outputs: Names, key: Key, dtype: Any) -> Gated:
        keys = iter(children(key, self.depth + 4))

        def layer(inputs: int, width: int) -> Dense:
            return dense((inputs, width), self.activation, next(keys), dtype)

        return Gated(
            encoders=(layer(len(axes), self.width), layer(len(axes), self.width)),
            first=layer(len(axes), self.width),
            hidden=tuple(layer(self.width, self.width) for _ in range(self.depth)),
            last=layer(self.width, len(outputs)),
            activation=self.activation,
        )


@dataclass(frozen=True)
class Fourier(Recipe):
    """Random Fourier features (Tancik et al. 2020): Gaussian frequencies with deviation `scale`, drawn from `seed`."""

    features: int = 64
    scale: float = 1.0
    then: Recipe = field(default_factory=MLP)
    seed: int = 0  # of the frequencies: they belong to the recipe, and all runs with it share them

    def __post_init__(self) -> None:
        _check_size(self, "features", self.features)

    def build(self, axes: Names, outputs: Names, key: Key, dtype: Any) -> Features:
        drawn = self.scale * np.random.default_rng(self.seed).standard_normal((len(axes), self.features))
        then = self.then.build(tuple(f"feature {k}" for k in range(2 * self.features)), outputs, key, dtype)
        if not isinstance(then, Network):
            raise IncenterError(
                f"`Fourier(then=...)` takes a network of all features, such as MLP(50, 2); got {self.then!r}."
            )
        return Features(then, tuple(tuple(row) for row in drawn.tolist()))


class Branches(Recipe):
    """A network for each output, or for several: `Branches(u=MLP(50, 4), **{"v, p": MLP(50, 4)})`."""

    def __init__(self, **branches: Recipe) -> None:
        self.branches = tuple(branches.items())

    def build(self, axes: Names, outputs: Names, key: Key, dtype: Any) -> Parallel:
        owned = [tuple(name.strip() for name in names.split(",")) for names, _ in self.branches]
        if sorted(name for names in owned for name in names) != sorted(outputs):
            raise IncenterError(
                f"The branches {', '.join(', '.join(names) for names in owned)} are not the problem's outputs "
                f"{', '.join(outputs)}; give each output one branch."
            )
        keys = children(key, len(owned))
        recipes = [as_recipe(recipe) for _, recipe in self.branches]
        built = tuple(
            recipe.build(axes, names, one, dtype) for recipe, names, one in zip(recipes, owned, keys, strict=True)
        )
        return Parallel(built, tuple(tuple(outputs.index(name) for name in names) for names in owned))

    def __repr__(self) -> str:
        return f"Branches({', '.join(f'{names}={recipe!r}' for names, recipe in self.branches)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Branches) and self.branches == other.branches

    def __hash__(self) -> int:
        return hash(self.branches)


@dataclass(frozen=True)
class Transformed(Recipe):
    """A network and a function of its outputs and of the coordinates, by name, that gives the outputs proper."""

    network: Any
    function: Callable[..., Any]

    def build(self, axes: Names, outputs: Names, key: Key, dtype: Any) -> Output:
        unknown = [name for name in inspect.signature(self.function).parameters if name not in (*outputs, *axes)]
        if unknown:
            raise IncenterError(
                f"The output transform asks for {unknown[0]!r}; its arguments are named after "
                f"the outputs {', '.join(outputs)} and the axes {', '.join(axes)}."
            )
        return Output(as_recipe(self.network).build(axes, outputs, key, dtype), self.function, axes, outputs)


@dataclass(frozen=True)
class Custom(Recipe):
    """A module of the user's own, or a function `key -> module`, of one point (d,)."""

    source: Any

    def build(self, axes: Names, outputs: Names, key: Key, dtype: Any) -> Any:
        module = self.source if isinstance(self.source, eqx.Module) else self.source(jax_key(key))
        module = jax.tree.map(lambda leaf: leaf.astype(dtype) if eqx.is_inexact_array(leaf) else leaf, module)
        if hasattr(module, "push"):
            return module
        answer = jax.eval_shape(module, jnp.zeros(len(axes), dtype))
        if getattr(answer, "shape", None) != (len(outputs),):
            raise IncenterError(
                f"The network maps a point ({len(axes)},) to {getattr(answer, 'shape', type(answer).__name__)}; "
                f"let it answer with an array ({len(outputs)},), one entry for each of {', '.join(outputs)}."
            )
        return Plain(module)


def as_recipe(network: Any) -> Recipe:
    """A recipe from whatever a problem may name as its network; the default for None."""
    if network is None:
        return MLP()
    if isinstance(network, Recipe):
        return network
    if isinstance(network, eqx.Module) or callable(network):
        return Custom(network)
    raise IncenterError(
        f"`network` must be a recipe such as MLP(50, 2), an equinox module or a function of a key; got {network!r}."
    )


def dense(sizes: tuple[int, ...], activation: str, key: Key, dtype: Any) -> Dense:
    """Layers of these sizes, Xavier normal, with zero biases."""
    pairs = list(itertools.pairwise(sizes))
    keys = children(key, len(pairs))
    weights = tuple(
        jnp.asarray(normal(one, (rows, columns), dtype, math.sqrt(2.0 / (rows + columns))))
        for one, (rows, columns) in zip(keys, pairs, strict=True)
    )
    return Dense(weights, tuple(jnp.zeros((columns,), dtype) for _, columns in pairs), activation)


def _check_size(recipe: Recipe, name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise IncenterError(f"`{name}` of {type(recipe).__name__} must be a positive integer; got {value!r}.")


def _check_activation(name: str) -> None:
    if name not in ACTIVATIONS:
        raise IncenterError(f"`activation` must be one of {', '.join(sorted(ACTIVATIONS))}; got {name!r}.")


def _checked_inputs(inputs: Names, axes: Names) -> Names:
    missing = [name for name in inputs if name not in axes]
    if missing or not inputs:
        raise IncenterError(f"`inputs` of a network must be some of the axes {', '.join(axes)}; got {inputs!r}.")
    return tuple(inputs)
