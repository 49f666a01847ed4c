"""Every degenerate input has a status and a documented answer (docs/statuses.md), and never a NaN."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import torch

from incenter import ChebyshevCenter, IncenterError, Status, chebyshev_center
from tests.matrices import Floats

Convert = Callable[[Any], Any]
NORMS = (1.0, 1.5, 2.0, 3.0, float("inf"))
LIBRARIES = (np.asarray, torch.tensor, jnp.asarray)
G = np.random.default_rng(0).normal(size=(4, 9)) + 0.5

over_norms = pytest.mark.parametrize("p", NORMS)


def numbers(center: ChebyshevCenter) -> Floats:
    return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in center])


def solve(gradients: Any, p: float = 2.0) -> ChebyshevCenter:
    center = chebyshev_center(gradients, p)
    assert np.all(np.isfinite(numbers(center)))
    return center


@over_norms
@pytest.mark.parametrize("convert", LIBRARIES)
def test_zero_row_is_dropped_and_reported(convert: Convert, p: float) -> None:
    """The answer of the other rows, on the host bit for bit; JAX compiles for fixed shapes and masks the row."""
    with_zero = np.insert(G, 2, 0.0, axis=0)
    center, without = solve(convert(with_zero), p), solve(convert(G), p)
    assert center.status is Status.ZERO_ROW
    assert np.asarray(center.dropped).tolist() == [False, False, True, False, False]
    allowed = 1e-12 if convert is jnp.asarray else 0
    np.testing.assert_allclose(np.asarray(center.direction), np.asarray(without.direction), atol=allowed)
    np.testing.assert_allclose(np.asarray(center.weights), np.insert(np.asarray(without.weights), 2, 0.0), atol=allowed)
    assert abs(center.radius - without.radius) <= allowed


@over_norms
def test_all_rows_zero(p: float) -> None:
    center = solve(np.zeros((3, 5)), p)
    assert center.status is Status.ZERO_ROW
    assert center.radius == 0
    assert not center.direction.any()
    assert center.dropped.all()


@over_norms
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("convert", LIBRARIES)
def test_non_finite_row_is_named(convert: Convert, bad: float, p: float) -> None:
    broken = G.copy()
    broken[1, 3] = bad
    center = solve(convert(broken), p)
    assert center.status is Status.NONFINITE
    assert np.asarray(center.dropped).tolist() == [False, True, False, False]
    assert not np.asarray(center.direction).any()
    assert (center.radius, center.gap) == (0.0, 1.0)
    with pytest.raises(IncenterError, match=r"NONFINITE.*rows \[1\]"):
        center.raise_for_status()


@over_norms
def test_duplicate_rows_change_nothing(p: float) -> None:
    twice, once = solve(np.vstack([G, G[1], G[1]]), p), solve(G, p)
    assert twice.status is Status.OPTIMAL
    np.testing.assert_allclose(twice.radius, once.radius, atol=1e-9)
    if 1 < p < np.inf:
        np.testing.assert_allclose(twice.direction, once.direction, atol=1e-9)


@over_norms
@pytest.mark.parametrize("gradients", [np.vstack([G, -3 * G[0]]), np.vstack([G, -G.sum(0)])])
def test_opposite_rows_and_zero_in_the_hull(gradients: Floats, p: float) -> None:
    center = solve(gradients, p)
    assert center.status is Status.STATIONARY
    assert center.radius == 0
    assert not center.direction.any()
    units = gradients / np.linalg.norm(gradients, p, axis=1)[:, None]
    assert np.linalg.norm(center.weights @ units, p) <= 1e-9  # the combination that vanishes


@over_norms
def test_one_loss(p: float) -> None:
    center = solve(G[:1], p)
    assert center.status is Status.OPTIMAL
    np.testing.assert_allclose(center.radius, 1, atol=1e-15)
    np.testing.assert_allclose(G[0] @ center.direction, np.linalg.norm(G[0], p), rtol=1e-14)


@over_norms
def test_more_losses_than_parameters(p: float) -> None:
    gradients = np.abs(np.random.default_rng(1).normal(size=(30, 3)))
    assert solve(gradients, p).status is Status.OPTIMAL
    assert solve(gradients[:, :1], p).radius == pytest.approx(1, abs=1e-15)


@over_norms
@pytest.mark.parametrize("convert", LIBRARIES)
def test_no_losses(convert: Convert, p: float) -> None:
    center = solve(convert(np.zeros((0, 5))), p)
    assert center.status is Status.EMPTY
    assert np.asarray(center.direction).tolist() == [0] * 5
    with pytest.raises(IncenterError, match="EMPTY"):
        center.raise_for_status()


@over_norms
@pytest.mark.parametrize("convert", LIBRARIES)
def test_rows_scaled_by_anything_in_float32(convert: Convert, p: float) -> None:
    """Powers of two round nothing, so the answer is the same to the last bit that the dtype holds."""
    plain = G.astype(np.float32)
    scaled = plain * np.float32(2.0) ** np.array([[-100], [100], [0], [-60]], dtype=np.float32)
    one, other = solve(convert(plain), p), solve(convert(scaled), p)
    assert one.status is other.status is Status.OPTIMAL
    np.testing.assert_allclose(np.asarray(one.direction), np.asarray(other.direction), atol=1e-6 if p == 2 else 1e-4)
    np.testing.assert_allclose(one.radius, other.radius, atol=1e-6)


@over_norms
@pytest.mark.parametrize("scale", [1e-300, 1e300, 5e-324 / 1e-6])
def test_rows_at_the_ends_of_float64(scale: float, p: float) -> None:
    whole = np.round(1e6 * G)
    one, other = solve(whole, p), solve(whole * (scale / 1e6), p)
    assert other.status is Status.OPTIMAL
    np.testing.assert_allclose(one.radius, other.radius, atol=1e-5 if scale < 1e-310 else 1e-9)


def test_subnormal_row_in_float32() -> None:
    """Float64 arithmetic sees it as any other; JAX in float32 flushes it to zero, and says so."""
    gradients = G.astype(np.float32)
    gradients[0] = np.float32(1e-40) * np.arange(1, 10)
    assert solve(gradients).status is Status.OPTIMAL
    assert solve(torch.tensor(gradients)).status is Status.OPTIMAL
    assert solve(jnp.asarray(gradients)).status in (Status.OPTIMAL, Status.ZERO_ROW)


def test_negative_zero_strides_and_integers() -> None:
    strided = np.asfortranarray(np.repeat(G, 2, axis=1))[:, ::2]
    np.testing.assert_allclose(solve(strided).direction, solve(G).direction, atol=1e-15)
    assert solve(np.array([[3, 0], [-1, 2]])).direction.dtype == np.float64
    assert solve(np.array([[1.0, -0.0], [-0.0, 1.0]])).radius == pytest.approx(0.5**0.5)
    assert solve([[3.0, 0.0], [-1.0, 2.0]]).status is Status.OPTIMAL
