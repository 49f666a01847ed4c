r"""Residual-based adaptive points: every so many steps, more of them where the residual r is large.

    density  ~  |r|^k / mean(|r|^k) + c                                                                        (1)

over a pool of uniform candidates, `candidates` for each point wanted; they are drawn without replacement, as the
largest of log(density) + Gumbel noise. Between two draws the points stay. Until the first one they are uniform.
A residual that is not finite counts as zero here: what becomes of such a step is the trainer's business.
Reference: Wu et al., A comprehensive study of non-adaptive and residual-based adaptive sampling for physics-informed
neural networks, 2023, eq. (2) (RAD, with k = 1 and c = 1). Differs from it: the pool is redrawn each time.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from incenter.geometry.arrays import Array
from incenter.geometry.errors import IncenterError
from incenter.methods.randomness import random_bits
from incenter.pinn.domain import Cube
from incenter.pinn.samplers import Key, uniform

_GUMBEL_STREAM = 1  # a counter behind the term's, so that the noise is not that of the points


@dataclass(frozen=True)
class Adaptive:
    """Points after (1), refreshed at the steps that `every` divides, but for step 0."""

    every: int = 100
    candidates: int = 4
    power: float = 1.0  # k
    floor: float = 1.0  # c

    def __post_init__(self) -> None:
        for name, least in (("every", 1), ("candidates", 2)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise IncenterError(f"`{name}` must be a whole number, at least {least}; got {value!r}.")
        for name in ("power", "floor"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise IncenterError(f"`{name}` must be a finite number, 0 or larger; got {value!r}; the paper has 1.")

    def cube(self, count: int, columns: int, key: Key, dtype: Any) -> Cube:
        """Candidates, uniformly drawn: points in the unit cube, (count, columns)."""
        return uniform.cube(count, columns, key, dtype)

    def chosen(self, score: Array, count: int, key: Key) -> Array:
        """Indices (count,) of candidates, drawn after (1) without replacement; `score` is |r|, (pool,)."""
        bits = random_bits(jnp, *key, _GUMBEL_STREAM, shape=score.shape)
        unit = ((bits >> 9).astype(score.dtype) + 0.5) * 2.0**-23  # never 0 and never 1, in float32 either
        return jax.lax.top_k(jnp.log(self.density(score)) - jnp.log(-jnp.log(unit)), count)[1]

    def density(self, score: Array) -> Array:
        """(1), up to a factor."""
        size = jnp.where(jnp.isfinite(score), jnp.abs(score), 0.0)
        raised = (size / _or_one(jnp.max(size))) ** self.power
        mean = jnp.mean(raised)
        return jnp.where(mean > 0, raised / _or_one(mean), 1.0) + self.floor


def _or_one(number: Array) -> Array:
    return jnp.where(number > 0, number, 1.0)
