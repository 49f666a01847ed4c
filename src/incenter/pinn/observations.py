"""Points and values that a user hands over, for data and for references: read, and held against the domain."""

from typing import Annotated, Any

import numpy as np

from incenter.geometry.errors import IncenterError
from incenter.pinn.domain import Domain

Grid = Annotated[np.ndarray, "(N, d)"]
Values = Annotated[np.ndarray, "(N,) or (N, k)"]

_NEAR = 1e-6  # of the width of the domain: points on its boundary may have been rounded to float32


def read_points(owner: str, points: Any) -> Grid:
    """Finite points, one per row."""
    array = _numbers(owner, "points", points)
    if array.ndim != 2 or array.size == 0:
        raise IncenterError(f"The points of {owner} must have shape (N, d), a row for each; got shape {array.shape}.")
    return array


def read_values(owner: str, values: Any, count: int) -> Values:
    """Finite values, one row for each of `count` points."""
    array = _numbers(owner, "values", values)
    if array.ndim not in (1, 2) or len(array) != count:
        raise IncenterError(
            f"The values of {owner} have shape {array.shape} and its points are {count}; "
            f"give values of shape ({count},) or ({count}, k) at the same points."
        )
    return array


def check_inside(owner: str, points: Grid, domain: Domain) -> None:
    """One sentence where the points have another width than the domain, or lie outside it."""
    axes = ", ".join(domain.axes)
    if points.shape[1] != len(domain.axes):
        raise IncenterError(
            f"The points of {owner} have {points.shape[1]} columns, and the domain has the axes {axes}; "
            f"give one column for each of them, shape (N, {len(domain.axes)})."
        )
    outside = np.flatnonzero(~_near(domain, points))
    if len(outside):
        point = ", ".join(f"{axis}={value:g}" for axis, value in zip(domain.axes, points[outside[0]], strict=True))
        raise IncenterError(
            f"{len(outside)} of the {len(points)} points of {owner} lie outside {domain!r}, the first at {point}; "
            f"leave them out, or give the columns in the order {axes}."
        )


def _near(domain: Domain, points: Grid) -> np.ndarray:
    """Which points lie in the domain, or would if one coordinate were rounded otherwise."""
    steps = _NEAR * np.diag([end - start for start, end in domain.bounds])
    corners = _NEAR * np.array([end - start for start, end in domain.bounds])
    start, end = np.array(domain.bounds).T
    clipped = np.where(np.abs(points - start) <= corners, start, points)
    clipped = np.where(np.abs(points - end) <= corners, end, clipped)
    found: np.ndarray = domain.contains(clipped)
    for step in (*steps, *-steps):
        found = found | domain.contains(clipped + step)
    return found


def _numbers(owner: str, what: str, given: Any) -> np.ndarray:
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise IncenterError(
            f"The {what} of {owner} must be an array of real numbers; got {type(given).__name__}; use np.stack."
        ) from error
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        raise IncenterError(
            f"The {what} of {owner} must be finite, and entry {tuple(bad[0].tolist())} is {array[tuple(bad[0])]}; "
            "leave such rows out."
        )
    return array
