"""Random numbers for initial weights: functions of a key by counting, with NumPy where the key is known.

JAX would compile a program for every shape of weights, about a second before the first step. Drawn in double precision
and rounded, a run in single precision starts where one in double does. Inside `jit` they are drawn by JAX, in the
precision wanted, and agree to rounding.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from incenter.methods.randomness import as_words, random_bits

Key = Any  # an int, a JAX key, or a vector of uint32 words


def words_of(key: Key) -> Any:
    """The key as words: NumPy's where it is known, JAX's inside `jit`."""
    if isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        key = jax.random.key_data(key)
    words = as_words(key)
    return words if isinstance(words, jax.core.Tracer) else np.asarray(words)


def jax_key(key: Key) -> jax.Array:
    """The key as one of `jax.random`, for modules that draw by themselves."""
    words = words_of(key)
    made: jax.Array = jax.random.wrap_key_data(
        jnp.asarray(words if words.ndim else random_bits(jnp, words, shape=(2,)))
    )
    return made


def children(key: Key, count: int) -> list[Any]:
    """Independent keys, a function of the key and their place."""
    words = words_of(key)
    return [random_bits(_library(words), words, place, shape=(2,)) for place in range(count)]


def normal(key: Key, shape: tuple[int, ...], dtype: Any, deviation: float = 1.0) -> Any:
    """Normal numbers around zero, after Box and Muller."""
    words = words_of(key)
    xp = _library(words)
    bits = random_bits(xp, words, shape=(2, *shape))
    unit = (bits >> 8).astype(np.float64 if xp is np else dtype) * 2.0**-24  # [0, 1), exactly
    return (deviation * xp.sqrt(-2 * xp.log1p(-unit[0])) * xp.cos(2 * math.pi * unit[1])).astype(dtype)


def _library(words: Any) -> Any:
    return np if isinstance(words, np.ndarray) else jnp
