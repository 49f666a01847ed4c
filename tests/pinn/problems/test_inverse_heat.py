"""The observations of the inverse problem: one draw for all, from one pool, with the noise that the setting says."""

import numpy as np
import pytest
from scipy.stats import kstest

from incenter.pinn import problems
from incenter.pinn.problems.inverse_heat import QUALITIES, Setting, observations, u_exact


@pytest.mark.parametrize("setting", list(QUALITIES))
def test_noise_is_gaussian_with_the_deviation_of_the_setting(setting: Setting) -> None:
    size, deviation = QUALITIES[setting]
    points, values = observations(size, deviation, data_seed=0)
    assert points.shape == (size, 3)
    noise = (values - u_exact(*points.T)) / deviation
    assert kstest(noise, "norm").pvalue > 1e-3


def test_settings_are_the_papers() -> None:
    assert QUALITIES == {"standard": (2500, 0.1), "higher-noise": (2500, 0.2), "fewer-data": (1250, 0.1)}


def test_the_pool_is_one_and_uniform() -> None:
    first, second = observations(2500, 0.1, 0).points, observations(2500, 0.1, 1).points
    fewer = observations(1250, 0.1, 3).points
    assert len(np.unique(first, axis=0)) == 2500
    np.testing.assert_array_equal(np.sort(first, axis=0), np.sort(second, axis=0))
    assert {tuple(point) for point in fewer} < {tuple(point) for point in first}
    for column, (low, high) in zip(first.T, [(-1, 1), (-1, 1), (0, 1)], strict=True):
        assert kstest(column, "uniform", args=(low, high - low)).pvalue > 1e-3


def test_the_draw_follows_from_the_data_seed_alone() -> None:
    def data(**options: int) -> np.ndarray:
        return np.asarray(problems.by_name("inverse_heat", **options).terms["observations"].values)  # type: ignore[attr-defined]

    np.testing.assert_array_equal(data(data_seed=4), data(data_seed=4, width=10))
    assert not np.array_equal(data(data_seed=4), data(data_seed=5))
