"""Which residuals may be taken in portions: none that mixes points, and of the others all that are usual."""

from typing import Any

import jax  # noqa: F401  (the residuals, given as text, use it)
import jax.numpy as jnp
import numpy as np
import pytest

from incenter.pinn.pointwise import is_pointwise
from incenter.pinn.portions import portions_of, summed
from incenter.pinn.samplers import Sample

N, PART = 48, 16
TABLE = jnp.asarray(np.random.default_rng(0).normal(size=(5, 7)))
WEIGHTS = jnp.asarray(np.random.default_rng(0).normal(size=N))


def judged(text: str) -> bool:
    """Of a residual of points x (N, 3), an output u (N,) and an unknown scalar nu."""
    function = eval(f"lambda x, u, nu: {text}", globals())
    whole = (jnp.ones((N, 3)), jnp.ones(N), jnp.ones(()))
    return is_pointwise(function, whole, (jnp.ones((PART, 3)), jnp.ones(PART), jnp.ones(())))


@pytest.mark.parametrize(
    "text",
    [
        "u * x[:, 0] - nu * u**3",
        "(jnp.sin(x[:, 1]) * u + 3, jax.nn.relu(u) + jnp.where(x[:, 0] > 0.5, u, 0.0))",
        "TABLE[jnp.clip(x[:, 0], 0, 4).astype(int), jnp.clip(x[:, 1], 0, 6).astype(int)] * u",
        "jnp.sum(x**2, axis=1) + jnp.linalg.norm(x, axis=1) + (x @ jnp.ones((3, 2)))[:, 0] + nu * u",
        "jnp.zeros_like(u) + jnp.ones(u.shape) * u",
        "jnp.stack([u, x[:, 0]], axis=1).max(axis=1) + jnp.log1p(u**2)",
        "jnp.interp(nu, TABLE[0], TABLE[1]) * u + x.reshape(u.shape[0], 3, 1)[:, 2, 0]",
        "jax.scipy.special.erf(u) + jnp.exp(-u) * jnp.hypot(x[:, 0], u) + jnp.arctan2(u, x[:, 1])",
        "u - jnp.mean(TABLE) * u",
    ],
)
def test_usual_residuals_are(text: str) -> None:
    assert judged(text)


@pytest.mark.parametrize(
    "text",
    [
        "u - jnp.mean(u)",
        "jnp.sort(u)",
        "jnp.exp(-100 * jnp.cumsum(u**2)) * u",
        "u / jnp.linalg.norm(x)",
        "u[::-1]",
        "jnp.roll(u, 1)",
        "u * u.shape[0]",
        "u * jnp.arange(u.shape[0])",
        "u * WEIGHTS",
        "u * WEIGHTS[: u.shape[0]]",
        "u * u[0]",
        "jnp.sum(u)",
        "x @ x.T @ u",
        "jax.lax.map(lambda one: one**2, u)",  # row by row, but not read
        "u + jnp.sum(jnp.ones(u.shape))",
        "jax.nn.softmax(u)",
        "x.reshape(3, u.shape[0])[0] * u",
        "(u, jnp.ones(u.shape[0]) @ u * u)",
        "u.reshape(N)",
    ],
)
def test_what_mixes_points_or_cannot_be_read_is_not(text: str) -> None:
    assert not judged(text)


@pytest.mark.parametrize("points", [1, 7, 1280, 1919, 1921, 2500, 5120, 12345])
def test_portions_hold_all_points_with_little_filling(points: int) -> None:
    portions = portions_of(points)
    fill = portions.number * portions.size - points
    assert 0 <= fill < 16 * portions.number
    assert portions.number == 1 or 800 <= portions.size <= 2000


@pytest.mark.parametrize("points", [1281, 2500, 5120])
def test_sums_in_portions_are_sums(points: int) -> None:
    draws = np.random.default_rng(points)
    sample = Sample(jnp.asarray(draws.normal(size=(points, 2))), values=jnp.asarray(draws.normal(size=(points, 1))))

    def squares(part: Sample, weights: Any) -> Any:
        rows = (part.points[:, 0] * part.values[:, 0]) ** 2
        return {"sum": jnp.sum(rows if weights is None else weights * rows)}

    found = summed(squares, sample, points, portions_of(points))["sum"]
    expected = np.sum(np.square(np.asarray(sample.points)[:, 0] * np.asarray(sample.values)[:, 0]))
    assert abs(found - expected) <= 1e-13 * expected
