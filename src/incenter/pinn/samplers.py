"""How the points of a term are spread: rows of the unit cube, and what a domain makes of them.

A sampler makes `cube(count, columns, key, dtype)`, points of [0, 1)^columns, as a function of the key (seed, step,
term) and nothing else. `uniform` and `sobol` are new at every step, `fixed` never. A set that refuses a share of its
candidates gets M of them, so many that running short of N accepted ones has odds below 1e-14, by Chernoff's bound

    M D((N - 1) / M | f) >= log 1e14,     D(a | f) = a log(a / f) + (1 - a) log((1 - a) / (1 - f)),              (1)

f being the share accepted, measured, less what the measurement may be off. The first N accepted are taken. Should they
run short nevertheless, the accepted ones are taken again from the first on; the last candidate is one known to be
accepted.
Reference: Owen, Monte Carlo theory, methods and examples, chapter 17 (digital shifts of nets).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from incenter.geometry.arrays import Array
from incenter.geometry.errors import IncenterError
from incenter.methods.randomness import random_bits
from incenter.pinn.boundary import Edge
from incenter.pinn.domain import (
    MEASURED,
    SMALLEST_SHARE,
    Accepted,
    Cube,
    Domain,
    Normals,
    Placed,
    Points,
    Share,
    share_of,
)

Key = tuple[Any, ...]  # counters (seed, step, term), ints or traced ints

_ODDS = math.log(1e14)  # against running short: a long study draws 1e10 times
_ODDS_MEASURED = 4.5  # three standard deviations, and the points that measure are more even than chance
_WORD_BITS = 32


class Sample(NamedTuple):
    """The points of a term at one step: (N, d), and where it has them normals, partners (N, d) and values (N, k)."""

    points: Points
    normals: Normals = None
    partners: Points = None
    values: Array = None


class Sampler(Protocol):
    """What spreads points over the unit cube."""

    def cube(self, count: int, columns: int, key: Key, dtype: Any) -> Cube:
        """(count, columns) in [0, 1)."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Independent uniform points, new at every step."""

    def cube(self, count: int, columns: int, key: Key, dtype: Any) -> Cube:
        return _to_unit(random_bits(jnp, *key, shape=(count, columns)), dtype)


@dataclass(frozen=True)
class Fixed:
    """Uniform points that stay the same at every step; another seed has others."""

    def cube(self, count: int, columns: int, key: Key, dtype: Any) -> Cube:
        seed, _, *term = key
        return uniform.cube(count, columns, (seed, 0, *term), dtype)


@dataclass(frozen=True)
class Sobol:
    """The first points of Sobol's sequence, shifted digit by digit by new random words at every step."""

    def cube(self, count: int, columns: int, key: Key, dtype: Any) -> Cube:
        shift = random_bits(jnp, *key, shape=(1, columns))
        return _to_unit(jnp.asarray(_sobol_words(count, columns)) ^ shift, dtype)


uniform = Uniform()
fixed = Fixed()
sobol = Sobol()


def inside(domain: Domain, count: int, sampler: Sampler, key: Key, dtype: Any) -> Sample:
    """Points uniform over the domain."""
    columns = len(domain.axes)
    return _drawn(domain.place, interior_share(domain), columns, count, sampler, key, dtype)


def along(edge: Edge, count: int, sampler: Sampler, key: Key, dtype: Any) -> Sample:
    """Points over part of a boundary, with the outward normals."""
    return _drawn(edge.place, edge.share, edge.columns, count, sampler, key, dtype)


def candidates(count: int, share: Share) -> int:
    """M of (1)."""
    if share.example is None:
        return count
    f = _bisected(0.0, share.fraction, lambda f: MEASURED * _divergence(share.fraction, f) <= _ODDS_MEASURED)
    least = (count - 1) / f
    most = 2 * least + 4 * _ODDS / f
    return math.ceil(_bisected(least, most, lambda M: M * _divergence((count - 1) / M, f) >= _ODDS)) + 1


def first_accepted(accepted: Accepted, count: int) -> Array:
    """The indices (count,) of the first accepted candidates, again from the first on where there are fewer."""
    place = jnp.cumsum(accepted, dtype=jnp.int32) - 1
    every = jnp.arange(accepted.shape[0], dtype=jnp.int32)
    index = jnp.zeros(count, dtype=jnp.int32).at[jnp.where(accepted, place, count)].set(every, mode="drop")
    return index[jnp.arange(count) % jnp.clip(place[-1] + 1, 1, count)]


def picked(sample: Sample, chosen: Array) -> Sample:
    """The rows of a sample with these indices."""
    rows: Sample = jax.tree.map(lambda array: array[chosen], sample)
    return rows


def _drawn(
    place: Callable[[Cube], Placed], share: Share, columns: int, count: int, sampler: Sampler, key: Key, dtype: Any
) -> Sample:
    cube = sampler.cube(candidates(count, share), columns, key, dtype)
    if share.example is not None:
        cube = jnp.concatenate([cube, jnp.asarray(share.example, dtype=dtype)])
    placed = place(cube)
    if placed.accepted is None:
        return Sample(placed.points, placed.normals)
    chosen = first_accepted(placed.accepted, count)
    return picked(Sample(placed.points, placed.normals), chosen)


@lru_cache
def interior_share(domain: Domain) -> Share:
    """How much of the candidates for its interior a domain accepts."""
    share = share_of(domain.place, len(domain.axes))
    if share.fraction < SMALLEST_SHARE:
        raise IncenterError(
            f"{domain!r} fills only {share.fraction:.1g} of the box around it, too little to draw points from; "
            "make the parts larger, or one problem of each."
        )
    return share


def _divergence(a: float, f: float) -> float:
    """D of (1), infinite where f is 0 or 1 and a is not."""
    terms = [(a, f), (1 - a, 1 - f)]
    return sum(x * math.log(x / y) if y > 0 else math.inf for x, y in terms if x > 0)


def _bisected(low: float, high: float, holds: Callable[[float], bool]) -> float:
    """Where a condition that holds at `high` and not at `low` begins to hold."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@lru_cache
def _sobol_words(count: int, columns: int) -> np.ndarray:
    """The first points of the sequence in 32 binary digits, (count, columns); SciPy gives powers of two of them."""
    if columns == 0:
        return np.zeros((count, 0), dtype=np.uint32)
    from scipy.stats.qmc import Sobol as Sequence

    points = Sequence(columns, scramble=False, bits=_WORD_BITS).random_base2(max(count - 1, 0).bit_length())
    return (points[:count] * 2.0**_WORD_BITS).astype(np.uint32)


def _to_unit(bits: Array, dtype: Any) -> Cube:
    """[0, 1) on a grid that the dtype holds exactly: 2^-24 in float32, 2^-32 in float64."""
    if dtype == jnp.float32:
        return (bits >> 8).astype(dtype) * jnp.asarray(2.0**-24, dtype)
    return bits.astype(dtype) * jnp.asarray(2.0**-32, dtype)
