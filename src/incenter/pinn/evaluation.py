"""From a term and a sample to the term's equations: which streams they need, and their values.

The residual runs twice. First inside `jax.eval_shape`, on fields that record what is asked of each output on each side
(a periodic term sees two); then on fields whose streams the network has computed, those and no others.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from incenter.geometry.errors import IncenterError
from incenter.pinn.fields import Field
from incenter.pinn.operators import Needs
from incenter.pinn.pointwise import is_pointwise
from incenter.pinn.recording import Evaluated, Recorder, Source
from incenter.pinn.taylor import Array

Names = tuple[str, ...]
SideNeeds = tuple[Needs | None, ...]  # by output; None where it is not looked at


class Demand(NamedTuple):
    """What a term needs of the network."""

    here: SideNeeds
    there: SideNeeds  # at the partners of the points; all None without them
    equations: int


class Side:
    """The outputs on one side of a pair of points, `left.u`; with one output the side is that field itself."""

    def __init__(self, fields: Mapping[str, Field]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Field:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._fields:
            raise IncenterError(f"A side has no output {name!r}; its outputs are {', '.join(self._fields)}.")
        return self._fields[name]


class Evaluation(NamedTuple):
    """How the terms of a problem see its network."""

    axes: Names
    outputs: Names

    def discover(self, term: Any, sample: Any, unknowns: Mapping[str, Any]) -> Demand:
        """The needs of a term, from the shapes of a sample and of the unknown scalars."""
        recorders: list[Recorder] = []
        equations = jax.eval_shape(self._recorded(term, recorders), sample, dict(unknowns))
        found = [recorder.needs() for recorder in recorders]
        sides = [tuple(needs.get(name) for name in self.outputs) for needs in found]
        nothing: SideNeeds = (None,) * len(self.outputs)
        return Demand(sides[0], sides[1] if len(sides) > 1 else nothing, len(equations))

    def takes_portions(self, term: Any, sample: Any, unknowns: Mapping[str, Any], size: int) -> bool:
        """Whether the term may be evaluated for so many of the points at a time."""
        portion = jax.eval_shape(
            lambda: jax.tree.map(lambda leaf: jnp.zeros((size, *leaf.shape[1:]), leaf.dtype), sample)
        )
        return is_pointwise(self._recorded(term, []), (sample, dict(unknowns)), (portion, dict(unknowns)))

    def _recorded(self, term: Any, recorders: list[Recorder]) -> Callable[..., tuple[Array, ...]]:
        """The term's equations on fields that record; the recorders, one for each side, are put into the list."""

        def run(sample: Any, unknowns: Mapping[str, Any]) -> tuple[Array, ...]:
            here = Recorder(self.axes, sample.points, sample.normals)
            there = None if sample.partners is None else Recorder(self.axes, sample.partners, sample.normals)
            recorders[:] = [here] if there is None else [here, there]
            return tuple(term.components(self._names(term, here, there, unknowns), sample))

        return run

    def components(
        self, term: Any, demand: Demand, network: Any, unknowns: Mapping[str, Array], sample: Any
    ) -> tuple[Array, ...]:
        """The equations of a term at a sample, each (N,)."""
        here = self._evaluated(network, sample.points, sample.normals, demand.here)
        there = None
        if sample.partners is not None:
            there = self._evaluated(network, sample.partners, sample.normals, demand.there)
        return tuple(term.components(self._names(term, here, there, unknowns), sample))

    def _evaluated(self, network: Any, points: Array, normals: Array | None, needs: SideNeeds) -> Evaluated:
        jets = network.push(points, needs) if any(one is not None for one in needs) else needs
        by_name = {name: jet for name, jet in zip(self.outputs, jets, strict=True) if jet is not None}
        return Evaluated(self.axes, points, normals, by_name)

    def _names(self, term: Any, here: Source, there: Source | None, unknowns: Mapping[str, Any]) -> dict[str, Any]:
        fields = {name: Field(name, here) for name in self.outputs}
        if there is None or not term.paired:
            return {**fields, **unknowns}
        partners = {name: Field(name, there) for name in self.outputs}
        return {"left": self._side(fields), "right": self._side(partners), **unknowns}

    def _side(self, fields: dict[str, Field]) -> Any:
        return fields[self.outputs[0]] if len(self.outputs) == 1 else Side(fields)
