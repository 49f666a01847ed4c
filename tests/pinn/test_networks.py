"""Every network: derivatives and gradients against nested autodiff of its plain form, and what may be asked of it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter.geometry.errors import IncenterError
from incenter.pinn.modules import Dense
from incenter.pinn.networks import MLP, Branches, Fourier, ModifiedMLP, Recipe, Transformed, as_recipe
from incenter.pinn.operators import Needs, Operator, needs_of
from tests.pinn.nested import plainly, quickly

AXES = ("x", "y", "t")
LAPLACIAN: Operator = (((0, 0), 1.0), ((1, 1), 1.0))
WAVE: Operator = (((0, 0), -0.5), ((0, 1), 0.3), ((2, 2), 1.0))
NEEDS = needs_of((2,), (LAPLACIAN, WAVE))
TOLERANCES = {32: 1e-5, 64: 1e-12}  # relative to the largest entry


class Own(eqx.Module):
    """A module of a user's own."""

    inner: eqx.nn.MLP

    def __call__(self, x: jax.Array) -> jax.Array:
        return jnp.exp(-jnp.sum(x**2)) * self.inner(jnp.sin(x))


def own(key: jax.Array) -> Own:
    return Own(eqx.nn.MLP(3, 2, 8, 2, activation=jnp.tanh, key=key))


RECIPES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "one hidden layer": (MLP(7, 1), ("u", "v")),
    "four hidden layers": (MLP(8, 4), ("u", "v")),
    "many outputs": (MLP(8, 2), tuple("abcdef")),
    "sin": (MLP(6, 2, activation="sin"), ("u", "v")),
    "gelu": (MLP(6, 2, activation="gelu"), ("u", "v")),
    "swish": (MLP(6, 2, activation="swish"), ("u", "v")),
    "masked inputs": (MLP(7, 2, inputs=("y", "x")), ("u", "v")),
    "a branch of two": (Branches(**{"a, c": MLP(6, 2), "b": MLP(5, 1, inputs=("t",))}), ("a", "b", "c")),
    "transformed": (Transformed(MLP(6, 2), lambda u, v, x, t: (x * (1 - x) * u, t * v + u * v)), ("u", "v")),
    "transformed branches": (
        Transformed(Branches(u=MLP(6, 2), v=MLP(5, 2, inputs=("x", "y"))), lambda u, v, y: (y * u, v)),
        ("u", "v"),
    ),
    "modified": (ModifiedMLP(6, 1), ("u", "v")),
    "own": (own, ("u", "v")),
    "Fourier, modified": (Fourier(features=3, scale=0.3, then=ModifiedMLP(5, 2)), ("u", "v")),
}


def built(name: str, dtype: Any) -> Any:
    """A network with biases that are not zero."""
    recipe, outputs = RECIPES[name]
    network = as_recipe(recipe).build(AXES, outputs, jax.random.key(0), dtype)
    arrays, rest = eqx.partition(network, eqx.is_array)
    draws = np.random.default_rng(0)
    moved = jax.tree.map(lambda leaf: leaf + 0.1 * draws.normal(size=leaf.shape).astype(leaf.dtype), arrays)
    return eqx.combine(moved, rest)


def in_precision(network: Any, dtype: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf.astype(dtype) if eqx.is_array(leaf) else leaf, network)


def some_points() -> jax.Array:
    """(N, d), with coordinates that single precision holds exactly."""
    return jnp.asarray(np.random.default_rng(3).integers(-64, 65, (20, 3)) / 64)


def by_jets(network: Any, points: jax.Array, count: int) -> jax.Array:
    """All that NEEDS names, (outputs, streams, N)."""
    jets = network.push(points, (NEEDS,) * count)
    return jnp.stack([jnp.stack(jet.all(NEEDS)) for jet in jets])


def by_nesting(network: Any, points: jax.Array) -> jax.Array:
    plain = plainly(network)
    value, slope = jax.vmap(plain)(points), jax.vmap(jax.jacrev(plain))(points)  # (N, k), (N, k, d)
    bent = jax.vmap(jax.hessian(plain))(points)  # (N, k, d, d)
    rows = [value, *(slope[:, :, axis] for axis in NEEDS.axes)]
    rows += [sum(c * bent[:, :, i, j] for (i, j), c in operator) for operator in NEEDS.operators]
    return jnp.stack(rows).transpose(2, 0, 1)


def mixed_loss(streams: jax.Array) -> jax.Array:
    """Some loss in which every stream has its part, and none alone."""
    scales = jnp.arange(1, streams.shape[1] + 1, dtype=streams.dtype)[None, :, None]
    return jnp.mean(jnp.sin(streams / scales)) + jnp.mean(streams[:, 0] * jnp.sum(streams, axis=1)) / 10


def differentiated(streams: Callable[[Any], jax.Array], network: Any) -> Any:
    """(loss, streams), gradient."""
    arrays, rest = eqx.partition(network, eqx.is_array)

    def loss(arrays: Any) -> tuple[jax.Array, jax.Array]:
        found = streams(eqx.combine(arrays, rest))
        return mixed_loss(found), found

    return quickly(jax.value_and_grad(loss, has_aux=True))(arrays)


def norm(tree: Any) -> float:
    return float(np.sqrt(sum(np.sum(np.square(np.asarray(leaf, np.float64))) for leaf in jax.tree.leaves(tree))))


@pytest.mark.parametrize("name", RECIPES)
def test_streams_and_gradients_are_those_of_nested_autodiff(name: str) -> None:
    count, points = len(RECIPES[name][1]), some_points()
    with jax.enable_x64(False):
        narrow = built(name, jnp.float32)
    wide = in_precision(narrow, jnp.float64)
    (value, theirs), forth = differentiated(lambda net: by_nesting(net, points), wide)
    for precision, network in ((32, narrow), (64, wide)):
        with jax.enable_x64(precision == 64):
            here = jnp.asarray(points, f"float{precision}")
            (mine, ours), back = differentiated(partial(by_jets, points=here, count=count), network)
        assert ours.dtype == here.dtype
        close = TOLERANCES[precision]
        error = np.abs(np.asarray(ours, np.float64) - np.asarray(theirs)).max(axis=(0, 2))
        assert (error <= close * np.abs(np.asarray(theirs)).max(axis=(0, 2))).all()
        assert abs(mine - value) <= close * abs(value)
        difference = jax.tree.map(lambda one, two: np.asarray(one, np.float64) - np.asarray(two), back, forth)
        assert norm(difference) <= close * norm(forth)


def test_xavier_weights_and_zero_biases() -> None:
    network = MLP(400, 2).build(AXES, ("u",), jax.random.key(1), jnp.float64)
    assert isinstance(network, Dense)
    assert all(not bias.any() for bias in network.biases)
    for weight in network.weights[:2]:
        rows, columns = weight.shape
        spread = float(np.std(np.asarray(weight)))
        assert abs(spread / np.sqrt(2 / (rows + columns)) - 1) < 5 / np.sqrt(2 * rows * columns)
    assert not np.array_equal(network.weights[1][0], network.weights[1][1])


def test_a_branch_computes_what_is_asked_of_it_only() -> None:
    """The other branch has NaN parameters: touching it would show."""
    network = Branches(u=MLP(6, 2), v=MLP(6, 2)).build(AXES, ("u", "v"), jax.random.key(0), jnp.float64)
    broken = jax.tree.map(lambda leaf: leaf * jnp.nan, network.branches[1])
    network = eqx.tree_at(lambda net: net.branches[1], network, broken)
    u, v = network.push(some_points(), (Needs(), None))
    assert v is None
    assert np.isfinite(u.value()).all()


def test_derivatives_along_unseen_axes_are_zero() -> None:
    network = MLP(6, 2, inputs=("x", "y")).build(AXES, ("a",), jax.random.key(0), jnp.float64)
    (jet,) = network.push(some_points(), (needs_of((2,), ((((2, 2), 1.0),), LAPLACIAN)),))
    assert not jet.first(2).any()
    assert not jet.second((((2, 2), 1.0),)).any()
    assert jet.second(LAPLACIAN).any()


def test_frequencies_belong_to_the_recipe() -> None:
    recipe = Fourier(features=4, then=MLP(5, 1))
    one, two = (recipe.build(AXES, ("u",), jax.random.key(seed), jnp.float64) for seed in (0, 1))
    assert one.frequencies == two.frequencies
    assert (
        Fourier(features=4, then=MLP(5, 1), seed=1).build(AXES, ("u",), jax.random.key(0), jnp.float64).frequencies
        != one.frequencies
    )


def test_recipes_compare_by_what_they_say() -> None:
    assert Branches(u=MLP(5, 1)) == Branches(u=MLP(5, 1)) != Branches(u=MLP(6, 1))
    assert hash(Branches(u=MLP(5, 1))) == hash(Branches(u=MLP(5, 1)))
    assert repr(Branches(u=MLP(5, 1))).startswith("Branches(u=MLP(")
    assert as_recipe(None) == MLP(50, 2)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: MLP(width=0), "`width` of MLP must be a positive integer; got 0."),
        (lambda: MLP(depth=1.5), "`depth` of MLP must be a positive integer"),  # type: ignore[arg-type]
        (lambda: ModifiedMLP(depth=True), "`depth` of ModifiedMLP"),
        (lambda: MLP(activation="relu"), "one of gelu, sin, swish, tanh; got 'relu'"),
        (lambda: build(MLP(inputs=("z",))), r"some of the axes x, y, t; got \('z',\)"),
        (lambda: build(Branches(v=MLP())), "branches v are not the problem's outputs u"),
        (lambda: build(Transformed(MLP(), lambda w: w)), "asks for 'w'.*outputs u and the axes x, y, t"),
        (lambda: build(Fourier(then=MLP(inputs=("x",)))), "some of the axes"),
        (lambda: build(as_recipe(lambda _: lambda x: x)), r"maps a point \(3,\) to \(3,\)"),
        (lambda: as_recipe(3), "`network` must be a recipe such as MLP"),
    ],
)
def test_wrong_recipes_get_one_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(IncenterError, match=sentence):
        make()


def build(recipe: Recipe) -> Any:
    return recipe.build(AXES, ("u",), jax.random.key(0), jnp.float64)
