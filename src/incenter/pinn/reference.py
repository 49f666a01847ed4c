"""What a problem's solution is measured against: points (N, d), values (N, k), and which k outputs they are.

    Reference(function, x=256, t=101)          the function on a grid over the domain, ends included
    Reference(function, points=points)         the function at given points
    Reference(points=points, values=values)    numbers

The function takes one array (N,) per axis, by name, and returns (N,), or (N, k), or a tuple of k arrays (N,). It is
called when its values are first asked for, because a reference may cost seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from incenter.geometry.errors import IncenterError
from incenter.pinn.domain import Domain


class Reference:
    """See the module header. `outputs` are all of the problem's outputs unless named."""

    def __init__(
        self,
        function: Callable[..., Any] | None = None,
        *,
        points: Any = None,
        values: Any = None,
        outputs: tuple[str, ...] | None = None,
        **grid: int,
    ) -> None:
        self.function, self.given_points, self.given_values = function, points, values
        self.outputs, self.grid = outputs, grid

    def on(self, domain: Domain, outputs: tuple[str, ...]) -> "BoundReference":
        """The reference of a problem on this domain with these outputs."""
        return BoundReference(self, domain, self.outputs or outputs)


@dataclass(frozen=True, eq=False)
class BoundReference:
    """A reference that knows its domain; points and values are made when first asked for."""

    recipe: Reference
    domain: Domain
    outputs: tuple[str, ...]

    @cached_property
    def points(self) -> np.ndarray:
        if self.recipe.given_points is not None:
            return np.asarray(self.recipe.given_points, dtype=np.float64)
        lines = [
            np.linspace(start, end, self.recipe.grid[axis])
            for axis, (start, end) in zip(self.domain.axes, self.domain.bounds, strict=True)
        ]
        points = np.stack([axis.ravel() for axis in np.meshgrid(*lines, indexing="ij")], axis=1)
        return points[self.domain.contains(points)]

    @cached_property
    def values(self) -> np.ndarray:
        if self.recipe.given_values is not None:
            values = np.asarray(self.recipe.given_values, dtype=np.float64)
        else:
            assert self.recipe.function is not None
            by_name = dict(zip(self.domain.axes, self.points.T, strict=True))
            result = self.recipe.function(**by_name)
            values = np.stack(result, axis=1) if isinstance(result, (tuple, list)) else np.asarray(result)
        return values.reshape(len(self.points), -1).astype(np.float64)
