"""The losses of a problem: where each one's points lie, and its equations there.

A residual is a function whose parameters are names: outputs of the network, unknown scalars, and what its term adds
(`value` in Data; `left` and `right` in Periodic, which stand for the outputs on the two sides). A parameter with a
default keeps it. A residual returns one array (N,) or a tuple of them, one per equation; the loss of a term is the sum
over the equations of the mean square over the points.

`draw` makes the points of a step as a pure function of a key (seed, step, term), in fixed shapes. A term whose sampler
is `Adaptive` is `stateful`: its points are a memory, made by `memory` and handed on by `redraw`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from incenter.geometry.arrays import Array
from incenter.geometry.errors import IncenterError
from incenter.methods.randomness import as_words
from incenter.methods.randomness import uniform as uniform_numbers
from incenter.pinn.adaptive import Adaptive
from incenter.pinn.boundary import Sides, edge, read_sides
from incenter.pinn.domain import TIME, Domain
from incenter.pinn.observations import check_inside, read_points, read_values
from incenter.pinn.residuals import Residual, equations_of, read_count, read_residual
from incenter.pinn.samplers import Key, Sample, Sampler, along, inside, picked, uniform

Score = Callable[[Sample], Array]  # the size of the residual at each point, (N,)


class Term:
    """What all terms share."""

    extra: ClassVar[tuple[str, ...]] = ()  # names that the term itself gives to the residual
    paired: ClassVar[bool] = False  # whether the outputs are seen on two sides, as `left` and `right`
    interior: ClassVar[bool] = False  # whether this is the PDE's residual
    stateful: bool = False
    residual: Residual

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The names that the residual wants."""
        return read_residual(type(self).__name__, self.residual)

    def components(self, names: Mapping[str, Any], sample: Sample) -> tuple[Array, ...]:
        """The equations at the sample, each (N,); `names` are outputs (or `left` and `right`) and unknowns."""
        given = {**names, **self.given(sample)}
        result = self.residual(**{name: given[name] for name in self.arguments})
        return equations_of(result, sample.points.shape[0])

    def given(self, sample: Sample) -> dict[str, Array]:
        """What the term adds to the names, by the names of `extra`."""
        return {}

    def check(self, domain: Domain) -> None:
        """One sentence where the term does not fit the domain."""

    def draw(self, domain: Domain, key: Key, dtype: Any) -> Sample:
        """The points of a step."""
        seed, *rest = key
        sample: Sample = _spread((as_words(seed), *rest), self, domain, dtype)
        return sample

    def spread(self, domain: Domain, count: int, key: Key, dtype: Any) -> Sample:
        """`count` points."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many points a step has."""
        raise NotImplementedError


class Sampled(Term):
    """A term whose points are drawn from the domain by a sampler."""

    count: int
    sampler: Sampler

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", read_count(type(self).__name__, self.count))
        read_residual(type(self).__name__, self.residual)
        if not callable(getattr(self.sampler, "cube", None)):
            raise IncenterError(f"`sampler` must be uniform, sobol, fixed or Adaptive(); got {self.sampler!r}.")

    @property
    def size(self) -> int:
        return self.count

    @property
    def stateful(self) -> bool:  # type: ignore[override]
        return isinstance(self.sampler, Adaptive)

    def memory(self, domain: Domain, key: Key, dtype: Any) -> Sample:
        """The points that a stateful term starts with."""
        return self.draw(domain, key, dtype)

    def redraw(self, domain: Domain, key: Key, memory: Sample, score: Score) -> Sample:
        """The points of a step of a stateful term, its memory for the next one too; `key` is (seed, step, term)."""
        sampler = self.sampler
        assert isinstance(sampler, Adaptive), "only stateful terms are redrawn"

        def refreshed() -> Sample:
            pool = self.spread(domain, sampler.candidates * self.count, key, memory.points.dtype)
            chosen = sampler.chosen(score(pool), self.count, key)
            return picked(pool, chosen)

        step = jnp.asarray(key[1])
        sample: Sample = jax.lax.cond((step % sampler.every == 0) & (step > 0), refreshed, lambda: memory)
        return sample


@dataclass(frozen=True, eq=False)
class Interior(Sampled):
    """The PDE at `count` points of the domain."""

    interior: ClassVar[bool] = True
    count: int
    residual: Residual
    sampler: Sampler = uniform

    def spread(self, domain: Domain, count: int, key: Key, dtype: Any) -> Sample:
        return inside(domain, count, self.sampler, key, dtype)


@dataclass(frozen=True, eq=False)
class Boundary(Sampled):
    """A condition at `count` points of the boundary: of all of it but the ends of time, or of the sides `on`.

    `on` is the name of an axis ("x", both faces across it), of a face ("x-", "x+"), "disc" for the arcs of discs, or a
    tuple of such names.
    """

    count: int
    residual: Residual
    on: Sides = None
    sampler: Sampler = uniform

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "on", read_sides(self.on))

    def check(self, domain: Domain) -> None:
        _check_faces(self, domain, self.on)

    def spread(self, domain: Domain, count: int, key: Key, dtype: Any) -> Sample:
        return along(edge(domain, self.on), count, self.sampler, key, dtype)


@dataclass(frozen=True, eq=False)
class Initial(Sampled):
    """A condition at `count` points where time starts."""

    count: int
    residual: Residual
    sampler: Sampler = uniform

    def check(self, domain: Domain) -> None:
        if TIME not in domain.axes:
            raise IncenterError(
                f"Initial needs a time axis called t, and {domain!r} has {', '.join(domain.axes)}; "
                "call time t, or use Boundary."
            )
        _check_faces(self, domain, f"{TIME}-")

    def spread(self, domain: Domain, count: int, key: Key, dtype: Any) -> Sample:
        return Sample(along(edge(domain, f"{TIME}-"), count, self.sampler, key, dtype).points)


@dataclass(frozen=True, eq=False)
class Periodic(Sampled):
    """A condition that couples `count` points of the face where an axis starts to their partners where it ends."""

    paired: ClassVar[bool] = True
    count: int
    residual: Residual
    on: str | tuple[str, ...] = "x"
    sampler: Sampler = uniform

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "on", read_sides(self.on) or "x")

    def check(self, domain: Domain) -> None:
        for axis in self._axes:
            if not domain.has_opposite_sides(axis):
                fit = [name for name in domain.axes if domain.has_opposite_sides(name)]
                raise IncenterError(
                    f"Periodic(on={axis!r}) needs two whole faces across {axis}, and {domain!r} has none; "
                    + (f"it has them across {', '.join(fit)}." if fit else "use a Box.")
                )
        _check_faces(self, domain, self._starts)

    def spread(self, domain: Domain, count: int, key: Key, dtype: Any) -> Sample:
        points, normals, _, _ = along(edge(domain, self._starts), count, self.sampler, key, dtype)
        ends = jnp.asarray([end for _, end in domain.bounds], dtype)
        return Sample(points, partners=jnp.where(normals < 0, ends, points))

    @property
    def _axes(self) -> tuple[str, ...]:
        return (self.on,) if isinstance(self.on, str) else self.on

    @property
    def _starts(self) -> tuple[str, ...]:
        return tuple(f"{axis}-" for axis in self._axes)


@dataclass(frozen=True, eq=False)
class Data(Term):
    """Observations (N, d), (N,) or (N, k): all of them at every step, or about `count`, one of each of `count` strata.

    The residual has them as `value`, in the shape of `values`. Each observation is as likely as any other.
    """

    extra: ClassVar[tuple[str, ...]] = ("value",)
    points: Any
    values: Any
    residual: Residual
    count: int | None = None

    def __post_init__(self) -> None:
        points = read_points("Data", self.points)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "values", read_values("Data", self.values, len(points)))
        read_residual("Data", self.residual)
        if self.count is not None:
            object.__setattr__(self, "count", read_count("Data", self.count))
            if self.size > len(points):
                raise IncenterError(f"Data has {len(points)} points, fewer than count={self.count}; leave count out.")

    @property
    def size(self) -> int:
        return len(self.points) if self.count is None else self.count

    def check(self, domain: Domain) -> None:
        check_inside("Data", self.points, domain)

    def given(self, sample: Sample) -> dict[str, Array]:
        return {"value": sample.values}

    def spread(self, domain: Domain, count: int, key: Key, dtype: Any) -> Sample:
        points, values = jnp.asarray(self.points, dtype), jnp.asarray(self.values, dtype)
        if count == len(self.points):
            return Sample(points, values=values)
        starts = np.arange(count) * (len(self.points) / count)
        offset = uniform_numbers(jnp, *key, shape=(count,)) * (len(self.points) / count) + (starts % 1.0)
        chosen = jnp.asarray(starts, dtype=jnp.int32) + jnp.floor(offset).astype(jnp.int32)
        return picked(Sample(points, values=values), jnp.minimum(chosen, len(self.points) - 1))


def _check_faces(term: Sampled, domain: Domain, on: Sides) -> None:
    """One sentence where the sides are unknown, or too many for the points."""
    part = edge(domain, on)
    if part.evenly and term.count < len(part.pieces):
        raise IncenterError(
            f"{type(term).__name__} has {term.count} points for {len(part.pieces)} faces "
            f"({', '.join(piece.side for piece in part.pieces)}); give it at least {len(part.pieces)}, or fewer faces."
        )


@partial(jax.jit, static_argnums=(1, 2, 3))
def _spread(key: Key, term: Term, domain: Domain, dtype: Any) -> Sample:
    """Compiled also where the caller is not, so that both give the same bits: fused products round once."""
    return term.spread(domain, term.size, key, dtype)
