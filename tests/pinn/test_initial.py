"""Random numbers for initial weights."""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats

from incenter.pinn import MLP
from incenter.pinn.initial import children, jax_key, normal


def test_standard_normal_and_uncorrelated() -> None:
    drawn = normal(7, (200, 100), np.float64)
    assert stats.kstest(drawn.ravel(), "norm").pvalue > 1e-3
    others = [normal(key, (200, 100), np.float64) for key in (8, *children(7, 2), *children(8, 1))]
    for other in others:
        assert abs(np.corrcoef(drawn.ravel(), other.ravel())[0, 1]) < 5 / np.sqrt(drawn.size)


def test_single_precision_is_double_rounded() -> None:
    assert np.array_equal(normal(1, (50,), np.float32), normal(1, (50,), np.float64).astype(np.float32))


def test_any_form_of_a_key_and_any_place_give_the_same() -> None:
    expected = normal(5, (30,), np.float64)
    assert np.array_equal(normal(jax.random.key(5), (30,), np.float64), expected)
    traced = jax.jit(lambda seed: normal(seed, (30,), jnp.float64))(jnp.uint32(5))
    assert np.allclose(traced, expected, rtol=1e-13, atol=1e-14)
    below = jax.jit(lambda seed: normal(children(seed, 2)[1], (30,), jnp.float64))(jnp.uint32(5))
    assert np.allclose(below, normal(children(5, 2)[1], (30,), np.float64), rtol=1e-13, atol=1e-14)


def test_keys_for_jax_differ_with_the_key() -> None:
    one, two = (np.asarray(jax.random.normal(jax_key(key), (20,))) for key in (3, 4))
    assert not np.array_equal(one, two)
    assert np.array_equal(one, jax.random.normal(jax.random.key(3), (20,)))


def test_a_network_starts_at_the_same_place_in_both_precisions() -> None:
    narrow, wide = (MLP(6, 2).build(("x", "t"), ("u",), 11, dtype) for dtype in (jnp.float32, jnp.float64))
    for one, two in zip(narrow.weights, wide.weights, strict=True):
        assert np.array_equal(one, two.astype(jnp.float32))
