"""Exact solutions put in the network's place: every loss vanishes, and so does the error against the reference."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

from incenter.pinn import Objective, Problem, problems
from incenter.pinn.problems.solvers.random_medium import coefficient

pi = math.pi
VANISHING = 1e-20  # of a loss, whose terms reach 1e4
PROBLEMS = ("helmholtz", "kovasznay", "burgers", "klein_gordon", "inverse_heat")


def helmholtz(x: Any, y: Any) -> Any:
    return [jnp.sin(pi * x) * jnp.sin(4.0 * pi * y)]


def kovasznay(x: Any, y: Any) -> Any:
    lam = 20.0 - math.sqrt(400.0 + 4.0 * pi**2)
    u = 1.0 - jnp.exp(lam * x) * jnp.cos(2.0 * pi * y)
    v = lam / (2.0 * pi) * jnp.exp(lam * x) * jnp.sin(2.0 * pi * y)
    return [u, v, 0.5 - 0.5 * jnp.exp(2.0 * lam * x)]


def burgers(x: Any, t: Any) -> Any:
    nu = 0.01 / pi
    z, weights = (jnp.asarray(numbers) for numbers in np.polynomial.hermite.hermgauss(160))
    # The root would have no derivative at t = 0; a start of 1e-200 is that of u to rounding.
    y = x - jnp.sqrt(4.0 * nu * jnp.maximum(t, 1e-200)) * z
    exponent = -jnp.cos(pi * y) / (2.0 * pi * nu)
    w = weights * jnp.exp(exponent - jax.lax.stop_gradient(jnp.max(exponent)))
    return [-jnp.sum(jnp.sin(pi * y) * w) / jnp.sum(w)]


def klein_gordon(x: Any, t: Any) -> Any:
    return [x * jnp.cos(5.0 * pi * t) + (t * x) ** 3]


def inverse_heat(x: Any, y: Any, t: Any) -> Any:
    s = jnp.sin(pi * x) * jnp.sin(pi * y)
    return [jnp.exp(-t) * s, 2.0 + s]


class Exact(eqx.Module):
    """A network without parameters."""

    formula: Callable[..., Any] = eqx.field(static=True)

    def __call__(self, point: Any) -> Any:
        return jnp.stack(self.formula(*point))


def losses(problem: Problem) -> tuple[dict[str, float], float]:
    """The losses by name at the points of one step, and the error, in double precision."""
    with jax.enable_x64(True):
        objective = Objective(problem, precision=64)
        theta = objective.start(0)
        batch, _ = objective.draw(theta, objective.memory(0), 0, 0)
        values, _ = objective.losses_and_gradients(theta, batch)
        return dict(zip(objective.names, values.tolist(), strict=True)), float(objective.relative_l2(theta))


@pytest.mark.parametrize("name", PROBLEMS)
def test_exact_solutions_have_no_loss_and_no_error(name: str) -> None:
    problem = problems.by_name(name, points=300)
    values, error = losses(dataclasses.replace(problem, network=Exact(globals()[name])))
    noise = values.pop("observations", None)
    assert list(values) == [term for term in problem.terms if term != "observations"]
    for term, value in values.items():
        assert value < VANISHING, term
    assert error < 1e-13
    if noise is not None:
        assert math.sqrt(noise) == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_solution_a_little_wrong_has_loss_in_every_term(name: str) -> None:
    """So the test above can fail: each term sees the function it is about."""
    problem = problems.by_name(name, points=300)

    def wrong(*point: Any) -> Any:
        return [value + 0.01 * (1.0 + sum(coordinate**2 for coordinate in point)) for value in globals()[name](*point)]

    values, error = losses(dataclasses.replace(problem, network=Exact(wrong)))
    assert all(value > 1e-5 for value in values.values())
    assert error > 1e-3


@pytest.mark.parametrize("operator", ["paper", "divergence"])
def test_heat_on_a_formula(operator: str) -> None:
    """Heat has no closed solution: its residual on another function, worked out by hand and with scipy's lookup."""

    def formula(x: Any, y: Any, t: Any) -> Any:
        return [jnp.sin(pi * x) * jnp.sin(pi * y) * t, x * t, y * y][: 1 if operator == "paper" else 3]

    problem = dataclasses.replace(problems.by_name("heat", operator=operator, points=2000), network=Exact(formula))
    with jax.enable_x64(True):
        objective = Objective(problem, precision=64)
        theta = objective.start(0)
        batch, _ = objective.draw(theta, objective.memory(0), 0, 0)
        found = objective.losses_and_gradients(theta, batch)[0]
        x, y, t = np.asarray(batch[0].points).T
    line = np.linspace(0.0, 1.0, 256)
    a = RegularGridInterpolator((line, line), coefficient(), method="nearest")(np.stack([y, x], axis=1))
    waves = np.sin(pi * x) * np.sin(pi * y)
    f = 200.0 * np.sin(pi * x) * np.sin(5.0 * pi * y) * np.sin(pi * t)
    if operator == "paper":
        equations = [waves + a * 2.0 * pi**2 * waves * t - f]
    else:
        u_x, u_y = pi * np.cos(pi * x) * np.sin(pi * y) * t, pi * np.sin(pi * x) * np.cos(pi * y) * t
        equations = [waves - t - 2.0 * y - f, x * t - a * u_x, y * y - a * u_y]
    assert found[0] == pytest.approx(sum(np.mean(equation**2) for equation in equations), rel=1e-12)
    assert found[1] < VANISHING
    assert found[2] < VANISHING
