"""What a run learnt, beside the reference: one row per output where two axes vary, one column per time where three do.

Values are in viridis, differences in red and blue about zero: both stay readable for colour-blind readers.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from incenter.study.colours import BLUE, ORANGE, VERMILLION
from incenter.study.extras import require_matplotlib
from incenter.study.point_set import Cut, PointSet, on_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = Annotated[Any, "(N,)"]

_VALUES, _DIFFERENCES = "viridis", "RdBu_r"
_CELL = 2.9  # height of a map in inches
_LONGEST = 3.0  # width over height beyond which a map is given no more room


@dataclass(frozen=True)
class Field:
    """One output at all points of a set; `reference` is None where there is none."""

    name: str
    learnt: Values
    reference: Values | None

    @property
    def kinds(self) -> tuple[tuple[str, Values, bool], ...]:
        """Title, values, and whether they are differences, of each map."""
        learnt = (f"{self.name} learnt", self.learnt, False)
        if self.reference is None:
            return (learnt,)
        difference = self.learnt - self.reference
        return (
            learnt,
            (f"{self.name} reference", self.reference, False),
            (f"{self.name} learnt - reference", difference, True),
        )

    def limits(self, difference: bool) -> tuple[float, float]:
        """Of the colours: shared by what is learnt and its reference."""
        if difference and self.reference is not None:
            largest = float(np.abs(self.learnt - self.reference).max()) or 1.0
            return -largest, largest
        true = self.learnt if self.reference is None else self.reference
        return float(true.min()), float(true.max())


def solution_figure(title: str, points: PointSet, fields: list[Field]) -> "Figure":
    """Maps, or lines where a single axis varies."""
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    draw = _draw_lines if len(points.shown) == 1 else _draw_cuts if len(points.cuts) > 1 else _draw_rows
    with rc_context({"font.size": 12, "mathtext.fontset": "cm"}):
        layout = ConstrainedLayoutEngine(compress=True, w_pad=0.08, h_pad=0.08)
        figure = Figure(facecolor="white", layout=layout)
        draw(figure, points, fields)
        figure.suptitle(title, fontsize=14)
    return figure


def _draw_rows(figure: "Figure", points: PointSet, fields: list[Field]) -> None:
    """One row per output: learnt, reference, difference."""
    columns = max(len(field.kinds) for field in fields)
    width = _CELL * _shape(points) + 0.9
    figure.set_size_inches(max(6.0, width * columns), 0.7 + _CELL * len(fields))
    grid = figure.subplots(len(fields), columns, squeeze=False, sharex=True, sharey=True)
    (cut,) = points.cuts
    for row, field in zip(grid, fields, strict=True):
        for axes, (title, values, difference) in zip(row, field.kinds, strict=False):
            image = _map(axes, points, cut, values, field.limits(difference), difference)
            axes.set_title(title, fontsize=12.5)
            if difference or title.endswith("reference") or len(field.kinds) == 1:
                _colorbar(figure, image, axes)
        for axes in row[len(field.kinds) :]:
            axes.set_visible(False)
        row[0].set_ylabel(_up(points))
    for axes in grid[-1]:
        axes.set_xlabel(_right(points))


def _draw_cuts(figure: "Figure", points: PointSet, fields: list[Field]) -> None:
    """One column per time; of each output a row learnt, a row reference, a row difference."""
    kinds = [(field, *kind) for field in fields for kind in field.kinds]
    figure.set_size_inches(1.6 + 2.5 * _shape(points) * len(points.cuts), 0.95 + 2.45 * len(kinds))
    grid = figure.subplots(len(kinds), len(points.cuts), squeeze=False, sharex=True, sharey=True)
    for row, (field, title, values, difference) in zip(grid, kinds, strict=True):
        for axes, cut in zip(row, points.cuts, strict=True):
            image = _map(axes, points, cut, values, field.limits(difference), difference)
        _colorbar(figure, image, list(row))
        row[0].set_ylabel(f"{title}\n{_up(points)}")
    for axes, cut in zip(grid[0], points.cuts, strict=True):
        axes.set_title(f"{cut.axis} = {cut.value:.3g}", fontsize=12.5)
    for axes in grid[-1]:
        axes.set_xlabel(_right(points))


def _draw_lines(figure: "Figure", points: PointSet, fields: list[Field]) -> None:
    """One row per output over the single axis: learnt on reference, and the difference."""
    columns = 1 if all(field.reference is None for field in fields) else 2
    figure.set_size_inches(5.5 * columns, 0.7 + _CELL * len(fields))
    grid = figure.subplots(len(fields), columns, squeeze=False, sharex=True)
    where = points.columns(points.cuts[0])[:, 0]
    order = np.argsort(where)
    for row, field in zip(grid, fields, strict=True):
        for title, values, difference in reversed(field.kinds):
            axes = row[int(difference)]
            color = VERMILLION if difference else ORANGE if title.endswith("reference") else BLUE
            line = (0, (3, 1.5)) if title.endswith("learnt") else "-"
            axes.plot(where[order], values[order], color=color, linestyle=line, linewidth=2.2, label=title)
            axes.grid(color="0.92")
            axes.legend(frameon=False)
    for axes in grid[-1]:
        axes.set_xlabel(points.shown[0])


def _map(
    axes: "Axes",
    points: PointSet,
    cut: Cut,
    values: Values,
    limits: tuple[float, float],
    difference: bool,
) -> Any:
    """The values of one cut in colours; between points in general position they are interpolated."""
    columns = points.columns(cut)[:, [points.shown.index(_right(points)), points.shown.index(_up(points))]]
    style: dict[str, Any] = {
        "cmap": _DIFFERENCES if difference else _VALUES,
        "vmin": limits[0],
        "vmax": limits[1],
        "rasterized": True,
    }
    if "t" not in points.shown:
        axes.set_aspect("equal")
    grid = on_grid(columns)
    if grid is not None:
        first, second, where = grid
        colors = np.ma.masked_array(values[cut.rows][where], where < 0)
        return axes.pcolormesh(first, second, colors, shading="nearest", **style)
    return axes.tripcolor(_triangles(columns, points), values[cut.rows], shading="gouraud", **style)


def _triangles(columns: Any, points: PointSet) -> Any:
    from matplotlib.tri import Triangulation

    triangles = Triangulation(columns[:, 0], columns[:, 1])
    if points.inside is not None:
        middles = columns[triangles.triangles].mean(axis=1)
        swapped = middles if _right(points) == points.shown[0] else middles[:, ::-1]
        triangles.set_mask(~np.asarray(points.inside(swapped), dtype=bool))
    return triangles


def _shape(points: PointSet) -> float:
    """Width over height of a map."""
    if "t" in points.shown:
        return 1.0
    width, height = (np.ptp(points.points[:, points.axes.index(axis)]) for axis in points.shown)
    return float(np.clip(width / height, 1 / _LONGEST, _LONGEST))


def _right(points: PointSet) -> str:
    """The axis drawn to the right: time where it is one of the two."""
    return "t" if "t" in points.shown else points.shown[0]


def _up(points: PointSet) -> str:
    return next(axis for axis in points.shown if axis != _right(points))


def _colorbar(figure: "Figure", image: Any, axes: Any) -> None:
    bar = figure.colorbar(image, ax=axes, shrink=0.92, pad=0.02, aspect=18)
    bar.ax.ticklabel_format(scilimits=(-2, 3))
    bar.outline.set_visible(False)
