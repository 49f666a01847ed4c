"""Centres that were computed elsewhere, to the digits they are known to."""

import numpy as np
import pytest

from incenter import Status, chebyshev_center
from tests.geometry.examples import CENTRES, CONFLICT, TOY, WORKED
from tests.matrices import Floats


@pytest.mark.parametrize(("gradients", "p", "radius", "direction", "weights"), CENTRES)
def test_known_centre(
    gradients: Floats, p: float, radius: float | None, direction: list[float] | None, weights: list[float] | None
) -> None:
    center = chebyshev_center(gradients, p)
    assert center.status is Status.OPTIMAL
    if radius is not None:
        np.testing.assert_allclose(center.radius, radius, atol=1e-10)
    if direction is not None:
        np.testing.assert_allclose(center.direction, direction, atol=1e-8)
    if weights is not None:
        np.testing.assert_allclose(center.weights, weights, atol=1e-4 if p == 1.1 else 1e-8)


def test_the_papers_toy_example() -> None:
    """v = (1, 1, 0) / sqrt 2, r* = 1 / sqrt 2; the third loss is inactive, at 17 / (15 sqrt 2)."""
    center = chebyshev_center(TOY)
    np.testing.assert_allclose(center.direction, [0.5**0.5, 0.5**0.5, 0], atol=1e-15)
    np.testing.assert_allclose(center.radius, 0.5**0.5, atol=1e-15)
    assert center.active.tolist() == [True, True, False]
    cosines = TOY / np.linalg.norm(TOY, axis=1)[:, None] @ center.direction
    np.testing.assert_allclose(cosines, [0.5**0.5, 0.5**0.5, 17 / (15 * 2**0.5)], atol=1e-15)


@pytest.mark.parametrize("scales", [(1.0, 1.0, 1.0), (1e-3, 1e5, 7.0)])
def test_the_papers_worked_example(scales: tuple[float, ...]) -> None:
    """The cosines are 1/sqrt 2, 1/sqrt 2 and 2 sqrt 2 / 3 for any lengths of the gradients."""
    center = chebyshev_center(WORKED * np.array(scales)[:, None])
    np.testing.assert_allclose(WORKED @ center.direction, [0.5**0.5, 0.5**0.5, 2 * 2**0.5 / 3], atol=1e-15)


@pytest.mark.parametrize("degrees", [(0, 30, 90), (0, 10, 120), (0, 45, 90)])
def test_three_coplanar_gradients(degrees: tuple[float, ...]) -> None:
    """In a plane only the outermost two count: r* = cos of half the angle between them."""
    angles = np.deg2rad(np.array(degrees, dtype=float))
    center = chebyshev_center(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    np.testing.assert_allclose(center.radius, np.cos(np.deg2rad(max(degrees)) / 2), atol=1e-15)
    np.testing.assert_allclose(center.weights, [0.5, 0, 0.5], atol=1e-15)


def test_repeats_are_bitwise_equal() -> None:
    first = chebyshev_center(CONFLICT, 3)
    for _ in range(100):
        again = chebyshev_center(CONFLICT, 3)
        assert again.direction.tobytes() == first.direction.tobytes()
        assert again.weights.tobytes() == first.weights.tobytes()
