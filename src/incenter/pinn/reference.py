"""What a problem's solution is measured against: points (N, d), values (N, k), and which k outputs they are.

    Reference(function, x=256, t=101)          the function on a grid over the domain, the ends included; t=1: its start
    Reference(function, points=points)         the function at given points
    Reference(points=points, values=values)    numbers

The function takes one array (N,) for each axis, by name, and returns an array (N,) or (N, k), or a tuple of k arrays
(N,). It is called when its values are first asked for, because a reference may cost seconds.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np

from incenter.geometry.errors import IncenterError
from incenter.pinn.domain import Domain
from incenter.pinn.observations import Grid, check_inside, read_points, read_values

_OWNER = "Reference"


class Reference:
    """See the module header. `outputs` names those that are compared; without it, all of the problem's."""

    def __init__(
        self,
        function: Callable[..., Any] | None = None,
        *,
        points: Any = None,
        values: Any = None,
        outputs: tuple[str, ...] | None = None,
        **grid: int,
    ) -> None:
        _check_form(function, points, values, grid)
        self.function, self.grid, self.outputs = function, grid, outputs
        self.points = None if points is None else read_points(_OWNER, points)
        self.values = None if values is None or self.points is None else read_values(_OWNER, values, len(self.points))

    def on(self, domain: Domain, outputs: tuple[str, ...]) -> "Evaluated":
        """The reference of a problem on this domain with these outputs, checked as far as it is cheap."""
        return Evaluated(self, domain, _read_outputs(self.outputs, outputs))


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A reference that knows its domain; points and values are made when first asked for."""

    recipe: Reference
    domain: Domain
    outputs: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.recipe.points is not None:
            check_inside(_OWNER, self.recipe.points, self.domain)
        else:
            _check_grid(self.recipe.grid, self.domain)
        if self.recipe.function is not None:
            _check_call(self.recipe.function, self.domain.axes)
        if self.recipe.values is not None:
            self._columns(self.recipe.values)

    @cached_property
    def points(self) -> Grid:
        """(N, d)"""
        if self.recipe.points is not None:
            return self.recipe.points
        lines = [
            np.linspace(start, end, self.recipe.grid[axis])
            for axis, (start, end) in zip(self.domain.axes, self.domain.bounds, strict=True)
        ]
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*lines, indexing="ij")], axis=1)
        inside: Grid = grid[self.domain.contains(grid)]
        return inside

    @cached_property
    def values(self) -> Grid:
        """(N, k)"""
        if self.recipe.values is not None:
            return self._columns(self.recipe.values)
        assert self.recipe.function is not None, "a reference has values or a function"
        with jax.ensure_compile_time_eval():  # values may be asked for while a program is being traced
            result = self.recipe.function(**dict(zip(self.domain.axes, self.points.T, strict=True)))
        if isinstance(result, (tuple, list)):
            result = np.stack([np.broadcast_to(np.asarray(one), (len(self.points),)) for one in result], axis=1)
        return self._columns(read_values("the Reference's function", result, len(self.points)))

    def _columns(self, values: np.ndarray) -> Grid:
        """(N, k), in the order of the outputs."""
        columns = values.reshape(len(values), -1)
        if columns.shape[1] != len(self.outputs):
            raise IncenterError(
                f"The Reference has {columns.shape[1]} values per point for {len(self.outputs)} outputs "
                f"({', '.join(self.outputs)}); give one column for each, or name those it has: "
                f"Reference(..., outputs=({self.outputs[0]!r},))."
            )
        if not np.any(columns):
            raise IncenterError("The Reference is zero everywhere, so no error is relative to it; leave it out.")
        return columns


def _check_form(function: Any, points: Any, values: Any, grid: dict[str, int]) -> None:
    """One of the three forms of the header."""
    if function is not None and not callable(function):
        raise IncenterError(
            f"A Reference starts with a function of the axes; got {type(function).__name__}; "
            "write Reference(points=..., values=...) for numbers."
        )
    if (function is None) == (values is None):
        raise IncenterError("A Reference needs a function or values, one of them; write Reference(f, x=100, t=100).")
    if points is None and values is not None:
        raise IncenterError("A Reference with values needs their points; write Reference(points=..., values=...).")
    if points is not None and grid:
        raise IncenterError(f"A Reference has points or a grid; got points and {', '.join(grid)}; leave one out.")
    for axis, count in grid.items():
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise IncenterError(
                f"The grid of a Reference needs a whole number of points along {axis}, at least 1; got {count!r}."
            )


def _check_grid(grid: dict[str, int], domain: Domain) -> None:
    if set(grid) != set(domain.axes):
        right = ", ".join(f"{axis}={grid.get(axis, 100)}" for axis in domain.axes)
        raise IncenterError(
            f"The Reference has a grid along {', '.join(grid) or 'no axis'}, and the domain has the axes "
            f"{', '.join(domain.axes)}; write Reference(f, {right})."
        )


def _check_call(function: Callable[..., Any], axes: tuple[str, ...]) -> None:
    """Whether the function can be called with the axes by name, as far as it tells."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return
    try:
        signature.bind(**dict.fromkeys(axes))
    except TypeError as error:
        raise IncenterError(
            f"The Reference's function takes {signature}, and is called with the axes by name; "
            f"write its parameters as ({', '.join(axes)})."
        ) from error


def _read_outputs(named: Any, outputs: tuple[str, ...]) -> tuple[str, ...]:
    if named is None:
        return outputs
    chosen = (named,) if isinstance(named, str) else tuple(named)
    for name in chosen:
        if name not in outputs:
            raise IncenterError(
                f"The Reference is of {name!r}, which is no output; the outputs are {', '.join(outputs)}."
            )
    if not chosen or len(set(chosen)) < len(chosen):
        raise IncenterError(f"`outputs` of a Reference must be different outputs, at least one; got {named!r}.")
    return chosen
