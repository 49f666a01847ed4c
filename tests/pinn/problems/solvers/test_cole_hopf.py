"""Cole and Hopf's formula against a Fourier spectral solver, which knows nothing of it."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from incenter.geometry.errors import IncenterError
from incenter.pinn.problems.solvers.cole_hopf import LEAST_NU, MOST_NU, NU, cole_hopf

Floats = NDArray[np.float64]
MODES = 4096
STEPS = 16_000  # a quarter of the time each quarter; the error falls with their fourth power


def spectral(nu: float) -> Iterator[tuple[float, Floats, Floats]]:
    """t, x and u at t = 1/4, 1/2, 3/4, 1: Fourier with two thirds of the modes, flux by RK4, heat exactly."""
    x = -1.0 + 2.0 * np.arange(MODES) / MODES
    k = math.pi * np.arange(MODES // 2 + 1)
    dt = 1.0 / STEPS
    half = np.exp(-nu * k**2 * dt / 2.0)
    flux_factor = np.where(np.arange(MODES // 2 + 1) < MODES // 3, -0.5j * dt * k, 0.0)

    def flux(spectrum: NDArray[np.complex128]) -> NDArray[np.complex128]:
        u = np.fft.irfft(spectrum)
        return flux_factor * np.fft.rfft(u * u)

    v = np.fft.rfft(-np.sin(math.pi * x))
    for step in range(1, STEPS + 1):
        a = flux(v)
        b = flux(half * (v + a / 2.0))
        c = flux(half * v + b / 2.0)
        d = flux(half * (half * v + c))
        v = half**2 * v + (half**2 * a + 2.0 * half * (b + c) + d) / 6.0
        if step % (STEPS // 4) == 0:
            yield step * dt, x, np.fft.irfft(v)


def test_agrees_with_a_spectral_solver() -> None:
    checked = 0
    for t, x, u in spectral(NU):
        assert np.max(np.abs(cole_hopf(x, np.full_like(x, t)) - u)) < 2e-10
        checked += 1
    assert checked == 4


def test_starts_at_minus_the_sine_and_vanishes_at_the_ends() -> None:
    x = np.linspace(-1.0, 1.0, 101)
    np.testing.assert_allclose(cole_hopf(x, np.zeros_like(x)), -np.sin(math.pi * x), rtol=0, atol=1e-14)
    t = np.linspace(0.0, 1.0, 101)
    for end in (-1.0, 1.0):
        np.testing.assert_allclose(cole_hopf(np.full_like(t, end), t), 0.0, rtol=0, atol=1e-13)


@pytest.mark.parametrize("nu", [LEAST_NU, NU, 0.03, MOST_NU])
def test_the_nodes_are_enough_over_the_whole_range(nu: float) -> None:
    x, t = (axis.ravel() for axis in np.meshgrid(np.linspace(-1.0, 1.0, 101), np.linspace(0.0, 1.0, 11)))
    np.testing.assert_allclose(cole_hopf(x, t, nu), cole_hopf(x, t, nu, nodes=360), rtol=0, atol=1e-12)


@pytest.mark.parametrize("nu", [0.0005, 1.0, math.nan])
def test_viscosities_outside_it_are_refused(nu: float) -> None:
    with pytest.raises(IncenterError, match=rf"from 0.0008 to 0.2; got nu={nu}"):
        cole_hopf(np.zeros(1), np.ones(1), nu=nu)
