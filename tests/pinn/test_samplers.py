"""Samplers: functions of the key alone, compiled or not; Sobol's points are nets; enough candidates are drawn."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

from incenter import IncenterError
from incenter.pinn import Adaptive, Box, Disc, Domain, fixed, sobol, uniform
from incenter.pinn.domain import MEASURED, Share, share_of
from incenter.pinn.samplers import candidates, first_accepted, inside, interior_share
from tests.pinn.spread import assert_fits

CUBE = Box(x=(0, 1), y=(0, 1), t=(0, 1))
SAMPLERS = {"uniform": uniform, "sobol": sobol, "fixed": fixed, "adaptive": Adaptive()}


def cube(sampler: Any, count: int, columns: int, key: tuple[int, ...], dtype: Any = jnp.float64) -> np.ndarray:
    return np.asarray(sampler.cube(count, columns, key, dtype))


@pytest.mark.parametrize("name", SAMPLERS)
def test_points_fill_the_cube(name: str) -> None:
    points = cube(SAMPLERS[name], 8000, 3, (0, 1, 2))
    assert points.shape == (8000, 3)
    assert points.min() >= 0
    assert points.max() < 1
    if name != "sobol":  # whose points are more even than chance
        assert_fits(np.histogramdd(points, bins=5, range=[(0, 1)] * 3)[0], np.full((5, 5, 5), 1 / 125))


@pytest.mark.parametrize("name", SAMPLERS)
def test_seed_and_term_matter_and_the_step_but_for_fixed_points(name: str) -> None:
    here = cube(SAMPLERS[name], 50, 2, (3, 4, 5))
    np.testing.assert_array_equal(cube(SAMPLERS[name], 50, 2, (3, 4, 5)), here)
    for key in ((2, 4, 5), (3, 4, 6)):
        assert not np.any(cube(SAMPLERS[name], 50, 2, key) == here)
    assert np.array_equal(cube(SAMPLERS[name], 50, 2, (3, 9, 5)), here) == (name == "fixed")


def test_steps_are_independent() -> None:
    draw: Any = jax.vmap(lambda step: uniform.cube(16, 2, (0, step, 0), jnp.float64).ravel())
    steps = np.asarray(draw(jnp.arange(2000)))
    assert np.abs(np.corrcoef(steps[:-1].T, steps[1:].T) - np.eye(64)).max() < 5.5 / 2000**0.5
    assert_fits(np.histogram(steps[:, 7], bins=20, range=(0, 1))[0], np.full(20, 0.05))


@pytest.mark.parametrize(("dtype", "digits"), [(jnp.float32, 24), (jnp.float64, 32)])
def test_points_lie_on_a_grid_that_the_dtype_holds(dtype: Any, digits: int) -> None:
    points = cube(uniform, 4000, 2, (0, 0, 0), dtype)
    assert points.dtype == dtype
    scaled = points.astype(np.float64) * 2.0**digits
    np.testing.assert_array_equal(scaled, np.round(scaled))
    assert np.any(scaled % 2 == 1)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_every_shifted_sobol_set_has_one_point_in_each_slab(columns: int) -> None:
    """2^k points of a digital (t, k, s)-net: each coordinate meets each interval of length 2^-k once."""
    for step in range(20):
        slabs = np.floor(cube(sobol, 64, columns, (0, step, 0)) * 64).astype(int)
        for column in slabs.T:
            assert sorted(column) == list(range(64))


def test_sobol_is_more_even_than_chance_at_any_number_of_points() -> None:
    for count in (100, 256, 2560):
        even = max(qmc.discrepancy(cube(sobol, count, 2, (0, step, 0))) for step in range(5))
        chance = min(qmc.discrepancy(cube(uniform, count, 2, (0, step, 0))) for step in range(5))
        assert even < chance / 2


def test_each_sobol_point_is_uniform_over_the_steps() -> None:
    draw: Any = jax.vmap(lambda step: sobol.cube(5, 2, (0, step, 0), jnp.float64)[3])
    third = np.asarray(draw(jnp.arange(4000)))
    assert_fits(np.histogramdd(third, bins=5, range=[(0, 1)] * 2)[0], np.full((5, 5), 0.04))


def test_sobol_points_stay_even_where_candidates_are_refused() -> None:
    disc = Disc((0, 0), 1) - Box(x=(0, 1), y=(0, 1))

    def worst(sampler: Any) -> float:
        draw = jax.jit(lambda: inside(disc, 2000, sampler, (0, 0, 0), jnp.float64).points)
        points = np.asarray(draw())
        quarter = [np.mean((points[:, 0] < 0) & (points[:, 1] < 0)), np.mean((points[:, 0] < 0) & (points[:, 1] > 0))]
        return float(np.abs(np.array(quarter) - 1 / 3).max())

    assert worst(sobol) < 4e-3  # chance has a deviation of 1e-2


@pytest.mark.parametrize("f", [0.002, 0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("count", [1, 256, 5000])
def test_running_short_of_candidates_has_no_odds(f: float, count: int) -> None:
    """However the share was measured, within its own error."""
    some = np.zeros((1, 2))
    for measured in (f, f + 2.5 * math.sqrt(f * (1 - f) / MEASURED)):
        asked = candidates(count, Share(min(measured, 1.0), some))
        assert stats.binom.cdf(count - 1, asked, f) < 1e-13
        assert asked < (2.5 if f < 0.01 else 1.5) * count / f + 200 / f


def test_nothing_is_wasted_where_nothing_is_refused() -> None:
    assert interior_share(CUBE) == Share(1.0, None)
    assert candidates(5000, interior_share(CUBE)) == 5000


def test_the_first_accepted_are_taken_and_taken_again() -> None:
    accepted = jnp.array([False, True, False, True, True, False])
    assert first_accepted(accepted, 2).tolist() == [1, 3]
    assert first_accepted(accepted, 3).tolist() == [1, 3, 4]
    assert first_accepted(accepted, 7).tolist() == [1, 3, 4, 1, 3, 4, 1]


def test_where_all_candidates_are_refused_the_known_one_stands_in() -> None:
    class AllZero:
        def cube(self, count: int, columns: int, key: Any, dtype: Any) -> Any:
            return jnp.zeros((count, columns), dtype)  # the corner that is cut away

    domain = Box(x=(0, 1), y=(0, 1)) - Disc((0, 0), 0.3)
    points = np.asarray(inside(domain, 10, AllZero(), (0, 0, 0), jnp.float64).points)
    assert np.all(domain.contains(points))
    assert len(np.unique(points, axis=0)) == 1


@pytest.mark.parametrize("domain", [CUBE, Disc((0, 0), 2), Box(x=(0, 1), y=(0, 3)) - Disc((0, 0), 0.5)], ids=repr)
def test_the_share_is_measured_well(domain: Domain) -> None:
    exact = {3: 1.0, 2: 1.0 - math.pi / 16 / 3 if "Box" in repr(domain) else 1.0}[len(domain.axes)]
    assert share_of(domain.place, len(domain.axes)).fraction == pytest.approx(exact, abs=1e-3)


def test_parts_that_are_specks_in_their_box_are_told_of() -> None:
    specks = Disc((0, 0), 0.01) | Disc((10, 10), 0.01)
    with pytest.raises(IncenterError, match="fills only 6e-05 of the box around it, too little to draw points from"):
        inside(specks, 10, uniform, (0, 0, 0), jnp.float64)
