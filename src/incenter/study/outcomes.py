"""What the store keeps of a run that has ended.

The fields are drawn on a 64 x 64 grid over the bounds of the domain, ends included, as float32:

    axis/x, axis/t      the coordinates, one array for each axis of the domain
    u                   each output: an axis of the array for each axis of the domain, in its order
    reference/u         the same of the reference, for the outputs that it has

A third axis, which is time in the problems here, is seen at a quarter, a half, three quarters and the end of it. A
domain with one axis gives curves of 64 points; one with more than three gives no fields.
"""

import functools
import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from incenter.study.packing import Array
from incenter.study.rows import Outcome
from incenter.study.surroundings import machine

if TYPE_CHECKING:
    from incenter.pinn import Problem, Result

POINTS = 64  # along each of the first two axes
TIMES = (0.25, 0.5, 0.75, 1.0)  # shares of a third one
_MOST_AXES = 3


def outcome_of(result: "Result", problem: "Problem", started: float, ended: float, commit: str | None) -> Outcome:
    """The outcome of a run that has come to an end of its own."""
    from incenter.pinn.saving import versions

    return Outcome(
        summary=result.summary(),
        history=result.history.arrays() | {"names": np.asarray(result.history.names)},
        parameters_hash=parameters_hash(result.theta),
        fields=fields_of(result, problem),
        versions=versions(),
        machine=machine(),
        commit=commit,
        started=started,
        ended=ended,
    )


def parameters_hash(theta: Any) -> str:
    """Of the values, whatever the byte order of the machine."""
    array = np.asarray(theta)
    return hashlib.sha256(array.astype(array.dtype.newbyteorder("<")).tobytes()).hexdigest()


def fields_of(result: "Result", problem: "Problem") -> dict[str, Array]:
    """The final outputs, and the reference, on the grid of the header."""
    grid = _grid(problem)
    if grid is None:
        return {}
    learnt = np.asarray(result.predict(grid.points), dtype=np.float32)
    outputs = {name: learnt[:, k].reshape(grid.shape) for k, name in enumerate(problem.outputs)}
    return grid.axes | outputs | grid.references


class _Grid(NamedTuple):
    """What the fields of all runs of a problem have in common."""

    points: Array  # (N, d)
    shape: tuple[int, ...]
    axes: dict[str, Array]
    references: dict[str, Array]


@functools.lru_cache(maxsize=8)
def _grid(problem: "Problem") -> _Grid | None:
    """Made once for a problem, because a reference may cost seconds."""
    domain = problem.domain
    if len(domain.axes) > _MOST_AXES:
        return None
    lines = [_coordinates(place, *interval) for place, interval in enumerate(domain.bounds)]
    shape = tuple(len(line) for line in lines)
    points = np.stack([each.ravel() for each in np.meshgrid(*lines, indexing="ij")], axis=-1)
    axes = {f"axis/{name}": line.astype(np.float32) for name, line in zip(domain.axes, lines, strict=True)}
    references = {f"reference/{name}": true.reshape(shape) for name, true in _true(problem, points).items()}
    return _Grid(points, shape, axes, references)


def _coordinates(place: int, start: float, end: float) -> Array:
    if place == _MOST_AXES - 1:
        return start + (end - start) * np.asarray(TIMES)
    return np.linspace(start, end, POINTS)


def _true(problem: "Problem", points: Array) -> dict[str, Array]:
    """The reference at the points of the grid, where it is a function."""
    reference = problem.reference
    if reference is None or reference.recipe.function is None:
        return {}
    found = reference.recipe.function(**dict(zip(problem.domain.axes, points.T, strict=True)))
    columns = found if isinstance(found, (tuple, list)) else np.asarray(found).reshape(len(points), -1).T
    return {
        name: np.broadcast_to(np.asarray(column, dtype=np.float32), (len(points),))
        for name, column in zip(reference.outputs, columns, strict=True)
    }
