"""The losses of a problem: where each one's points lie, and its equations there.

A residual is a function whose parameters are names: outputs of the network, unknown scalars, and what its term adds
(`value` in Data; `left` and `right` in Periodic, which stand for the outputs on the two sides). It returns one array (N,)
or a tuple of them, one per equation; the loss of a term is the sum over the equations of the mean square over points.

`draw` makes the points of a step as a pure function of a key (seed, step, term), in fixed shapes. A sampler with a
memory (`Adaptive`) starts from `memory` and looks at the residual in `redraw`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import jax.numpy as jnp

from incenter.geometry.arrays import Array
from incenter.pinn.domain import TIME, Domain, Piece
from incenter.pinn.samplers import Key, Sample, Sampler, inside, over, uniform

Residual = Callable[..., Any]


class Term:
    """What all terms share."""

    extra: ClassVar[tuple[str, ...]] = ()  # names that the term itself gives to the residual
    paired: ClassVar[bool] = False  # whether the outputs are seen on two sides
    interior: ClassVar[bool] = False  # whether this is the PDE's residual
    residual: Residual

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The names of the residual's parameters."""
        return tuple(inspect.signature(self.residual).parameters)

    def components(self, names: Mapping[str, Any], sample: Sample) -> tuple[Array, ...]:
        """The equations at the sample, each (N,). `names` gives outputs and unknowns, or `left` and `right`."""
        given = {**names, **self.given(sample)}
        result = self.residual(**{name: given[name] for name in self.arguments})
        equations = result if isinstance(result, (tuple, list)) else (result,)
        return tuple(jnp.asarray(equation) for equation in equations)

    def given(self, sample: Sample) -> dict[str, Array]:
        """What the term adds to the names."""
        return {}

    def draw(self, domain: Domain, key: Key, dtype: Any) -> Sample:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Interior(Term):
    """The PDE at `count` points of the domain."""

    interior: ClassVar[bool] = True
    count: int
    residual: Residual
    sampler: Sampler = uniform

    def draw(self, domain: Domain, key: Key, dtype: Any) -> Sample:
        return inside(domain, self.count, self.sampler, key, dtype)


@dataclass(frozen=True, eq=False)
class Boundary(Term):
    """A condition at `count` points of the boundary, by default on all of it but the ends of time."""

    count: int
    residual: Residual
    on: str | tuple[str, ...] | None = None
    sampler: Sampler = uniform

    def draw(self, domain: Domain, key: Key, dtype: Any) -> Sample:
        return over(domain, sides(domain, self.on), self.count, self.sampler, key, dtype)


@dataclass(frozen=True, eq=False)
class Initial(Term):
    """A condition at `count` points where time starts."""

    count: int
    residual: Residual
    sampler: Sampler = uniform

    def draw(self, domain: Domain, key: Key, dtype: Any) -> Sample:
        points = over(domain, sides(domain, f"{TIME}-"), self.count, self.sampler, key, dtype).points
        return Sample(points)


def sides(domain: Domain, on: str | tuple[str, ...] | None) -> tuple[Piece, ...]:
    """The pieces that `on` names: "x" (both faces across x), "x-", "x+", "disc"; None for all but those of time."""
    pieces = domain.pieces()
    if on is None:
        return tuple(piece for piece in pieces if piece.side.rstrip("+-") != TIME)
    names = (on,) if isinstance(on, str) else on
    return tuple(piece for piece in pieces if {piece.side, piece.side.rstrip("+-")} & set(names))
