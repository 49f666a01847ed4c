"""Draws are a function of key, counters and index alone, the same in every library, and look random."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from incenter import IncenterError
from incenter.methods.randomness import random_bits, uniform

KEYS = [0, 7, -1, 2**31, 2**40 + 3, 2**63 - 1]


@pytest.mark.parametrize("key", KEYS)
def test_jax_draws_what_numpy_draws(key: int) -> None:
    mine = uniform(np, key, 3, shape=(4, 5))
    np.testing.assert_array_equal(uniform(jnp, key, 3, shape=(4, 5)), mine)
    traced = jax.jit(lambda key, step: uniform(jnp, key, step, shape=(4, 5)))
    np.testing.assert_array_equal(traced(key, 3), mine)


@pytest.mark.parametrize("key", [0, 7, 123])
def test_all_forms_of_a_key_are_the_same(key: int) -> None:
    forms = [
        np.int32(key),
        np.asarray(key),
        np.array([0, key], dtype=np.uint32),
        torch.tensor(key),
        jax.random.key(key),
        jax.random.PRNGKey(key),
        jnp.asarray(key),
    ]
    for form in forms:
        np.testing.assert_array_equal(random_bits(np, form, shape=(9,)), random_bits(np, key, shape=(9,)))
    for form in forms[-3:]:
        traced = jax.jit(lambda form: random_bits(jnp, form, shape=(9,)))(form)
        np.testing.assert_array_equal(traced, random_bits(np, key, shape=(9,)))


def test_known_values() -> None:
    """Draws must not change between versions: a run is a function of its seed."""
    assert random_bits(np, 0, shape=(3,)).tolist() == [3552891700, 2683610097, 3780665357]


def test_keys_counters_and_indices_all_matter() -> None:
    bits = [random_bits(np, key, step, shape=(50,)) for key in range(20) for step in range(20)]
    assert len(set(np.concatenate(bits).tolist())) > 20_000 - 5  # equal ones only as often as by chance


def test_draws_are_uniform_and_uncorrelated() -> None:
    along_keys = np.array([uniform(np, key, shape=())[()] for key in range(4000)])
    along_steps = np.array([uniform(np, 0, step, shape=())[()] for step in range(4000)])
    along_index = uniform(np, 0, shape=(4000,))
    for draws in (along_keys, along_steps, along_index):
        counts = np.histogram(draws, bins=20, range=(0, 1))[0]
        assert np.sum((counts - 200.0) ** 2 / 200) < 63  # chi square with 19 degrees of freedom, one in a million
        assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 5 / 4000**0.5


def test_each_bit_of_the_index_moves_half_of_the_output() -> None:
    bits = random_bits(np, 1, shape=(2**12,))
    for k in range(12):
        changed = bits ^ bits[np.arange(2**12) ^ (1 << k)]
        assert abs(np.mean([int(x).bit_count() for x in changed]) - 16) < 0.3


@pytest.mark.parametrize(
    ("key", "seen"),
    [
        (1.5, "got float"),
        ("a", "got str"),
        (None, "got NoneType"),
        (np.array([1.0, 2.0]), "got dtype float64"),
        (np.zeros((2, 2), dtype=np.uint32), r"shape \(2, 2\)"),
    ],
)
def test_other_keys_are_refused(key: Any, seen: str) -> None:
    with pytest.raises(IncenterError, match=f"`key` must be an int, a JAX key or a vector of uint32; {seen}|{seen}"):
        random_bits(np, key, shape=(1,))
