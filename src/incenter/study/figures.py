"""Pictures of a study: error and least cosine of all methods over the steps, cost bars, recovered coefficients.

A curve is the median over the seeds in a band from the least to the greatest, at the learning rate that the tables
report. Bars are what the cost tables hold. The coefficients are in the layout of the paper's third figure: the truth,
Adam's and ours, and below them how far these two are from it. Of our method the first seed's losses, radius, weights
and solution are drawn as well. The geometry of the method is drawn beside them, as `incenter picture` draws it.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incenter.study.cells import tried_rates
from incenter.study.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION
from incenter.study.examples import cone, toy
from incenter.study.extras import require_matplotlib
from incenter.study.figure_file import save
from incenter.study.geometry_figure import geometry_figure
from incenter.study.layout import OURS, Column, Layout, Line, lay_out
from incenter.study.quantities import MS_PER_STEP, SECONDS
from incenter.study.row_figures import solution_of, training_of
from incenter.study.rows import Row
from incenter.study.seed_curve import seed_curve
from incenter.study.tables import Table, of_layout
from incenter.study.training_figure import LINES, logarithmic_in_plain_numbers, step_axis, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OTHERS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#000000")
_BAR = 0.34  # inches
_CURVES = (("error", "relative L2 error"), ("radius", "least cosine of update and gradients"))
_WIDE = 100.0  # from this ratio of largest to smallest on, a logarithmic axis
_EXTEND = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
_VALUES, _DIFFERENCES = "viridis", "magma"


def draw(rows: Iterable[Row], folder: Path, form: str = "png") -> list[Path]:
    """Write every picture into `folder`: where they are."""
    paths = []
    for name, figure in figures(rows):
        paths.append(folder / f"{name}.{form}")
        save(figure, paths[-1])
    return paths


def figures(rows: Iterable[Row]) -> "Iterator[tuple[str, Figure]]":
    """Every picture that these runs can give, by name."""
    layout = lay_out(rows)
    for column in layout.columns:
        if histories(layout, column):
            yield f"curves-{_file_name(column)}", curves_figure(layout, column)
        if (row := _of_ours(layout, column)) is not None:
            for kind, picture in (("training", training_of(row)), ("solution", solution_of(row))):
                if picture is not None:
                    yield f"{kind}-{_file_name(column)}", picture
    for quantity in (SECONDS, MS_PER_STEP):
        table = of_layout(layout, quantity)
        if any(each.measured for each in table.lines):
            yield quantity.name, cost_figure(table)
    for column in layout.columns:
        if column.problem == "inverse_heat" and (chosen := reconstructed(layout, column)):
            yield f"coefficient-{_file_name(column)}", coefficient_figure(column.title, chosen)
    if any(_reported(layout, line, column) for line in layout.lines for column in layout.columns):
        yield "geometry", geometry_figure(cone(), toy())


def _of_ours(layout: Layout, column: Column) -> Row | None:
    """Our method's first run, or the last method's that has one."""
    lines = [line for line in (layout.line_of(OURS), *reversed(layout.lines)) if line is not None]
    return next((row for line in lines for row in _reported(layout, line, column)), None)


def curves_figure(layout: Layout, column: Column) -> "Figure":
    """Error and least cosine over the steps, a curve for each method."""
    figure = _figure((11, 4.6), column.title)
    style = styles(layout.lines)
    found = histories(layout, column)
    for axes, (name, title) in zip(figure.subplots(1, 2), _CURVES, strict=True):
        titled(axes, title)
        drawn = [_curve(axes, own, name, style[line], line.title) for line, own in found.items()]
        values = np.concatenate(drawn)
        if values.size == 0:
            axes.text(0.5, 0.5, "not recorded", transform=axes.transAxes, ha="center", color=GREY)
        elif name == "error" or values.max() > _WIDE * values.min() > 0:
            logarithmic_in_plain_numbers(axes)
        elif values.min() < 0:
            axes.axhline(0, color=GREY, linewidth=0.8, zorder=1)
        step_axis(axes)
    handles = {label: handle for axes in figure.axes for handle, label in zip(*_legend(axes), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False)
    return figure


def cost_figure(table: Table) -> "Figure":
    """A bar for each method on each problem; a diamond is what the paper prints."""
    count = len(table.columns)
    across = min(count, 3)
    down = -(-count // across)
    figure = _figure((1.6 + 3.4 * across, 1.3 + down * (0.9 + _BAR * len(table.lines))), table.title)
    grid = figure.subplots(down, across, sharey=True, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place < count:
            titled(axes, table.columns[place].title)
            _bars(axes, table, place)
        else:
            axes.set_visible(False)
    if any(cell.paper_mean is not None for each in table.lines for cell in each.cells):
        figure.legend(*_legend(figure.axes[0]), loc="outside lower center", frameon=False)
    return figure


def coefficient_figure(title: str, chosen: "Sequence[tuple[Line, Row]]") -> "Figure":
    """The truth and what was recovered above, absolute differences below; one colour scale for each."""
    drawn = [(line, row.fields()) for line, row in chosen]
    truth = true_coefficient(drawn[0][1]["axis/x"], drawn[0][1]["axis/y"])
    learnt = [_final(fields, "a") for _, fields in drawn]
    differences = [np.abs(values - truth) for values in learnt]
    figure = _figure((3.6 * (len(drawn) + 1), 6.9), title)
    grid = figure.subplots(2, len(drawn) + 1, squeeze=False)
    limits = (float(truth.min()), float(truth.max()))
    titles = ["the true coefficient", *(line.title for line, _ in drawn)]
    extent = _extent(drawn[0][1])
    for axes, values, name in zip(grid[0], [truth, *learnt], titles, strict=True):
        image = _map(axes, values, name, extent, limits, _VALUES)
    beyond = [min(map(np.min, learnt)) < limits[0], max(map(np.max, learnt)) > limits[1]]
    _colorbar(figure, image, grid[0], _EXTEND[bool(beyond[0]), bool(beyond[1])])
    grid[1][0].set_visible(False)
    most = float(max(values.max() for values in differences))
    for axes, values, (line, row) in zip(grid[1][1:], differences, chosen, strict=True):
        error = "" if row.relative_l2 is None else f", relative L2 {row.relative_l2:.3g}"
        image = _map(axes, values, f"|{line.title} - truth|{error}", extent, (0.0, most), _DIFFERENCES)
    _colorbar(figure, image, grid[1], "neither")
    return figure


def true_coefficient(x: Any, y: Any) -> Any:
    """That of the inverse problem, a = 2 + sin(pi x) sin(pi y), here so that a store is drawn without JAX: (x, y)."""
    return 2 + np.sin(np.pi * np.asarray(x, dtype=float))[:, None] * np.sin(np.pi * np.asarray(y, dtype=float))


def reconstructed(layout: Layout, column: Column) -> list[tuple[Line, Row]]:
    """Adam's run and ours, or those of the first and last line, of the first seed that has fields."""
    lines = {line: row for line in layout.lines if (row := _with_coefficient(layout, line, column)) is not None}
    wanted = [layout.line_of("sum"), layout.line_of(OURS)]
    found = [(line, lines[line]) for line in wanted if line is not None and line in lines]
    return found or list(lines.items())[:1]


def _with_coefficient(layout: Layout, line: Line, column: Column) -> Row | None:
    return next((row for row in _reported(layout, line, column) if "a" in row.fields()), None)


def _reported(layout: Layout, line: Line, column: Column) -> tuple[Row, ...]:
    tried = tried_rates(layout, line, column)
    return tried[0].done if tried else ()


def histories(layout: Layout, column: Column) -> dict[Line, list[dict[str, Any]]]:
    """What was recorded of the reported runs, for the methods of which anything was."""
    found = {line: [row.history() for row in _reported(layout, line, column)] for line in layout.lines}
    kept = {line: [history for history in own if len(history.get("step", ()))] for line, own in found.items()}
    return {line: own for line, own in kept.items() if own}


def _curve(axes: "Axes", histories: Sequence[dict[str, Any]], name: str, style: dict[str, Any], label: str) -> Any:
    """Draw the seeds as one curve; the values drawn."""
    curve = seed_curve(histories, name)
    if curve is None:
        return np.zeros(0)
    if curve.seeds > 1:
        axes.fill_between(curve.steps, curve.low, curve.high, color=style["color"], alpha=0.15, linewidth=0)
    axes.plot(curve.steps, curve.median, label=label, **style)
    return curve.median


def _bars(axes: "Axes", table: Table, place: int) -> None:
    heights = np.arange(len(table.lines))
    cells = [each.cells[place] for each in table.lines]
    widths = [cell.mean or 0.0 for cell in cells]
    colors = [VERMILLION if each.line.method == OURS else BLUE for each in table.lines]
    axes.barh(heights, widths, height=0.65, color=colors, zorder=2)
    spread = [(height, cell.mean, cell.deviation) for height, cell in zip(heights, cells, strict=True)]
    for height, mean, deviation in spread:
        if mean is not None and deviation is not None:
            axes.errorbar(mean, height, xerr=deviation, color="0.15", linewidth=1.2, capsize=2.5, zorder=3)
    paper = [(cell.paper_mean, height) for cell, height in zip(cells, heights, strict=True) if cell.paper_mean]
    if paper:
        axes.plot(*zip(*paper, strict=True), "D", color="0.15", markersize=5, label="the paper, on a GPU", zorder=4)
    axes.set_yticks(heights, [each.line.title for each in table.lines])
    axes.set_ylim(len(table.lines) - 0.4, -0.6)
    axes.set_xlim(0, None)
    if not any(widths):
        axes.set_xticks([])
        axes.text(0.5, 0.5, "no run is done", transform=axes.transAxes, ha="center", va="center", color=GREY)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def _map(axes: "Axes", values: Any, title: str, extent: Any, limits: tuple[float, float], colors: str) -> Any:
    axes.set_title(title, fontsize=12)
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.locator_params(nbins=4)
    style: dict[str, Any] = {"vmin": limits[0], "vmax": limits[1], "cmap": colors, "interpolation": "bilinear"}
    return axes.imshow(values.T, origin="lower", extent=extent, aspect="equal", **style)


def _colorbar(figure: "Figure", image: Any, row: Any, extend: str) -> None:
    """Beside a row of maps; pointed where values are beyond the colours."""
    bar = figure.colorbar(image, ax=list(row), shrink=0.9, pad=0.02, extend=extend)
    bar.outline.set_visible(False)


def _final(fields: dict[str, Any], name: str) -> Any:
    """At the last time, where there are times: (x, y)."""
    values = np.asarray(fields[name], dtype=float)
    return values[..., -1] if values.ndim > 2 else values


def _extent(fields: dict[str, Any]) -> tuple[float, float, float, float]:
    x, y = fields["axis/x"], fields["axis/y"]
    return float(x[0]), float(x[-1]), float(y[0]), float(y[-1])


def styles(lines: Sequence[Line]) -> dict[Line, dict[str, Any]]:
    """Ours in its own colour and on top, the others in turn."""
    others = [line for line in lines if line.method != OURS]
    ours = [line for line in lines if line.method == OURS]
    found: dict[Line, dict[str, Any]] = {
        line: {"color": _OTHERS[k % len(_OTHERS)], "linestyle": LINES[k // len(_OTHERS) % len(LINES)], "linewidth": 1.6}
        for k, line in enumerate(others)
    }
    if others:
        return found | {
            line: {"color": VERMILLION, "linestyle": LINES[k % len(LINES)], "linewidth": 2.6, "zorder": 5}
            for k, line in enumerate(ours)
        }
    colors = (VERMILLION, *_OTHERS)
    return {
        line: {"color": colors[k % len(colors)], "linestyle": LINES[k // len(colors) % len(LINES)], "linewidth": 2.0}
        for k, line in enumerate(ours)
    }


def _figure(size: tuple[float, float], title: str) -> "Figure":
    require_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=size, facecolor="white", layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    figure.suptitle(title, fontsize=14)
    return figure


def _legend(axes: "Axes") -> tuple[list[Any], list[Any]]:
    handles, labels = axes.get_legend_handles_labels()
    return handles, labels


def _file_name(column: Column) -> str:
    return "-".join("".join(each if each.isalnum() else " " for each in column.title.lower()).split())
