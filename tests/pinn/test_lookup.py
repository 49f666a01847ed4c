"""Tables looked up at the nearest grid point, against scipy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from incenter.geometry.errors import IncenterError
from incenter.pinn.lookup import Nearest


def test_agrees_with_scipy_in_three_dimensions() -> None:
    draws = np.random.default_rng(0)
    table = draws.normal(size=(5, 7, 4))
    lookup = Nearest(table, x=(-1, 2), y=(0, 0.5), t=(3, 10))
    lines = [np.linspace(*interval, n) for interval, n in zip([(-1, 2), (0, 0.5), (3, 10)], table.shape, strict=True)]
    points = draws.uniform((-1, 0, 3), (2, 0.5, 10), size=(4000, 3))
    expected = RegularGridInterpolator(lines, table, method="nearest")(points)
    with jax.enable_x64(True):
        np.testing.assert_array_equal(jax.jit(lookup)(*jnp.asarray(points).T), expected)


def test_the_border_holds_beyond_the_grid_and_nothing_is_differentiated() -> None:
    lookup = Nearest([1.0, 2.0, 3.0], x=(0, 1))
    np.testing.assert_array_equal(lookup(jnp.array([-9.0, 0.4, 9.0])), [1.0, 2.0, 3.0])
    assert float(jax.grad(lambda x: lookup(x[None])[0])(0.4)) == 0.0
    assert lookup(jnp.zeros(3, jnp.float32)).dtype == jnp.float32


def test_wrong_tables_are_refused() -> None:
    with pytest.raises(IncenterError, match=r"shape \(2, 2\) needs an interval for each"):
        Nearest(np.ones((2, 2)), x=(0, 1))
    with pytest.raises(IncenterError, match="must run upwards; got x="):
        Nearest(np.ones(2), x=(1, 0))
    with pytest.raises(IncenterError, match="over x; got 2 coordinates"):
        Nearest(np.ones(2), x=(0, 1))(jnp.zeros(1), jnp.zeros(1))
