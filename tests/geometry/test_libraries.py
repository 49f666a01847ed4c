"""One source, three libraries: the same answers, eager and compiled, in double, single and half precision."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from incenter import ChebyshevCenter, IncenterError, Status, certify, chebyshev_center
from tests.matrices import Floats

SHAPES = [(2, 6), (3, 40), (5, 12), (8, 40)]
SMOOTH = (1.5, 2.0, 3.0)


def well_posed(m: int, n: int, count: int = 6) -> Sequence[Floats]:
    """Random gradients with r* of 0.01 and more, of different lengths, some with inactive losses."""
    rng = np.random.default_rng([m, n])
    drawn = ((rng.normal(size=(m, n)) + rng.uniform(0.1, 1)) * 10.0 ** rng.uniform(-3, 3, (m, 1)) for _ in range(200))
    return [G for G in drawn if chebyshev_center(G).radius > 0.01][:count]


def assert_agree(one: ChebyshevCenter, other: ChebyshevCenter, p: float) -> None:
    """Radius to 1e-12; direction to 1e-12 / r* for p = 2 and to 1e-6 for p = 1.5 and 3."""
    assert one.status is other.status is Status.OPTIMAL
    assert abs(one.radius - other.radius) <= 1e-12
    assert max(one.gap, other.gap) <= 1e-9
    if 1 < p < np.inf:
        allowed = 1e-12 / one.radius if p == 2 else 1e-6
        assert np.max(np.abs(np.asarray(one.direction) - np.asarray(other.direction))) <= allowed


@pytest.mark.parametrize("p", SMOOTH)
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_libraries_agree_in_float64(m: int, n: int, p: float) -> None:
    for G in well_posed(m, n):
        reference = chebyshev_center(G, p)
        in_torch, in_jax = chebyshev_center(torch.tensor(G), p), chebyshev_center(jnp.asarray(G), p)
        assert isinstance(in_torch.direction, torch.Tensor)
        assert isinstance(in_jax.direction, jax.Array)
        assert_agree(reference, in_torch, p)
        assert_agree(reference, in_jax, p)


@pytest.mark.parametrize("p", [1.0, float("inf")])
@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_libraries_agree_on_linear_programs(m: int, n: int, p: float) -> None:
    for G in well_posed(m, n, 2):
        reference = chebyshev_center(G, p)
        for convert in (torch.tensor, jnp.asarray):
            other = chebyshev_center(convert(G), p)
            assert abs(other.radius - reference.radius) <= 1e-12
            assert other.gap <= 1e-9


@pytest.mark.parametrize("p", [1.5, 2.0])
def test_libraries_agree_in_float32(p: float) -> None:
    for G in well_posed(3, 40):
        single = G.astype(np.float32)
        reference = chebyshev_center(single.astype(np.float64), p)
        for convert in (np.asarray, torch.tensor, jnp.asarray):
            center = chebyshev_center(convert(single), p)
            assert str(center.direction.dtype).endswith("float32")
            np.testing.assert_allclose(center.radius, reference.radius, atol=1e-5)
            np.testing.assert_allclose(np.asarray(center.direction), reference.direction, atol=1e-5)


@pytest.mark.parametrize("p", [2.0, 3.0])
def test_float32_without_float64(p: float) -> None:
    """JAX as it comes has no float64 at all; the certified gap stays below 1e-5."""
    with jax.enable_x64(False):
        for G in well_posed(3, 40):
            center = chebyshev_center(jnp.asarray(G.astype(np.float32)), p)
            assert center.status is Status.OPTIMAL
            assert center.gap <= 1e-5
            np.testing.assert_allclose(center.radius, chebyshev_center(G, p).radius, atol=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_rows_are_promoted(dtype: str) -> None:
    G = well_posed(3, 40)[0]
    G = G / np.abs(G).max(axis=1)[:, None]
    for rows in (torch.tensor(G).to(getattr(torch, dtype)), jnp.asarray(G).astype(getattr(jnp, dtype))):
        center = chebyshev_center(rows)
        assert center.status is Status.OPTIMAL
        assert str(center.direction.dtype).endswith("float32")
        whole = np.asarray(rows.double() if isinstance(rows, torch.Tensor) else rows.astype(jnp.float64))
        np.testing.assert_allclose(center.radius, chebyshev_center(whole).radius, atol=1e-6)


@pytest.mark.parametrize("p", SMOOTH)
def test_compiled_and_batched(p: float) -> None:
    G = jnp.asarray(np.stack(well_posed(3, 40)))
    compiled = jax.jit(lambda G: chebyshev_center(G, p))(G[0])
    eager = chebyshev_center(G[0], p)
    assert compiled.status == Status.OPTIMAL
    np.testing.assert_allclose(compiled.direction, eager.direction, atol=1e-14)
    batched: Any = jax.vmap(lambda G: chebyshev_center(G, p))(G)
    for k in range(len(G)):
        one = chebyshev_center(G[k], p)
        assert batched.status[k] == one.status
        np.testing.assert_allclose(batched.direction[k], one.direction, atol=1e-10)
        np.testing.assert_allclose(batched.weights[k], one.weights, atol=1e-10)


def test_sixty_four_losses_compile() -> None:
    G = np.random.default_rng(0).normal(size=(64, 100)) + 0.2
    assert_agree(chebyshev_center(G), chebyshev_center(jnp.asarray(G)), 2.0)


def test_bad_rows_inside_jit() -> None:
    """Shapes are fixed there, so bad rows are masked: the same statuses, and the others' answer."""
    G = well_posed(3, 40)[0]
    solve = jax.jit(chebyshev_center)
    zero, broken = np.insert(G, 1, 0.0, axis=0), np.insert(G, 1, np.nan, axis=0)
    out = solve(jnp.asarray(zero))
    assert out.status == Status.ZERO_ROW
    np.testing.assert_allclose(out.direction, chebyshev_center(G).direction, atol=1e-12)
    out = solve(jnp.asarray(broken))
    assert out.status == Status.NONFINITE
    assert not out.direction.any()
    assert out.dropped.tolist() == [False, True, False, False]
    assert solve(jnp.asarray(np.vstack([G, -G[0]]))).status == Status.STATIONARY
    two = jnp.asarray(np.stack([G[0], 0 * G[0]]))
    np.testing.assert_allclose(solve(two).direction, G[0] / np.linalg.norm(G[0]), atol=1e-14)
    three = jnp.asarray(np.stack([G[0], 0 * G[0], G[1]]))
    np.testing.assert_allclose(solve(three).direction, chebyshev_center(G[:2]).direction, atol=1e-12)


def test_linear_programs_do_not_run_inside_jit() -> None:
    with pytest.raises(IncenterError, match=r"p=1.0 .* jit"):
        jax.jit(lambda G: chebyshev_center(G, 1))(jnp.eye(2))


def test_certify_inside_jit() -> None:
    G = jnp.asarray(well_posed(3, 40)[0])
    center = chebyshev_center(G)
    bounds = jax.jit(certify)(G, center.weights, center.direction)
    assert bounds.lower <= center.radius <= bounds.upper
