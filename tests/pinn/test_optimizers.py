"""Optimisers and schedules by name, on the flat vector."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from incenter.pinn.optimizers import optimizer_names, optimizer_of, schedule_names, schedule_of
from tests.pinn.quadratic import Quadratic
from tests.pinn.test_training import START, configured, trained

GRADIENT = np.array([0.3, -2.0, 1e-3, 5.0])


@pytest.mark.parametrize("name", optimizer_names())
def test_every_optimiser_steps(name: str) -> None:
    """Compiled, as many entries as theta has, finite, and down a constant gradient in two steps."""
    made = optimizer_of(configured(optimizer=name), Quadratic(), plain=False)
    theta = jnp.asarray(START)
    update = jax.jit(made.update)
    first, state = update(jnp.asarray(GRADIENT), made.init(theta), theta)
    second, _ = update(jnp.asarray(GRADIENT), state, theta + first)
    for change in (first, second):
        assert change.shape == theta.shape
        assert np.isfinite(np.asarray(change)).all()
    assert float((first + second) @ GRADIENT) < 0


def test_adam_has_the_papers_constants() -> None:
    """The first step is lr sign(g), the second moment's average is 0.001 g^2."""
    made = optimizer_of(configured(lr=0.1), Quadratic(), plain=False)
    change, state = made.update(jnp.asarray(GRADIENT), made.init(jnp.asarray(START)), jnp.asarray(START))
    np.testing.assert_allclose(change, -0.1 * GRADIENT / (np.abs(GRADIENT) + 1e-8), rtol=1e-9)
    np.testing.assert_allclose(state[0].nu, 0.001 * GRADIENT**2, rtol=1e-9)
    np.testing.assert_allclose(state[0].mu, 0.1 * GRADIENT, rtol=1e-9)


def test_muon_sees_matrices() -> None:
    """The same as optax's of the matrix itself, which is orthogonalised; of the flat vector it would be Adam."""
    made = optimizer_of(configured(optimizer="muon", lr=0.1), Quadratic(), plain=False)
    change, _ = made.update(jnp.asarray(GRADIENT), made.init(jnp.asarray(START)), jnp.asarray(START))
    matrices = {"matrix": jnp.asarray(GRADIENT).reshape(2, 2)}
    muon = optax.contrib.muon(0.1)
    expected, _ = muon.update(matrices, muon.init(matrices), matrices)
    np.testing.assert_array_equal(np.asarray(change).reshape(2, 2), expected["matrix"])
    flat = optax.contrib.muon(0.1)
    vector = jnp.asarray(GRADIENT)
    assert not np.allclose(change, flat.update(vector, flat.init(vector), vector)[0])


def test_an_optimiser_of_ones_own() -> None:
    mine = optax.chain(optax.clip(0.01), optax.sgd(1.0))
    result = trained(Quadratic(noise=0.0), optimizer=mine, steps=1)
    assert np.abs(result.theta - START).max() == pytest.approx(0.01, rel=1e-12)
    assert result.summary()["optimizer"].startswith("python:")


@pytest.mark.parametrize(
    ("schedule", "options", "rates"),
    [
        ("constant", {}, {0: 0.1, 50: 0.1, 100: 0.1}),
        ("cosine", {"end": 0.2}, {0: 0.1, 50: 0.06, 100: 0.02}),
        ("exponential", {"factor": 0.5, "every": 50}, {0: 0.1, 50: 0.05, 100: 0.025}),
        ("warmup", {"warmup": 10}, {0: 0.0, 5: 0.05, 10: 0.1, 100: 0.1}),
        ("warmup_cosine", {"warmup": 20}, {0: 0.0, 10: 0.05, 20: 0.1, 60: 0.05, 100: 0.0}),
    ],
)
def test_schedules_pass_through_their_points(schedule: str, options: dict[str, Any], rates: dict[int, float]) -> None:
    found = schedule_of(configured(schedule=schedule, schedule_options=options, lr=0.1, steps=100))
    for step, rate in rates.items():
        assert float(found(step) if callable(found) else found) == pytest.approx(rate, abs=1e-9)


def test_every_schedule_is_tested_above() -> None:
    assert schedule_names() == ["constant", "cosine", "exponential", "warmup", "warmup_cosine"]


def test_a_schedule_reaches_the_steps() -> None:
    """Plain descent whose first step has rate 0."""
    warming = trained(Quadratic(noise=0.0), optimizer="sgd", schedule="warmup", schedule_options={"warmup": 5}, steps=6)
    once = trained(Quadratic(noise=0.0), optimizer="sgd", steps=1, lr=1e-2)
    assert not np.array_equal(warming.theta, once.theta)
    before = np.asarray(warming.history["losses"])
    np.testing.assert_array_equal(before[0], before[1])
