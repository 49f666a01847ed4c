"""Fields: what they record, what stays symbolic, how they behave as arrays, and what is said of wrong names."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incenter.geometry.errors import IncenterError
from incenter.pinn.fields import Field
from incenter.pinn.operators import Needs, Operator
from incenter.pinn.recording import Recorder
from tests.pinn.nested import Nested
from tests.pinn.test_networks import built

AXES = ("x", "y", "t")
LAPLACIAN: Operator = (((0, 0), 1.0), ((1, 1), 1.0))
POINTS = jnp.asarray(np.random.default_rng(5).uniform(-1, 1, (6, 3)))


def needs(residual: Callable[[Field], Any]) -> Needs:
    """What a residual of one output asks for."""
    recorder = Recorder(AXES, POINTS, None)
    jnp.asarray(residual(Field("u", recorder)))
    return recorder.needs().get("u", Needs())


@pytest.mark.parametrize(
    ("residual", "axes", "operators"),
    [
        (lambda u: u, (), 0),
        (lambda u: u.t, (2,), 0),
        (lambda u: u.t - u.lap, (0, 1, 2), 1),
        (lambda u: u.t - u.xx - u.yy, (0, 1, 2), 1),
        (lambda u: u.tt - u.xx, (0, 2), 1),
        (lambda u: 3 * (u.xx / 2 + u.yy * 0.5) - u.yy + u.yy, (0, 1), 1),
        (lambda u: -(0.1 / np.pi) * u.xx + u * u.x, (0,), 1),
        (lambda u: np.float64(2) * u.xx - np.float32(1) * u.yy, (0, 1), 1),
        (lambda u: jnp.sin(u.at.x) * u.xx + u.yy, (0, 1), 2),
        (lambda u: u * u.lap + u.xx * u + u.yy * u, (0, 1), 2),
        (lambda u: u.lap**2 + (2 * u.lap) * u, (0, 1), 1),
        (lambda u: u.xy + u.yx, (0, 1), 1),
        (lambda u: u.xx - u.xx, (), 0),
        (lambda u: 0 * u.lap, (), 0),
    ],
)
def test_as_few_streams_as_possible(residual: Any, axes: tuple[int, ...], operators: int) -> None:
    found = needs(residual)
    assert found.axes == axes
    assert len(found.operators) == operators


def test_operators_are_recorded_up_to_their_scale() -> None:
    assert needs(lambda u: -0.01 * u.lap).operators == (LAPLACIAN,)


NUMBERS = st.floats(-4, 4).filter(lambda number: number == 0 or abs(number) > 1e-3)
ATOMS = ("u.xx", "u.yy", "u.tt", "u.xy", "u.xt", "u.lap", "u.x", "u", "u.at.y")


class Tabled:
    """A source with a number for everything."""

    axes: tuple[str, ...] = AXES
    points: jax.Array = POINTS
    normals: jax.Array | None = None

    def __init__(self) -> None:
        draws = np.random.default_rng(1)
        self._value, self._slopes, self._bent = (jnp.asarray(draws.normal(size=(*k, 6))) for k in ((), (3,), (3, 3)))

    def value(self, output: str) -> jax.Array:
        return self._value

    def first(self, output: str, axis: int) -> jax.Array:
        return self._slopes[axis]

    def second(self, output: str, operator: Operator) -> jax.Array:
        return jnp.asarray(sum(coefficient * self._bent[i, j] for (i, j), coefficient in operator))


@given(st.lists(st.tuples(NUMBERS, st.sampled_from(ATOMS), st.booleans()), min_size=1, max_size=8), NUMBERS)
@settings(max_examples=100, deadline=None)
def test_linear_combinations_have_the_value_of_their_parts(parts: list[tuple[float, str, bool]], scale: float) -> None:
    """Symbolically and part by part; and together they are one operator at most."""

    def residual(u: Field) -> Any:
        total: Any = u
        for number, atom, minus in parts:
            part = number * eval(atom, {"u": u})
            total = total - part if minus else total + part
        return scale * total

    u = Field("u", Tabled())
    values = {atom: np.asarray(eval(atom, {"u": u})) for atom in ATOMS}
    signs = [(-number if minus else number, values[atom]) for number, atom, minus in parts]
    expected = scale * sum((number * value for number, value in signs), start=values["u"])
    size = abs(scale) * sum((abs(number) * abs(value) for number, value in signs), start=abs(values["u"]))
    assert (np.abs(np.asarray(residual(u)) - expected) <= 1e-13 * size).all()
    assert len(needs(residual).operators) <= 1


NETWORK = built("many outputs", jnp.float64)


def test_a_field_is_an_array_wherever_one_is_wanted() -> None:
    u: Any = Field("u", Nested(NETWORK, AXES, ("u", "v"), POINTS, None))
    value = np.asarray(u)
    assert u.shape == (6,)
    assert u.dtype == jnp.float64
    for mine, plain in [
        (jnp.sin(u), np.sin(value)),
        (jnp.where(u > 0, u, -u), np.abs(value)),
        (jnp.stack([u, 1 - u])[1], 1 - value),
        (jax.nn.relu(u), np.maximum(value, 0)),
        (2**u, 2**value),
        (1 / (u + 3), 1 / (value + 3)),
        (+u - abs(u), value - np.abs(value)),
        (jnp.exp(u.lap), np.exp(np.asarray(u.lap))),
        (u[1:3], value[1:3]),
    ]:
        assert np.allclose(mine, plain, rtol=1e-14, atol=1e-14)


def test_the_normal_derivative_leaves_time_out() -> None:
    normals = jnp.asarray(np.random.default_rng(0).normal(size=(6, 3)))
    u: Any = Field("u", Nested(NETWORK, AXES, ("u", "v"), POINTS, normals))
    expected = np.asarray(u.x * normals[:, 0] + u.y * normals[:, 1])
    assert np.allclose(u.normal, expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize(
    ("residual", "sentence"),
    [
        (lambda u: u.z, "`u.z` is no derivative on a domain with the axes x, y, t; write `u.x`"),
        (lambda u: u.xz, "`u.xz` is no derivative"),
        (lambda u: u.xxx, "`u.xxx` is a derivative of order 3.*another output"),
        (lambda u: u.at.z, "`u.at.z` is no coordinate.*`u.at.x`"),
        (lambda u: u.normal, "`u.normal` needs a boundary.*Boundary term"),
    ],
)
def test_wrong_names_get_one_sentence(residual: Any, sentence: str) -> None:
    with pytest.raises(IncenterError, match=sentence):
        needs(residual)


def test_an_operator_that_was_not_foreseen_is_an_error() -> None:
    (jet,) = NETWORK.push(POINTS, (Needs((0,), ((((0, 0), 1.0),),)),) + (None,) * 5)[:1]
    with pytest.raises(IncenterError, match="only when it was evaluated"):
        jet.second(LAPLACIAN)
