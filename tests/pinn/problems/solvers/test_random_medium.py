"""The published field, known by its hash; what else its definition promises."""

import hashlib

import numpy as np

from incenter.pinn.problems.solvers.random_medium import POINTS, coefficient, gaussian_field

HASH = "a34421573bc7cfc179b499ea3cc049ead8f31ba514c45ac3a0cb53e4a590fc52"


def test_the_medium_is_the_published_one() -> None:
    a = coefficient()
    assert set(np.unique(a)) == {1.0, 2.0}
    assert hashlib.sha256(a.astype(np.uint8).tobytes()).hexdigest() == HASH


def test_no_entry_of_the_field_is_so_near_zero_that_rounding_could_turn_it() -> None:
    g = gaussian_field()
    assert np.min(np.abs(g)) > 1e-6
    assert abs(g.mean()) < 1e-12
    assert abs(g.std() - 1.0) < 1e-12


def test_amplitudes_fall_as_the_wave_number_squared() -> None:
    power = np.abs(np.fft.fft2(gaussian_field())) ** 2
    k = np.fft.fftfreq(POINTS, 1.0 / POINTS)
    radius = np.hypot(k[:, None], k[None, :])
    shells = [(4, 8), (8, 16), (16, 32), (32, 64)]
    means = [power[(radius >= low) & (radius < high)].mean() for low, high in shells]
    slopes = np.diff(np.log2(means))
    np.testing.assert_allclose(slopes, -4.0, atol=0.5)
