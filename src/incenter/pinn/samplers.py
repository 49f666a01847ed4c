"""How the points of a term are spread: rows of the unit cube, and what a domain makes of them.

A sampler makes `cube(count, columns, key, dtype)`, points of [0, 1)^columns as a function of the key (seed, step,
term) and nothing else. A domain that refuses candidates (a union, a difference) gets so many that running short has
odds below 1e-14; the first `count` accepted ones are taken. Should they still run short, those accepted are
taken again from the first on, and one candidate known to be accepted stands behind them all.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax.numpy as jnp

from incenter.geometry.arrays import Array
from incenter.methods.randomness import random_bits
from incenter.pinn.domain import Cube, Domain, Piece, Points

Key = tuple[Any, ...]  # counters (seed, step, term), ints or traced ints


class Sample(NamedTuple):
    """The points of a term at one step: (N, d), and where it has them normals, partners (N, d) and values (N, k)."""

    points: Points
    normals: Points | None = None
    partners: Points | None = None
    values: Array | None = None


class Sampler(Protocol):
    """What spreads points over the unit cube."""

    def cube(self, count: int, columns: int, key: Key, dtype: Any) -> Cube: ...


@dataclass(frozen=True)
class Uniform:
    """Independent uniform points, new at every step."""

    def cube(self, count: int, columns: int, key: Key, dtype: Any) -> Cube:
        return _to_unit(random_bits(jnp, *key, shape=(count, columns)), dtype)


uniform = Uniform()


def inside(domain: Domain, count: int, sampler: Sampler, key: Key, dtype: Any) -> Sample:
    """Points uniform over the domain."""
    return Sample(domain.place(sampler.cube(count, len(domain.axes), key, dtype)).points)


def over(domain: Domain, pieces: tuple[Piece, ...], count: int, sampler: Sampler, key: Key, dtype: Any) -> Sample:
    """Points over pieces of the boundary, dealt evenly to the faces of a box, with the normals."""
    cube = sampler.cube(count, len(domain.axes) - 1, key, dtype)
    cuts = [count * k // len(pieces) for k in range(len(pieces) + 1)]
    placed = [piece.place(cube[cuts[k] : cuts[k + 1]]) for k, piece in enumerate(pieces)]
    return Sample(jnp.concatenate([one.points for one in placed]), jnp.concatenate([one.normals for one in placed]))


def _to_unit(bits: Array, dtype: Any) -> Cube:
    """[0, 1) on a grid that the dtype holds exactly: 2^-24 in float32, 2^-32 in float64."""
    if dtype == jnp.float32:
        return (bits >> 8).astype(dtype) * jnp.asarray(2.0**-24, dtype)
    return bits.astype(dtype) * jnp.asarray(2.0**-32, dtype)
