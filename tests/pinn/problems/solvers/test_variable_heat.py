"""The heat solver: closed forms in uniform, smooth and layered media, and meshes that agree."""

import math
import os
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.interpolate import RegularGridInterpolator

from incenter.pinn.problems.solvers.random_medium import coefficient
from incenter.pinn.problems.solvers.variable_heat import Heat, Operator, solve_heat

Floats = NDArray[np.float64]
OPERATORS: tuple[Operator, ...] = ("paper", "divergence")
pi = math.pi


def distance(u: Floats, reference: Floats) -> float:
    return float(np.linalg.norm(u - reference) / np.linalg.norm(reference))


def waves(x: Floats, y: Floats) -> Floats:
    return 200.0 * np.sin(pi * x) * np.sin(5.0 * pi * y)


def benchmark(operator: Operator, a: Floats, records: int = 51, steps_between: int = 4) -> Heat:
    return solve_heat(a, operator, waves, pi, until=5.0, records=records, steps_between=steps_between)


@pytest.mark.parametrize("operator", OPERATORS)
def test_one_mode_in_a_uniform_medium(operator: Operator) -> None:
    a, cells = 1.5, 60
    heat = solve_heat(np.full((cells + 1, cells + 1), a), operator, waves, pi, until=1.0, records=11, steps_between=40)
    # The mode is an eigenvector of the mesh's Laplacian too, so only time is left to be approximated:
    # c' + rate c = 200 sin(pi t), c(0) = 0.
    rate = a * 4.0 * cells**2 * (math.sin(0.5 * pi / cells) ** 2 + math.sin(2.5 * pi / cells) ** 2)
    t = heat.times
    c = 200.0 * (rate * np.sin(pi * t) - pi * np.cos(pi * t) + pi * np.exp(-rate * t)) / (rate**2 + pi**2)
    shape = waves(heat.nodes[None, :], heat.nodes[:, None]) / 200.0
    assert distance(heat.u, c[:, None, None] * shape) < 1e-5


def smooth_medium(operator: Operator, cells: int) -> float:
    """The error against u = sin(pi x) sin(pi y) in a = 1 + sin(2 x + y) / 2, at rest."""
    nodes = np.linspace(0.0, 1.0, cells + 1)

    def medium(x: Floats, y: Floats) -> Floats:
        return 1.0 + 0.5 * np.sin(2.0 * x + y)

    def source(x: Floats, y: Floats) -> Floats:
        sx, sy, cx, cy = np.sin(pi * x), np.sin(pi * y), np.cos(pi * x), np.cos(pi * y)
        drift = 0.5 * np.cos(2.0 * x + y) * pi * (2.0 * cx * sy + sx * cy)
        return 2.0 * pi**2 * medium(x, y) * sx * sy - (drift if operator == "divergence" else 0.0)

    return distance(
        _at_rest(medium(nodes[None, :], nodes[:, None]), operator, source),
        np.sin(pi * nodes[None, :]) * np.sin(pi * nodes[:, None]),
    )


def layered_medium(operator: Operator, cells: int) -> float:
    """The error in a = 1 left of x = 1/2 and 2 right of it, at rest.

    In divergence form u = sin(2 pi x) sin(pi y) / a has a continuous flux and a kink.
    """
    nodes = np.linspace(0.0, 1.0, cells + 1)

    def medium(x: Floats, y: Floats) -> Floats:
        return np.where(x + 0.0 * y < 0.5, 1.0, 2.0)

    def source(x: Floats, y: Floats) -> Floats:
        factor = 1.0 if operator == "divergence" else medium(x, y)
        return factor * 5.0 * pi**2 * np.sin(2.0 * pi * x) * np.sin(pi * y)

    a = medium(nodes[None, :], nodes[:, None])
    exact = np.sin(2.0 * pi * nodes[None, :]) * np.sin(pi * nodes[:, None])
    return distance(_at_rest(a, operator, source), exact / a if operator == "divergence" else exact)


def _at_rest(a: Floats, operator: Operator, source: Callable[[Floats, Floats], Floats]) -> Floats:
    """The steady state: the crest of a source so slow that u follows it to 1e-9."""
    omega = 1e-5
    last: Floats = solve_heat(a, operator, source, omega, until=0.5 * pi / omega, records=2, steps_between=8).u[-1]
    return last


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("error", [smooth_medium, layered_medium])
def test_halving_the_mesh_quarters_the_error(operator: Operator, error: Callable[[Operator, int], float]) -> None:
    # Odd numbers of cells put the layers' border on faces.
    errors = [error(operator, cells) for cells in (15, 31, 63)]
    orders = np.log(np.divide(errors[:-1], errors[1:])) / np.log(np.divide([31, 63], [15, 31]))
    assert errors[-1] < 2e-3
    np.testing.assert_allclose(orders, 2.0, atol=0.12)


@pytest.mark.parametrize(("operator", "agreement"), [("paper", 4e-4), ("divergence", 1.2e-3)])
@pytest.mark.slow
def test_a_mesh_three_times_finer_says_the_same_of_the_benchmark(operator: Operator, agreement: float) -> None:
    a = coefficient()
    nearest = (np.arange(3 * 255 + 1) + 1) // 3  # a cell becomes 3 x 3 cells around the same node
    coarse, fine = (benchmark(operator, medium, 21) for medium in (a, a[np.ix_(nearest, nearest)]))
    assert distance(coarse.u, fine.u[:, ::3, ::3]) < agreement


@pytest.mark.parametrize("operator", OPERATORS)
def test_twice_as_many_steps_say_the_same(operator: Operator) -> None:
    a = coefficient()[::5, ::5]
    assert distance(benchmark(operator, a).u, benchmark(operator, a, steps_between=8).u) < 9e-5


def test_the_published_solution_is_the_divergence_forms() -> None:
    published = os.environ.get("INCENTER_HEAT_DARCY")
    if not published:
        pytest.skip("INCENTER_HEAT_DARCY does not say where the published heat_darcy.dat lies")
    table = np.loadtxt(published, comments="%")
    x, y, u = table[:, 0], table[:, 1], table[:, 2:]

    def at_published_points(operator: Operator) -> Floats:
        heat = benchmark(operator, coefficient())
        return RegularGridInterpolator((heat.nodes, heat.nodes), heat.u.transpose(1, 2, 0))(np.stack([y, x], axis=1))

    assert distance(at_published_points("divergence"), u) < 0.01
    assert 0.20 < distance(at_published_points("paper"), u) < 0.22
