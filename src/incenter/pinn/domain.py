"""Where a problem lives: sets in the named axes, their boundary in pieces, and both as images of the unit cube.

    place: [0, 1]^d -> set,  uniform points to uniform points, some of them refused                           (1)
    pieces: the boundary, each piece an image of [0, 1]^(d-1) with outward unit normals                       (2)

A `Box` and a `Disc` refuse nothing. A union refuses what of its bounding box lies outside both parts, a difference what
of its first part lies in the second: every point of the set counts once. A piece of the boundary of a part belongs to
the whole where a small step inwards along the normal stays in it and a step outwards leaves it (3); that also settles
what two parts share. The axis called t is time. Everything is written in the namespace of its arrays: NumPy when a set
is measured, JAX when points are drawn.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from incenter.geometry.arrays import Array, namespace
from incenter.geometry.errors import IncenterError

TIME = "t"
Points = Annotated[Any, "(N, d)"]
Cube = Annotated[Any, "(N, columns) in [0, 1)"]
Normals = Annotated[Any, "(N, d) of unit length, or None in the interior"]
Accepted = Annotated[Any, "(N,) of bool, or None where nothing is refused"]

MEASURED = 2**14  # points that measure how much of a set is refused: its share to about 1e-3, in milliseconds
SMALLEST_SHARE = 1e-3  # of the candidates; below it a draw would cost a thousand times its points


class Placed(NamedTuple):
    """Images of points of the unit cube."""

    points: Points
    normals: Normals
    accepted: Accepted


@dataclass(frozen=True)
class Piece:
    """A piece of boundary: `side` says where its outward normal points ("x-", "x+", "disc")."""

    side: str
    measure: float  # of the whole image of the cube, what is refused included
    place: Callable[[Cube], Placed]


class Share(NamedTuple):
    """How much of the cube is accepted, and a point of it that is."""

    fraction: float
    example: Cube | None  # (1, columns)


class Domain(ABC):
    """A bounded set in the coordinates named `axes`; `a | b`, `a - b` and `space * time` make others of it."""

    axes: tuple[str, ...]
    bounds: tuple[tuple[float, float], ...]  # of the smallest box around it, in the order of `axes`
    envelope: float  # measure of the image of the cube, what is refused included

    @property
    def finest(self) -> float:
        """The shortest side of any part."""
        return min(end - start for start, end in self.bounds)

    @abstractmethod
    def contains(self, points: Points) -> Any:
        """Which points (N, d) lie in the closed set: (N,) of bool."""

    @abstractmethod
    def place(self, cube: Cube) -> Placed:
        """(1) of the header."""

    @abstractmethod
    def pieces(self) -> tuple[Piece, ...]:
        """(2) of the header."""

    def has_opposite_sides(self, axis: str) -> bool:
        """Whether the two ends of `axis` are faces that match point by point."""
        return False

    @property
    def space(self) -> tuple[str, ...]:
        """The axes that are not time."""
        return tuple(axis for axis in self.axes if axis != TIME)

    @property
    def evenly(self) -> bool:
        """Whether boundary points are dealt evenly to the pieces, as the paper does in boxes, or by their measure."""
        return False

    def __or__(self, other: "Domain") -> "Domain":
        from incenter.pinn.combined import Union

        return Union(self, _another(other, "|"))

    def __sub__(self, other: "Domain") -> "Domain":
        from incenter.pinn.combined import Difference

        return Difference(self, _another(other, "-"))

    def __mul__(self, other: "Domain") -> "Domain":
        from incenter.pinn.combined import product

        return product(self, _another(other, "*"))


@dataclass(frozen=True, init=False, repr=False)
class Box(Domain):
    """`Box(x=(-1, 1), t=(0, 1))`: the axes in this order, each with its start and its end."""

    axes: tuple[str, ...]
    bounds: tuple[tuple[float, float], ...]

    def __init__(self, **bounds: tuple[float, float]) -> None:
        if not bounds:
            raise IncenterError("A Box needs at least one axis; write for instance Box(x=(-1, 1), t=(0, 1)).")
        _check_names(tuple(bounds))
        object.__setattr__(self, "axes", tuple(bounds))
        object.__setattr__(self, "bounds", tuple(_interval(axis, pair) for axis, pair in bounds.items()))

    def __repr__(self) -> str:
        return (
            f"Box({', '.join(f'{axis}=({a:g}, {b:g})' for axis, (a, b) in zip(self.axes, self.bounds, strict=True))})"
        )

    @property
    def evenly(self) -> bool:
        return True

    @cached_property
    def envelope(self) -> float:  # type: ignore[override]
        return math.prod(end - start for start, end in self.bounds)

    def contains(self, points: Points) -> Any:
        xp = namespace(points)
        start, end = self._ends(xp, points.dtype)
        return xp.all((points >= start) & (points <= end), axis=1)

    def place(self, cube: Cube) -> Placed:
        xp = namespace(cube)
        start, end = self._ends(xp, cube.dtype)
        return Placed(xp.minimum(start + cube * (end - start), end), None, None)

    def pieces(self) -> tuple[Piece, ...]:
        return tuple(self._face(axis, end) for axis in range(len(self.axes)) for end in (0, 1))

    def has_opposite_sides(self, axis: str) -> bool:
        return axis in self.axes

    def _face(self, axis: int, end: int) -> Piece:
        """The face at the start (0) or the end (1) of an axis."""
        normal = np.zeros(len(self.axes))
        normal[axis] = 2 * end - 1

        def place(cube: Cube) -> Placed:
            xp = namespace(cube)
            start = xp.zeros((cube.shape[0], 1), dtype=cube.dtype)
            whole = xp.concatenate([cube[:, :axis], start, cube[:, axis:]], axis=1)
            points = xp.where(xp.asarray(normal != 0), self._ends(xp, cube.dtype)[end], self.place(whole).points)
            return Placed(points, xp.broadcast_to(xp.asarray(normal, dtype=cube.dtype), points.shape), None)

        return Piece(f"{self.axes[axis]}{'-+'[end]}", self._measure_across(axis), place)

    def _measure_across(self, axis: int) -> float:
        return math.prod(end - start for k, (start, end) in enumerate(self.bounds) if k != axis)

    def _ends(self, xp: Any, dtype: Any) -> tuple[Array, Array]:
        start, end = zip(*self.bounds, strict=True)
        return xp.asarray(start, dtype=dtype), xp.asarray(end, dtype=dtype)


@dataclass(frozen=True)
class Disc(Domain):
    """The closed disc in the axes x and y; its boundary is one piece, called "disc"."""

    center: tuple[float, float]
    radius: float

    def __post_init__(self) -> None:
        center = tuple(self.center) if isinstance(self.center, (tuple, list)) else ()
        if len(center) != 2 or not all(is_finite_number(c) for c in center):
            raise IncenterError(f"`center` must be two finite numbers; got {self.center!r}; write center=(0, 0).")
        if not is_finite_number(self.radius) or self.radius <= 0:
            raise IncenterError(
                f"`radius` must be a positive number; got {self.radius!r}; write for instance radius=1."
            )
        object.__setattr__(self, "center", (float(center[0]), float(center[1])))
        object.__setattr__(self, "radius", float(self.radius))

    @property
    def axes(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("x", "y")

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:  # type: ignore[override]
        return tuple((c - self.radius, c + self.radius) for c in self.center)

    @property
    def envelope(self) -> float:  # type: ignore[override]
        return math.pi * self.radius**2

    def contains(self, points: Points) -> Any:
        xp = namespace(points)
        offset = points - xp.asarray(self.center, dtype=points.dtype)
        return xp.sum(offset**2, axis=1) <= self.radius**2

    def place(self, cube: Cube) -> Placed:
        xp = namespace(cube)
        return Placed(self._around(xp.sqrt(cube[:, :1]) * _directions(cube[:, 1])), None, None)

    def pieces(self) -> tuple[Piece, ...]:
        def place(cube: Cube) -> Placed:
            normals = _directions(cube[:, 0])
            return Placed(self._around(normals), normals, None)

        return (Piece("disc", 2 * math.pi * self.radius, place),)

    def _around(self, offset: Points) -> Points:
        """The points at `offset` from the center, in radii."""
        return namespace(offset).asarray(self.center, dtype=offset.dtype) + self.radius * offset


def share_of(place: Callable[[Cube], Placed], columns: int) -> Share:
    """Measured on an even spread of points: the additive recurrence with the golden ratio's kin, x^(d+1) = x + 1."""
    accepted = place(_even_cube(columns)).accepted
    if accepted is None:
        return Share(1.0, None)
    found = np.flatnonzero(accepted)
    return Share(len(found) / MEASURED, _even_cube(columns)[found[:1]] if len(found) else None)


@lru_cache
def _even_cube(columns: int) -> Cube:
    root = 2.0
    for _ in range(64):  # a contraction by at least 1/2 each time
        root = (1 + root) ** (1 / (columns + 1))
    return (0.5 + np.arange(MEASURED)[:, None] * root ** -np.arange(1.0, columns + 1)) % 1.0


def _directions(turns: Annotated[Any, "(N,)"]) -> Points:
    xp = namespace(turns)
    angle = 2 * math.pi * turns
    return xp.stack([xp.cos(angle), xp.sin(angle)], axis=1)


def _interval(axis: str, pair: Any) -> tuple[float, float]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise IncenterError(f"Axis {axis} must be a pair (start, end); got {pair!r}; write {axis}=(0, 1).")
    if not all(is_finite_number(end) for end in pair):
        raise IncenterError(f"The ends of axis {axis} must be finite numbers; got {pair!r}; write {axis}=(0, 1).")
    start, end = float(pair[0]), float(pair[1])
    if start >= end:
        raise IncenterError(f"Axis {axis} must start below its end; got {pair!r}; write {axis}=({end:g}, {start:g}).")
    return start, end


def is_finite_number(number: Any) -> bool:
    """What may be a bound, a radius or a start value."""
    return isinstance(number, (int, float, np.number)) and not isinstance(number, bool) and math.isfinite(number)


def _check_names(axes: tuple[str, ...]) -> None:
    pairs = {first + second for first in axes for second in axes}
    for axis in axes:
        if not axis.isidentifier() or axis.startswith("_") or axis in ("at", "lap", "normal"):
            raise IncenterError(
                f"{axis!r} cannot name an axis, because u.{axis} means something else; use x, y, z or t."
            )
        if axis in pairs:
            raise IncenterError(f"{axis!r} cannot name an axis, because u.{axis} is a second derivative; use another.")


def _another(other: Any, operation: str) -> Domain:
    if not isinstance(other, Domain):
        raise IncenterError(f"A domain {operation} takes another domain, such as Box(t=(0, 1)); got {other!r}.")
    return other
