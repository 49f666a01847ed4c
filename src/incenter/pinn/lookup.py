"""Coefficients that are known as a table: the value at the nearest point of a regular grid.

>>> import jax.numpy as jnp
>>> a = Nearest([[1.0, 2.0], [3.0, 4.0]], x=(0, 1), y=(0, 10))
>>> [float(value) for value in a(jnp.array([0.4, 0.6, 2.0]), jnp.array([9.0, 1.0, -3.0]))]
[2.0, 3.0, 3.0]

Row i, column j of the table stand at the i-th point of the first axis and the j-th of the second, ends included, and so
on for more axes. Beyond the grid the value at its border holds. Half way between two points the even one is taken.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from incenter.geometry.arrays import Array
from incenter.geometry.errors import IncenterError


class Nearest:
    """A piecewise constant function of the axes named, in the order of the table's dimensions."""

    def __init__(self, table: Any, **axes: tuple[float, float]) -> None:
        self.table, self.axes = np.asarray(table, dtype=np.float64), axes
        if self.table.ndim != len(axes) or self.table.size == 0:
            raise IncenterError(
                f"A table of shape {self.table.shape} needs an interval for each of its dimensions, as in "
                f"Nearest(table, x=(0, 1), y=(0, 1)); got {', '.join(axes) or 'none'}."
            )
        for axis, (start, end) in axes.items():
            if not start < end:
                raise IncenterError(f"The interval of {axis} must run upwards; got {axis}=({start}, {end}).")

    def __call__(self, *coordinates: Array) -> Array:
        """The values (N,) at coordinates (N,) each, one array for each axis."""
        if len(coordinates) != len(self.axes):
            raise IncenterError(f"The table is over {', '.join(self.axes)}; got {len(coordinates)} coordinates.")
        index = tuple(
            self._nearest(coordinate, *interval, points)
            for coordinate, interval, points in zip(coordinates, self.axes.values(), self.table.shape, strict=True)
        )
        return jnp.asarray(self.table, dtype=coordinates[0].dtype)[index]

    @staticmethod
    def _nearest(coordinate: Array, start: float, end: float, points: int) -> Array:
        place = jnp.round((coordinate - start) * ((points - 1) / (end - start)))
        return jnp.clip(place, 0, points - 1).astype(jnp.int32)
