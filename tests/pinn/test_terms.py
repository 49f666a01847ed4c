"""Terms: what they draw, and what they make of what a residual returns."""

# ruff: noqa: ARG005  (functions are called by the names of their parameters, used or not)
import functools
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError
from incenter.pinn import Boundary, Box, Data, Disc, Initial, Interior, Periodic, Sample, fixed, sobol
from tests.pinn.spread import assert_fits

BURGERS = Box(x=(-1, 1), t=(0, 1))
HOLED = (Box(x=(-1, 1), y=(-1, 1)) - Disc((0, 0), 0.5)) * Box(t=(0, 2))


def nothing(u: Any) -> Any:
    return u


OBSERVED = np.random.default_rng(0).uniform(0, 1, (30, 2))
EACH = {
    "interior": (BURGERS, Interior(200, nothing)),
    "sobol": (BURGERS, Interior(200, nothing, sobol)),
    "boundary": (BURGERS, Boundary(50, nothing)),
    "initial": (BURGERS, Initial(50, nothing)),
    "periodic": (BURGERS, Periodic(50, lambda left: left)),
    "data": (BURGERS, Data(OBSERVED, OBSERVED[:, 0], lambda u, value: u - value, count=10)),
    "holed": (HOLED, Interior(200, nothing)),
    "its boundary": (HOLED, Boundary(50, nothing)),
    "its start": (HOLED, Initial(50, nothing)),
}


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("name", EACH)
def test_draws_are_functions_of_the_key_compiled_or_not(name: str, dtype: Any) -> None:
    domain, term = EACH[name]
    plain = term.draw(domain, (3, 70, 1), dtype)
    compiled: Any = jax.jit(lambda seed, step: term.draw(domain, (seed, step, 1), dtype))
    larger: Any = jax.jit(lambda seed, step: (term.draw(domain, (seed, step, 1), dtype), jnp.sin(seed + step)))
    assert _same(compiled(3, 70), plain)
    assert _same(larger(3, 70)[0], plain)
    assert plain.points.shape == (term.size, len(domain.axes))
    assert all(array.dtype == dtype for array in jax.tree.leaves(plain))
    assert not _same(compiled(3, 71), plain)
    assert not _same(compiled(4, 70), plain)


def _same(one: Sample, two: Sample) -> bool:
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


def test_seeds_of_any_size_are_seeds() -> None:
    draws = [Interior(5, nothing).draw(BURGERS, (seed, 0, 0), jnp.float32) for seed in (0, 2**31, 2**63 - 1, -1)]
    assert len({float(draw.points[0, 0]) for draw in draws}) == 4


def test_known_points() -> None:
    """Draws must not change between versions: a run is a function of its seed."""
    points = Interior(2, nothing).draw(Box(x=(0, 1), t=(0, 1)), (0, 1, 2), jnp.float32).points
    np.testing.assert_array_equal(np.asarray(points) * 2.0**24, [[15402389, 6953372], [2788693, 8739453]])


def test_a_fixed_sampler_stays() -> None:
    term = Boundary(20, nothing, on="x", sampler=fixed)
    assert _same(term.draw(BURGERS, (0, 5, 1), jnp.float32), term.draw(BURGERS, (0, 77, 1), jnp.float32))


def test_initial_points_lie_at_the_start_of_time() -> None:
    sample = Initial(2000, nothing).draw(Box(x=(-1, 1), t=(0.5, 3)), (0, 1, 2), jnp.float64)
    assert np.all(sample.points[:, 1] == 0.5)
    assert sample.normals is None
    assert_fits(np.histogram(sample.points[:, 0], bins=10, range=(-1, 1))[0], np.full(10, 0.1))
    inside = np.asarray(Initial(2000, nothing).draw(HOLED, (0, 1, 2), jnp.float64).points)
    assert np.all(inside[:, 2] == 0)
    assert np.all(np.hypot(inside[:, 0], inside[:, 1]) >= 0.5)


def test_an_initial_slice_of_a_union_in_time_has_every_start() -> None:
    later = Box(x=(0, 1), t=(0, 1)) | Box(x=(1, 2), t=(0.5, 1))
    points = np.asarray(Initial(4000, nothing).draw(later, (0, 1, 2), jnp.float64).points)
    assert np.all(points[:, 1] == np.where(points[:, 0] < 1, 0.0, 0.5))
    assert_fits(np.histogram(points[:, 0], bins=10, range=(0, 2))[0], np.full(10, 0.1))


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_periodic_partners_match_exactly(dtype: Any) -> None:
    domain = Box(x=(-0.1, 0.3), y=(0.2, 0.7), t=(0, 1))
    sample = Periodic(100, lambda left: left, on="x").draw(domain, (0, 1, 2), dtype)
    points, partners = np.asarray(sample.points), np.asarray(sample.partners)
    np.testing.assert_array_equal(points[:, 1:], partners[:, 1:])
    assert np.all(points[:, 0] == dtype(-0.1))
    assert np.all(partners[:, 0] == dtype(0.3))
    both = Periodic(100, lambda left: left, on=("x", "y")).draw(domain, (0, 1, 2), dtype)
    moved = np.asarray(both.points != both.partners)
    assert moved.sum(axis=0).tolist() == [50, 50, 0]
    assert np.all(np.asarray(both.partners)[moved[:, 1], 1] == dtype(0.7))


def test_a_cylinder_is_periodic_along_its_axis() -> None:
    cylinder = Disc((0, 0), 1) * Box(z=(0, 2))
    term = Periodic(100, lambda left: left, on="z")
    term.check(cylinder)
    sample = term.draw(cylinder, (0, 1, 2), jnp.float64)
    np.testing.assert_array_equal(sample.points[:, :2], sample.partners[:, :2])
    assert np.all(sample.points[:, 2] == 0)
    assert np.all(sample.partners[:, 2] == 2)


def test_data_are_all_there_or_each_as_likely_as_any_other() -> None:
    points, values = OBSERVED, np.arange(30.0)
    every = Data(points, values, lambda u, value: u - value)
    sample = every.draw(BURGERS, (0, 1, 2), jnp.float64)
    np.testing.assert_array_equal(sample.points, points)
    np.testing.assert_array_equal(sample.values, values)
    some = Data(points, values, lambda u, value: u - value, count=7)
    assert (every.size, some.size) == (30, 7)
    draw: Any = jax.vmap(lambda step: some.draw(BURGERS, (0, step, 2), jnp.float64))
    drawn = draw(jnp.arange(6000))
    np.testing.assert_array_equal(drawn.points, points[np.asarray(drawn.values, int)])
    assert_fits(np.bincount(np.asarray(drawn.values, int).ravel(), minlength=30), np.full(30, 1 / 30))
    assert np.all(np.diff(drawn.values, axis=1) >= 0)


def test_the_residual_gets_what_it_names() -> None:
    sample = Sample(jnp.zeros((3, 2)), values=jnp.array([1.0, 2.0, 3.0]))
    names = {"u": jnp.ones(3), "v": jnp.full(3, 5.0), "nu": jnp.asarray(2.0)}
    one = Interior(3, lambda v, nu, scale=10.0: v * nu * scale)
    assert one.arguments == ("v", "nu")
    (equation,) = one.components(names, sample)
    np.testing.assert_array_equal(equation, [100.0] * 3)
    data = Data(np.zeros((3, 2)), [1, 2, 3], lambda u, value: (u - value, u + value))
    np.testing.assert_array_equal(jnp.stack(data.components(names, sample)), [[0, -1, -2], [2, 3, 4]])
    partial = Interior(3, functools.partial(lambda u, k: u * k, k=3))
    assert partial.arguments == ("u",)


RETURNS: list[tuple[Any, str]] = [
    (lambda u: u[:, None], "equation 0 has shape (3, 1) at 3 points; return one number per point, shape (3,)"),
    (lambda u: jnp.mean(u), "equation 0 has shape () at 3 points"),
    (lambda u: (u, u[:2]), "equation 1 has shape (2,) at 3 points"),
    (lambda u: (), "returns an empty tuple"),
    (lambda u: None, "returns NoneType as equation 0"),
    (lambda u: {"a": u}, "returns dict as equation 0"),
    (lambda u: u > 0, "equation 0 has dtype bool; return real floating-point numbers."),
    (lambda u: u * 1j, "equation 0 has dtype complex128"),
]


@pytest.mark.parametrize(("residual", "sentence"), RETURNS)
def test_what_a_residual_may_not_return(residual: Any, sentence: str) -> None:
    with pytest.raises(IncenterError, match=re.escape(sentence)):
        Interior(3, residual).components({"u": jnp.ones(3)}, Sample(jnp.zeros((3, 2))))


CHECKS: list[tuple[Callable[[], Any], str]] = [
    (lambda: Interior(-3, nothing), "points of Interior must be a whole number, at least 1; got -3."),
    (lambda: Interior(0, nothing), "got 0."),
    (lambda: Boundary(2.5, nothing), "points of Boundary must be a whole number, at least 1; got 2.5."),  # type: ignore[arg-type]
    (lambda: Initial(True, nothing), "got True."),
    (lambda: Periodic("9", nothing), "got '9'."),  # type: ignore[arg-type]
    (lambda: Interior(nothing, 9), "points of Interior must be a whole number"),  # type: ignore[arg-type]
    (lambda: Interior(9, 9), "residual of Interior must be a function, such as lambda u: u.x; got 9"),  # type: ignore[arg-type]
    (lambda: Interior(9, lambda *all: all), "takes its arguments by name, and *all has none"),
    (lambda: Interior(9, lambda u, /: u), "takes its arguments by name, and u has none"),
    (lambda: Interior(9, nothing, "sobol"), "`sampler` must be uniform, sobol, fixed or Adaptive(); got 'sobol'."),  # type: ignore[arg-type]
    (lambda: Boundary(9, nothing, sobol), '`on` must name sides, such as "x" or ("x", "y-"); got Sobol().'),  # type: ignore[arg-type]
    (lambda: Boundary(9, nothing, on=()), "`on` must name sides"),
    (lambda: Periodic(9, nothing, on=("x", 1)), "`on` must name sides"),  # type: ignore[arg-type]
    (lambda: Initial(9, nothing).check(Box(x=(0, 1))), "Initial needs a time axis called t, and Box(x=(0, 1)) has x"),
    (lambda: Boundary(9, nothing, on="z").check(BURGERS), "on='z' names no side of Box(x=(-1, 1), t=(0, 1))"),
    (lambda: Boundary(1, nothing).check(BURGERS), "Boundary has 1 points for 2 faces (x-, x+); give it at least 2"),
    (
        lambda: Periodic(9, nothing, on="z").check(BURGERS),
        "and Box(x=(-1, 1), t=(0, 1)) has none; it has them across x, t",
    ),
    (lambda: Periodic(9, nothing).check(Disc((0, 0), 1)), "needs two whole faces across x"),
    (lambda: Periodic(9, nothing).check(HOLED), "it has them across t"),
    (lambda: Data([[0, 0]], [1, 2], nothing), "The values of Data have shape (2,) and its points are 1"),
    (
        lambda: Data([0, 0], [1, 2], nothing),
        "The points of Data must have shape (N, d), a row for each; got shape (2,).",
    ),
    (lambda: Data([[0, np.nan]], [1], nothing), "The points of Data must be finite, and entry (0, 1) is nan"),
    (lambda: Data([[0, 0]], [np.inf], nothing), "The values of Data must be finite, and entry (0,) is inf"),
    (lambda: Data([[0, 0]], ["a"], nothing), "The values of Data must be an array of real numbers"),
    (lambda: Data([[0, 0]], [1], nothing, count=2), "Data has 1 points, fewer than count=2"),
    (lambda: Data([[0, 0]], [1], 3), "such as lambda u, value: u - value; got 3."),  # type: ignore[arg-type]
    (lambda: Data([[0, 0, 0]], [1], nothing).check(BURGERS), "have 3 columns, and the domain has the axes x, t"),
    (
        lambda: Data([[0, 0.5], [0.5, 3]], [1, 1], nothing).check(BURGERS),
        "1 of the 2 points of Data lie outside Box(x=(-1, 1), t=(0, 1)), the first at x=0.5, t=3",
    ),
]


@pytest.mark.parametrize(("make", "sentence"), CHECKS)
def test_mistakes_are_told_in_one_sentence(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(IncenterError, match=re.escape(sentence)) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_points_rounded_to_single_precision_are_still_inside() -> None:
    angle = np.linspace(0, 2 * np.pi, 100)
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    Data(around, angle, nothing).check(Disc((0, 0), 1))
    corner = np.array([[-0.1, 0.7]], np.float32)
    Data(corner, [1], nothing).check(Box(x=(-0.1, 0.2), y=(0.1, 0.7)))
    with pytest.raises(IncenterError, match="lie outside"):
        Data(1.001 * around, angle, nothing).check(Disc((0, 0), 1))
