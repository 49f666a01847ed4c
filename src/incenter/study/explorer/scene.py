r"""What there is to draw, in three dimensions: gradients, cone, ball, and a place for every direction.

Up to three parameters are drawn as they are. More are seen through the span of three gradients: with U S V^T the
singular values of their unit rows, U S are the same three gradients (same lengths, same angles) and V^T d is the shadow
of a direction d. The cone and the ball are then those of the three alone.

The ball is one of the norm l_q that measures directions. At a binding gradient it touches the facet in v - r* b, where
b = sgn(u) |u|^(p-1) / ||u||_p^(p-1) is the point of the unit l_q ball that lies farthest along u.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import incenter
from incenter.geometry.arrays import Matrix, Vector
from incenter.geometry.errors import IncenterError
from incenter.study.comparison import Comparison, unit, unit_rows
from incenter.study.cone_geometry import facet_arcs
from incenter.study.plain import number

_SEEN = 3


@dataclass(frozen=True)
class View:
    """Which gradients are drawn, and the map from parameters to the picture."""

    shown: tuple[int, ...]
    basis: Matrix  # (3, n)
    exact: bool  # nothing is lost: the parameters are at most three


def look(gradients: Matrix, shown: tuple[int, ...]) -> View:
    """The view of `shown` gradients, or of all where there are at most three parameters or gradients."""
    m, n = gradients.shape
    if n <= _SEEN:
        return View(tuple(range(m)), np.eye(_SEEN)[:, :n], exact=True)
    shown = shown if m > _SEEN else tuple(range(m))
    if len(set(shown)) != min(m, _SEEN) or not all(0 <= row < m for row in shown):
        raise IncenterError(f"Choose three different gradients of 0 to {m - 1} to look at; got {list(shown)}.")
    _, _, basis = np.linalg.svd(unit_rows(gradients[list(shown)]), full_matrices=False)
    return View(shown, np.vstack([basis, np.zeros((_SEEN - len(basis), n))]), exact=False)


def scene(comparison: Comparison, view: View) -> dict[str, Any]:
    """The picture of `comparison`, as JSON has it."""
    source, p = comparison.source, comparison.p
    rows = source.gradients[list(view.shown)]
    centre = comparison.centre if len(view.shown) == len(source.gradients) else incenter.chebyshev_center(rows, p)
    normals = unit_rows(rows) @ view.basis.T
    found = centre.status.has_direction
    round_ball = found and (view.exact or p == 2)
    middle = view.basis @ np.asarray(centre.direction, dtype=float)
    touching = [i for i in range(len(rows)) if centre.active[i]] if round_ball else []
    return {
        "shown": list(view.shown),
        "whole": len(view.shown) == len(source.gradients),
        "exact": view.exact,
        "gradients": normals.tolist(),
        "lengths": [number(unit(row)[1]) for row in rows],
        "active": [bool(active) for active in centre.active],
        "facets": [{"gradient": i, "arc": arc.tolist()} for i, arc in facet_arcs(normals)] if found else [],
        "center": middle.tolist() if found else None,
        "radius": float(centre.radius),
        "ball": round_ball,
        "contacts": [(middle - centre.radius * farthest(normals[i], p)).tolist() for i in touching],
    }


def farthest(normal: Vector, p: float) -> Vector:
    """The point of the unit l_q ball (1/p + 1/q = 1) that lies farthest along `normal`."""
    size = np.abs(normal) / np.abs(normal).max()
    if p == math.inf:
        size = np.where(size == 1, 1.0 / (size == 1).sum(), 0.0)  # the middle of the face, if it is one
        return np.sign(normal) * size
    return np.sign(normal) * size ** (p - 1) / float(np.sum(size**p)) ** ((p - 1) / p)


def shadows(comparison: Comparison, view: View) -> dict[str, list[float]]:
    """Where each rule's direction lies in the picture; shorter than 1 where it leaves what is drawn."""
    return {
        answer.method: (view.basis @ answer.direction).tolist()
        for answer in comparison.answers
        if answer.direction is not None
    }
