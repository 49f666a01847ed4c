"""Unions, differences and products of domains; what each refuses and which pieces of boundary stay is in `domain`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from incenter.geometry.arrays import namespace
from incenter.geometry.errors import IncenterError
from incenter.pinn.domain import SMALLEST_SHARE, Accepted, Box, Cube, Domain, Piece, Placed, Points, share_of

# The step of (3) in `domain`, relative to the smallest side of any part: a corner is misjudged this far around it, and
# an arc of this length bends by a hundredth of it. Rounding of float32 coordinates must stay far below it as well.
_STEP = 1e-4
_ROUNDING = 2.0**-20


@dataclass(frozen=True)
class _Pair(Domain):
    """Two sets in the same axes."""

    left: Domain
    right: Domain

    def __post_init__(self) -> None:
        if self.left.axes != self.right.axes:
            raise IncenterError(
                f"{self!r} joins the axes {_listed(self.left)} to {_listed(self.right)}; use the same axes in the same "
                "order on both sides, or * for a product of spaces."
            )

    @property
    def axes(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.left.axes

    @property
    def finest(self) -> float:
        return min(self.left.finest, self.right.finest)

    @cached_property
    def step(self) -> float:
        """How far beside a point its sides are looked at."""
        largest = max(abs(end) for pair in (*self.left.bounds, *self.right.bounds) for end in pair)
        return max(_STEP * self.finest, _ROUNDING * largest)

    def _kept(self, piece: Piece, *, flipped: bool = False, but: Domain | None = None) -> Piece:
        """The piece where it bounds this set, its normal turned round if `flipped`, less what bounds `but` as well."""

        def place(cube: Cube) -> Placed:
            placed = piece.place(cube)
            normals = -placed.normals if flipped else placed.normals
            kept = _bounds(self, placed.points, normals, self.step)
            if but is not None:
                kept = kept & ~_bounds(but, placed.points, normals, self.step)
            return Placed(placed.points, normals, _both(kept, placed.accepted))

        return Piece(_turned(piece.side) if flipped else piece.side, piece.measure, place)


@dataclass(frozen=True)
class Union(_Pair):
    """What lies in the one or the other."""

    def __repr__(self) -> str:
        return f"({self.left!r} | {self.right!r})"

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:  # type: ignore[override]
        return tuple(
            (min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(self.left.bounds, self.right.bounds, strict=True)
        )

    @cached_property
    def _around(self) -> Box:
        return Box(**dict(zip(self.axes, self.bounds, strict=True)))

    @property
    def envelope(self) -> float:  # type: ignore[override]
        return self._around.envelope

    def contains(self, points: Points) -> Any:
        return self.left.contains(points) | self.right.contains(points)

    def place(self, cube: Cube) -> Placed:
        points = self._around.place(cube).points
        return Placed(points, None, self.contains(points))

    def pieces(self) -> tuple[Piece, ...]:
        first = tuple(self._kept(piece) for piece in self.left.pieces())
        return first + tuple(self._kept(piece, but=self.left) for piece in self.right.pieces())


@dataclass(frozen=True)
class Difference(_Pair):
    """What lies in the first and not in the second."""

    def __post_init__(self) -> None:
        super().__post_init__()
        share = share_of(self.place, len(self.axes)).fraction
        if share < SMALLEST_SHARE:
            left = "nothing" if share == 0 else f"only {share:.1g} of the first part"
            raise IncenterError(f"{self!r} leaves {left}; subtract a domain that covers less of it.")

    def __repr__(self) -> str:
        return f"({self.left!r} - {self.right!r})"

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:  # type: ignore[override]
        return self.left.bounds

    @property
    def envelope(self) -> float:  # type: ignore[override]
        return self.left.envelope

    def contains(self, points: Points) -> Any:
        return self.left.contains(points) & ~self.right.contains(points)

    def place(self, cube: Cube) -> Placed:
        placed = self.left.place(cube)
        return Placed(placed.points, None, _both(~self.right.contains(placed.points), placed.accepted))

    def pieces(self) -> tuple[Piece, ...]:
        first = tuple(self._kept(piece) for piece in self.left.pieces())
        return first + tuple(self._kept(piece, flipped=True, but=self.left) for piece in self.right.pieces())


@dataclass(frozen=True)
class Product(Domain):
    """All pairs of a point of the one and a point of the other, in the axes of both."""

    left: Domain
    right: Domain

    def __repr__(self) -> str:
        return f"{self.left!r} * {self.right!r}"

    @property
    def axes(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.left.axes + self.right.axes

    @property
    def bounds(self) -> tuple[tuple[float, float], ...]:  # type: ignore[override]
        return self.left.bounds + self.right.bounds

    @property
    def envelope(self) -> float:  # type: ignore[override]
        return self.left.envelope * self.right.envelope

    @property
    def finest(self) -> float:
        return min(self.left.finest, self.right.finest)

    def contains(self, points: Points) -> Any:
        cut = len(self.left.axes)
        return self.left.contains(points[:, :cut]) & self.right.contains(points[:, cut:])

    def place(self, cube: Cube) -> Placed:
        return _joined(self.left.place, self.right.place, len(self.left.axes))(cube)

    def pieces(self) -> tuple[Piece, ...]:
        cut = len(self.left.axes)
        of_left = tuple(
            Piece(one.side, one.measure * self.right.envelope, _joined(one.place, self.right.place, cut - 1))
            for one in self.left.pieces()
        )
        return of_left + tuple(
            Piece(one.side, one.measure * self.left.envelope, _joined(self.left.place, one.place, cut))
            for one in self.right.pieces()
        )

    def has_opposite_sides(self, axis: str) -> bool:
        return self.left.has_opposite_sides(axis) or self.right.has_opposite_sides(axis)


def product(left: Domain, right: Domain) -> Domain:
    """left x right; of two boxes a box."""
    shared = [axis for axis in left.axes if axis in right.axes]
    if shared:
        raise IncenterError(f"{left!r} * {right!r} has the axis {shared[0]} twice; rename it in one of them.")
    if isinstance(left, Box) and isinstance(right, Box):
        return Box(**dict(zip(left.axes + right.axes, left.bounds + right.bounds, strict=True)))
    return Product(left, right)


def _joined(left: Callable[[Cube], Placed], right: Callable[[Cube], Placed], cut: int) -> Callable[[Cube], Placed]:
    """Both at once, the first on the first `cut` columns of the cube."""

    def place(cube: Cube) -> Placed:
        xp = namespace(cube)
        one, two = left(cube[:, :cut]), right(cube[:, cut:])
        normals = None
        if one.normals is not None or two.normals is not None:
            normals = xp.concatenate([_or_zero(one), _or_zero(two)], axis=1)
        return Placed(xp.concatenate([one.points, two.points], axis=1), normals, _both(one.accepted, two.accepted))

    return place


def _or_zero(placed: Placed) -> Points:
    return namespace(placed.points).zeros_like(placed.points) if placed.normals is None else placed.normals


def _bounds(domain: Domain, points: Points, normals: Points, step: float) -> Any:
    """(3) of `domain`: whether the domain lies on the inner side of the points and not on the outer one."""
    return domain.contains(points - step * normals) & ~domain.contains(points + step * normals)


def _both(one: Accepted, two: Accepted) -> Accepted:
    if one is None:
        return two
    return one if two is None else one & two


def _turned(side: str) -> str:
    """The name of a side whose normal is turned round."""
    return side.translate(str.maketrans("+-", "-+"))


def _listed(domain: Domain) -> str:
    return "(" + ", ".join(domain.axes) + ")"
