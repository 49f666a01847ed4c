"""Where fields take their numbers from: streams that have been computed, or before that, notes of what is asked."""

from collections.abc import Mapping
from typing import Protocol

from incenter.pinn.operators import Needs, Operator, needs_of
from incenter.pinn.taylor import Array, Jet


class Source(Protocol):
    """Where fields on one set of points take their numbers from."""

    axes: tuple[str, ...]
    points: Array  # (N, d)
    normals: Array | None  # (N, d), on a boundary

    def value(self, output: str) -> Array: ...
    def first(self, output: str, axis: int) -> Array: ...
    def second(self, output: str, operator: Operator) -> Array: ...


class Evaluated:
    """The source of fields whose streams have been computed."""

    def __init__(self, axes: tuple[str, ...], points: Array, normals: Array | None, jets: Mapping[str, Jet]) -> None:
        self.axes, self.points, self.normals = axes, points, normals
        self._jets = jets

    def value(self, output: str) -> Array:
        return self._jets[output].value()

    def first(self, output: str, axis: int) -> Array:
        return self._jets[output].first(axis)

    def second(self, output: str, operator: Operator) -> Array:
        return self._jets[output].second(operator)


class Recorder:
    """The source that notes what is asked for and answers with some array of the right shape."""

    def __init__(self, axes: tuple[str, ...], points: Array, normals: Array | None) -> None:
        self.axes, self.points, self.normals = axes, points, normals
        self._first: dict[str, set[int]] = {}
        self._second: dict[str, set[Operator]] = {}

    def value(self, output: str) -> Array:
        self._first.setdefault(output, set())
        return self.points[:, 0]

    def first(self, output: str, axis: int) -> Array:
        self._first.setdefault(output, set()).add(axis)
        return self.points[:, 0]

    def second(self, output: str, operator: Operator) -> Array:
        self._second.setdefault(output, set()).add(operator)
        return self.points[:, 0]

    def needs(self) -> dict[str, Needs]:
        """By output; one that was not looked at is missing."""
        used = {*self._first, *self._second}
        return {name: needs_of(self._first.get(name, ()), self._second.get(name, ())) for name in sorted(used)}
