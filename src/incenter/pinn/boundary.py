"""Parts of a boundary by name: "x" is both faces across x, "x-" and "x+" those whose normal points there, "disc" arcs.

In a box the points are dealt evenly to the faces, as the paper does. Anywhere else the first column of the cube chooses
the piece, in proportion to its measure before refusals, so that what is accepted is uniform over the whole.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from incenter.geometry.arrays import namespace
from incenter.geometry.errors import IncenterError
from incenter.pinn.domain import SMALLEST_SHARE, TIME, Cube, Domain, Piece, Placed, Share, share_of

Sides = str | tuple[str, ...] | None


@dataclass(frozen=True, eq=False)
class Edge:
    """Pieces of the boundary of a domain."""

    pieces: tuple[Piece, ...]
    columns: int  # of the cube that `place` takes
    evenly: bool

    @cached_property
    def share(self) -> Share:
        """How much of the candidates is accepted."""
        return Share(1.0, None) if self.evenly else share_of(self.place, self.columns)

    def place(self, cube: Cube) -> Placed:
        """Points and normals, with what is refused."""
        return self._dealt(cube) if self.evenly else self._chosen(cube)

    def _dealt(self, cube: Cube) -> Placed:
        cuts = [len(cube) * k // len(self.pieces) for k in range(len(self.pieces) + 1)]
        placed = [piece.place(cube[start:end]) for piece, start, end in zip(self.pieces, cuts, cuts[1:], strict=False)]
        xp = namespace(cube)
        return Placed(
            xp.concatenate([one.points for one in placed]), xp.concatenate([one.normals for one in placed]), None
        )

    def _chosen(self, cube: Cube) -> Placed:
        xp = namespace(cube)
        ends = np.cumsum([piece.measure for piece in self.pieces])
        chosen = xp.sum(cube[:, :1] * ends[-1] >= xp.asarray(ends[:-1], dtype=cube.dtype), axis=1)
        total = self.pieces[0].place(cube[:, 1:])
        for k, piece in enumerate(self.pieces[1:], 1):
            total = _where(chosen == k, piece.place(cube[:, 1:]), total)
        return total


def read_sides(on: Any) -> Sides:
    """A name, or a tuple of names, or None."""
    if on is None or isinstance(on, str):
        return on
    if not isinstance(on, (tuple, list)) or not on or not all(isinstance(name, str) for name in on):
        raise IncenterError(f'`on` must name sides, such as "x" or ("x", "y-"); got {on!r}.')
    return tuple(on)


@lru_cache
def edge(domain: Domain, on: Sides) -> Edge:
    """The pieces that `on` names; None is all of the boundary but the two ends of time."""
    pieces = domain.pieces()
    if on is None:
        chosen = tuple(piece for piece in pieces if _axis(piece) != TIME)
        if not chosen:
            raise IncenterError(f"{domain!r} has no boundary but the ends of t; write Initial, or on='t-' or on='t+'.")
    else:
        names = (on,) if isinstance(on, str) else on
        _check_sides(domain, pieces, names)
        chosen = tuple(piece for piece in pieces if piece.side in names or _axis(piece) in names)
    found = Edge(chosen, len(domain.axes) - domain.evenly, domain.evenly)
    if found.share.fraction < SMALLEST_SHARE:
        raise IncenterError(f"Nothing of the sides {_named(on)} of {domain!r} is left; leave them out of `on`.")
    return found


def _check_sides(domain: Domain, pieces: tuple[Piece, ...], names: tuple[str, ...]) -> None:
    sides = {piece.side for piece in pieces}
    known = sides | {_axis(piece) for piece in pieces}
    for name in names:
        if name not in known:
            raise IncenterError(f"on={name!r} names no side of {domain!r}; its sides are {', '.join(sorted(known))}.")


def _where(condition: Cube, yes: Placed, no: Placed) -> Placed:
    xp = namespace(yes.points)
    column = condition[:, None]
    accepted = None
    if yes.accepted is not None or no.accepted is not None:
        everything = xp.ones_like(condition)
        accepted = xp.where(
            condition,
            everything if yes.accepted is None else yes.accepted,
            everything if no.accepted is None else no.accepted,
        )
    return Placed(xp.where(column, yes.points, no.points), xp.where(column, yes.normals, no.normals), accepted)


def _axis(piece: Piece) -> str:
    return piece.side.rstrip("+-")


def _named(on: Sides) -> str:
    return repr(on) if isinstance(on, str) else ", ".join(on or ())
