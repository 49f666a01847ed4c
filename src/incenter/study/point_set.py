"""What a set of points (N, d) is, so that values at them can be drawn: a line, a plane, or a few planes in a row.

An axis on which all points agree is left out. Of three axes that vary the last one, or time, is cut into planes: at
`PLANES` of the values it takes. Points in general position in three axes, and four axes, cannot be drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

Points = Annotated[Any, "(N, d)"]
Inside = Callable[[Any], Any]
PLANES = 4
_LEAST_POINTS = 12  # fewer points in a plane draw no map
_LEAST_FILLED = 0.25  # a grid less filled than this, by a thin domain or by chance, is drawn as scattered points


@dataclass(frozen=True)
class Cut:
    """Those of the points at which `axis` has `value`; all of them where `axis` is empty."""

    axis: str
    value: float
    rows: Annotated[Any, "(K,): which points"]


@dataclass(frozen=True)
class PointSet:
    """The axes that vary in `points`, and the cuts in which only `shown` vary."""

    points: Points
    axes: tuple[str, ...]
    shown: tuple[str, ...]
    cuts: tuple[Cut, ...]
    inside: Inside | None = None  # tells the holes of a domain from its inside, in the shown axes

    def columns(self, cut: Cut) -> Points:
        """(K, len(shown)) coordinates of the points of one cut."""
        return self.points[cut.rows][:, [self.axes.index(axis) for axis in self.shown]]


def point_set(points: Points, axes: tuple[str, ...], inside: Inside | None = None) -> PointSet | None:
    """How these points are drawn; None if they cannot be."""
    distinct = {axis: np.unique(points[:, i]) for i, axis in enumerate(axes)}
    varying = tuple(axis for axis in axes if len(distinct[axis]) > 1)
    if not 1 <= len(varying) <= 3:
        return None
    if len(varying) < 3:
        return PointSet(points, axes, varying, (Cut("", 0.0, np.arange(len(points))),), inside)
    across = "t" if "t" in varying else varying[-1]
    cuts = _cuts(points[:, axes.index(across)], across, distinct[across])
    shown = tuple(axis for axis in varying if axis != across)
    return PointSet(points, axes, shown, cuts, inside) if all(len(cut.rows) >= _LEAST_POINTS for cut in cuts) else None


def _cuts(coordinate: Any, axis: str, values: Any) -> tuple[Cut, ...]:
    chosen = values[np.unique(np.linspace(0, len(values) - 1, PLANES).round().astype(int))]
    return tuple(Cut(axis, float(value), np.flatnonzero(coordinate == value)) for value in chosen)


def on_grid(columns: Points) -> tuple[Any, Any, Any] | None:
    """Both axes' ticks and, (len(second), len(first)), which point (K, 2) is where, -1 for none; None off a grid."""
    (first, i), (second, j) = (np.unique(columns[:, axis], return_inverse=True) for axis in (0, 1))
    if len(first) * len(second) * _LEAST_FILLED > len(columns):
        return None
    where = np.full((len(second), len(first)), -1)
    where[j, i] = np.arange(len(columns))
    return first, second, where


def regular_points(bounds: dict[str, tuple[float, float]], per_axis: int = 101) -> Points:
    """(N, d) a grid over the box of `bounds`; a third axis, or time, has as many values as planes are drawn."""
    if len(bounds) > 3:  # which nobody can draw
        per_axis = 2
    across = "t" if "t" in bounds else [*bounds][-1]
    counts = [PLANES if len(bounds) == 3 and axis == across else per_axis for axis in bounds]
    ticks = [np.linspace(low, high, count) for (low, high), count in zip(bounds.values(), counts, strict=True)]
    return np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, len(bounds))
