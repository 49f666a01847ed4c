r"""The dual cone of gradients in three dimensions: its rays, its facets, the ball inside it, and its sections.

    K* = {d : g_i . d >= 0 for all i},   the common descent directions (with the sign of a gradient)

A facet lies in the plane orthogonal to a gradient. An extreme ray is +- g_i x g_j where no other gradient refuses it.
The unit center v* and radius r* make the largest ball with a unit center inside the cone: it touches the facets of the
gradients that bind at v* - r* u_i (u_i the unit gradient), and all these points lie in the plane v* . x = 1 - r*^2.
"""

from dataclasses import dataclass

import numpy as np

from incenter.geometry.arrays import Mask, Matrix, Vector
from incenter.geometry.errors import IncenterError
from incenter.study.comparison import unit, unit_rows

_TOLERANCE = 1e-9  # of products of unit vectors


@dataclass(frozen=True)
class Facet:
    """The part of one gradient's plane that bounds the cone: between the rays `first` and `second`."""

    gradient: int
    first: int
    second: int


@dataclass(frozen=True)
class Cone:
    """K* with the ball inside it; rays go round the axis in order."""

    normals: Matrix  # (m, 3) unit gradients
    rays: Matrix  # (k, 3) of unit length
    facets: tuple[Facet, ...]
    center: Vector
    radius: float

    @property
    def binding(self) -> Mask:
        """(m,) whether the ball touches the gradient's facet."""
        return self.normals @ self.center <= self.radius + 1e-7

    @property
    def contacts(self) -> Matrix:
        """(m, 3): for each gradient the point of its plane that is nearest to the center."""
        return self.center - (self.normals @ self.center)[:, None] * self.normals

    @property
    def contact_height(self) -> float:
        """Height along the axis of the plane in which the ball touches the binding facets."""
        return 1.0 - self.radius**2


def dual_cone(gradients: Matrix, center: Vector, radius: float) -> Cone:
    """The cone of three-dimensional `gradients` around its Chebyshev center."""
    if gradients.ndim != 2 or gradients.shape[1] != 3 or gradients.shape[0] < 3:
        raise IncenterError(f"A picture needs at least 3 gradients of 3 parameters; got shape {gradients.shape}.")
    normals = unit_rows(gradients)
    if radius <= _TOLERANCE:
        raise IncenterError("These gradients are Pareto-stationary: their cone has no inside to draw.")
    rays = _round_the_axis(extreme_rays(normals), center)
    return Cone(normals, rays, _facets(normals, rays), np.asarray(center, dtype=float), float(radius))


def extreme_rays(normals: Matrix) -> Matrix:
    """Unit directions in which two gradients' planes meet and that no gradient refuses."""
    rays: list[Vector] = []
    for i in range(len(normals)):
        for j in range(i):
            line, length = unit(np.cross(normals[i], normals[j]))
            for ray in (line, -line) if length > _TOLERANCE else ():
                known = any(np.linalg.norm(ray - other) < 1e-7 for other in rays)
                if not known and np.all(normals @ ray >= -_TOLERANCE):
                    rays.append(ray)
    if len(rays) < 3:
        raise IncenterError("These gradients have no pointed cone of common descent: they do not span the space.")
    return np.array(rays)


def facet_arcs(normals: Matrix, points: int = 33) -> list[tuple[int, Matrix]]:
    """(gradient, (points, 3)): each facet where it meets the unit sphere. The cone need not be pointed.

    In the plane of one gradient, every other one allows a half circle around its own shadow; what all allow is an arc.
    """
    found = []
    for i, normal in enumerate(normals):
        if not normal.any() or np.any(np.linalg.norm(normals[:i] - normal, axis=1) <= _TOLERANCE):
            continue  # a zero row, or a facet that was drawn already
        across = plane_basis(normal, np.eye(3)[np.argmin(np.abs(normal))])
        ends = _allowed(normals @ across.T)
        if ends is not None:
            turn = np.linspace(*ends, points)[:, None]
            found.append((i, np.cos(turn) * across[0] + np.sin(turn) * across[1]))
    return found


def _allowed(shadows: Matrix) -> tuple[float, float] | None:
    """The interval of angles within a right angle of every shadow (k, 2); None where there is none."""
    shadows = shadows[np.linalg.norm(shadows, axis=1) > _TOLERANCE]
    if not len(shadows):
        return -np.pi, np.pi
    angles = np.arctan2(shadows[:, 1], shadows[:, 0])
    beside = (angles - angles[0] + np.pi) % (2 * np.pi) - np.pi
    first, last = float(beside.max()) - np.pi / 2, float(beside.min()) + np.pi / 2
    return (angles[0] + first, angles[0] + last) if last - first > _TOLERANCE else None


def section(cone: Cone, height: float) -> Matrix:
    """(k, 3) corners of the cone's section with the plane at `height` along its axis."""
    along = cone.rays @ cone.center
    if np.any(along <= _TOLERANCE):
        raise IncenterError("The cone is too wide to be cut across its axis: a ray never meets the plane.")
    return cone.rays * (height / along)[:, None]


def plane_basis(axis: Vector, up: Vector) -> Matrix:
    """(2, 3) right-handed unit vectors across `axis`, the second as near to `up` as can be."""
    upward, _ = unit(up - (up @ axis) * axis)
    return np.stack([np.cross(upward, axis), upward])


def _round_the_axis(rays: Matrix, axis: Vector) -> Matrix:
    across = plane_basis(axis, np.eye(3)[np.argmin(np.abs(axis))])
    return rays[np.argsort(np.arctan2(rays @ across[1], rays @ across[0]))]


def _facets(normals: Matrix, rays: Matrix) -> tuple[Facet, ...]:
    facets = []
    for first in range(len(rays)):
        second = (first + 1) % len(rays)
        both = np.abs(normals @ rays[[first, second]].T).max(axis=1)
        facets.append(Facet(int(np.argmin(both)), first, second))
    return tuple(facets)
