"""The examples of problems train from their files, and their references are right."""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from incenter.pinn import Problem, train
from tests.pinn.cavity_flow import middle_line

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = {"allen_cahn": "allen_cahn", "cavity": "cavity", "inverse_scalar": "viscosity"}


def contents(example: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{example}.py"))


@pytest.mark.parametrize(("example", "name"), list(NAMES.items()))
def test_trains_from_its_file_by_name(example: str, name: str) -> None:
    assert isinstance(contents(example)[name], Problem)
    result = train(f"{EXAMPLES / example}.py:{name}", steps=200, record_every=20)
    assert result.stopped == "steps"
    assert np.isfinite(result.theta).all()
    assert result.history["error"][-1] < result.history["error"][0]


def test_the_cavity_has_each_equation_as_a_loss_of_its_own() -> None:
    assert len(contents("cavity")["cavity"].terms) == 5


def test_the_cavitys_numbers_are_those_of_finite_differences() -> None:
    example = contents("cavity")

    def lid(x: np.ndarray) -> np.ndarray:
        return 16.0 * x**2 * (1.0 - x) ** 2

    coarse, fine = (middle_line(lid, example["REYNOLDS"], cells)[1][:: cells // 16][1:] for cells in (32, 64))
    np.testing.assert_allclose(fine + (fine - coarse) / 3.0, example["MIDDLE"], rtol=0, atol=2e-5)


def test_these_finite_differences_agree_with_the_published_cavity() -> None:
    """Ghia, Ghia and Shin, J. Comput. Phys. 48, 1982: Reynolds number 100, a lid of speed 1, u on the middle line."""
    y = [0.0547, 0.1016, 0.1719, 0.2813, 0.4531, 0.5000, 0.6172, 0.7344, 0.8516, 0.9531, 0.9766]
    u = [-0.03717, -0.06434, -0.10150, -0.15662, -0.21090, -0.20581, -0.13641, 0.00332, 0.23151, 0.68717, 0.84123]
    nodes, ours = middle_line(np.ones_like, 100.0, 64)
    np.testing.assert_allclose(CubicSpline(nodes, ours)(y), u, rtol=0, atol=3e-3)


def test_the_spectral_solution_of_allen_cahn_has_no_finer_one() -> None:
    example = contents("allen_cahn")
    values = example["values"].reshape(example["MODES"], example["TIMES"])
    example["spectral"].__globals__["MODES"] = 2 * example["MODES"]
    _, finer = example["spectral"]()
    np.testing.assert_allclose(finer.reshape(-1, example["TIMES"])[::2], values, rtol=0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("example", "steps", "error"), [("allen_cahn", 4000, 0.2), ("inverse_scalar", 10_000, 0.05)])
def test_is_learned(example: str, steps: int, error: float) -> None:
    result = train(contents(example)[NAMES[example]], steps=steps, schedule="cosine")
    assert result.relative_l2 is not None
    assert result.relative_l2 < error
    if "log_nu" in result.unknowns:
        assert abs(10.0 ** result.unknowns["log_nu"] / 0.02 - 1.0) < 0.1
