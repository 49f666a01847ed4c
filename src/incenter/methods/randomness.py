"""Random numbers from an explicit key, the same ones in NumPy, JAX and torch, also inside `jit`.

A key is an int, or what JAX has for a key (`jax.random.key(7)`, `PRNGKey(7)`, any array of uint32 words, a traced
int). All of them are read as 32-bit words, high word first, so 7 and `jax.random.key(7)` are the same key. The words,
the counters (a step number) and the index of the draw go one after another through a mixing function of 32 bits; draw k
of step t is thus a function of (key, t, k) and nothing has to be carried along.
Reference: Wellons, Prospecting for Hash Functions, 2018 (the constants of `lowbias32`).
"""

import math
import operator
import sys
from typing import Any

import numpy as np

from incenter.geometry.arrays import Array, Namespace, Scalar, to_small
from incenter.geometry.errors import IncenterError

_WORD = 0xFFFFFFFF
_GOLDEN = 0x9E3779B9


def random_bits(xp: Namespace, key: Any, *counters: Scalar, shape: tuple[int, ...]) -> Array:
    """Independent uint32 numbers; `xp` is a small namespace."""
    state = xp.asarray([_GOLDEN], dtype=xp.uint32)
    for word in [*_words(xp, key), *(_as_word(xp, counter) for counter in counters)]:
        state = _absorb(xp, state, word)
    index = xp.arange(math.prod(shape), dtype=xp.uint32)
    return xp.reshape(_absorb(xp, state, index), shape)


def uniform(xp: Namespace, key: Any, *counters: Scalar, shape: tuple[int, ...]) -> Array:
    """Uniform numbers in [0, 1) on a grid of 2^-24, which float32 holds exactly."""
    bits = random_bits(xp, key, *counters, shape=shape)
    return (bits >> 8) * xp.asarray(2.0**-24, dtype=xp.float32)


def as_words(key: Any) -> Any:
    """A key that compiled code takes as an argument: a Python int of any size as two words, anything else as it is."""
    if key is None or hasattr(key, "shape"):
        return key
    return np.concatenate(_integer_words(np, key))


def _absorb(xp: Namespace, state: Array, word: Array) -> Array:
    """A mix of both; mixed twice over, because neighbouring words (0, 1, 2, ...) must not give neighbouring states."""
    return _mix(xp, _mix(xp, word + xp.asarray([_GOLDEN], dtype=xp.uint32)) ^ state)


def _mix(xp: Namespace, x: Array) -> Array:
    """A bijection of 32-bit words in which every bit of the input moves about half of the output's."""
    x = (x ^ (x >> 16)) * xp.asarray([0x7FEB352D], dtype=xp.uint32)
    x = (x ^ (x >> 15)) * xp.asarray([0x846CA68B], dtype=xp.uint32)
    return x ^ (x >> 16)


def _words(xp: Namespace, key: Any) -> list[Array]:
    """The key as words of shape (1,): scalars would make NumPy warn of the wrap-around that is wanted."""
    if not hasattr(key, "shape"):
        return _integer_words(xp, key)
    key = to_small(_key_data(key))
    if key.shape == () and "int" in str(key.dtype):
        return _scalar_words(xp, xp.asarray(key))
    if len(key.shape) == 1 and str(key.dtype) == "uint32":
        words = xp.asarray(key)
        return [words[k : k + 1] for k in range(key.shape[0])]
    raise IncenterError(
        f"`key` must be an int, a JAX key or a vector of uint32; got dtype {key.dtype}, shape {tuple(key.shape)}."
    )


def _integer_words(xp: Namespace, key: Any) -> list[Array]:
    try:
        number = operator.index(key)
    except TypeError as error:
        raise IncenterError(
            f"`key` must be an int, a JAX key or a vector of uint32; got {type(key).__name__}; pass key=0."
        ) from error
    return [xp.asarray([word & _WORD], dtype=xp.uint32) for word in (number >> 32, number)]


def _scalar_words(xp: Namespace, key: Array) -> list[Array]:
    key = xp.reshape(key, (1,))
    if key.dtype.itemsize == 8:
        return [xp.astype(key >> 32, xp.uint32), xp.astype(key & _WORD, xp.uint32)]
    high = xp.where(key < 0, xp.asarray(_WORD, dtype=xp.uint32), xp.asarray(0, dtype=xp.uint32))
    return [high, xp.astype(key, xp.uint32)]


def _as_word(xp: Namespace, counter: Scalar) -> Array:
    return xp.reshape(xp.astype(xp.asarray(counter), xp.uint32), (1,))


def _key_data(key: Any) -> Any:
    """The words inside a typed JAX key; anything else as it is. Whoever has such a key has imported JAX."""
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(key, jax.Array) and jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key):
        return jax.random.key_data(key)
    return key
