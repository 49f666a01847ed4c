"""The geometry along a training, as a picture: radius, active set, cosines, and how far ConFIG's direction is.

A dot is a record; a line is the median of the records around it, because the points are drawn anew in each step.
"""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incenter.study.colours import BLUE, GREY, ORANGE, VERMILLION
from incenter.study.extras import require_matplotlib
from incenter.study.figure_file import save
from incenter.study.layout import method_title
from incenter.study.paper_numbers import data
from incenter.study.training_figure import COLORS, LINES, step_axis, titled
from incenter.study.training_geometry import COSINE, Trajectory, read_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AROUND = 9  # records of a median
_WIDE = 100.0  # from this ratio of largest to smallest on, a logarithmic axis
SAME = 1e-4  # degrees: what rounding leaves between two directions that are one


def draw(tables: Path, folder: Path, form: str = "png") -> list[Path]:
    """A picture in `folder` for each table in `tables`: where they are."""
    found = read_all(tables)
    alike = Counter(file_name(each, form) for each in found)
    paths = []
    for trajectory in found:
        name = file_name(trajectory, form)
        paths.append(folder / (name if alike[name] == 1 else f"geometry-{trajectory.name}.{form}"))
        save(geometry_of(trajectory), paths[-1])
    return paths


def file_name(trajectory: Trajectory, form: str) -> str:
    """Without the seed and the key, which are only needed where there are several runs of a problem and method."""
    return f"geometry-{trajectory.name.rpartition('-seed-')[0]}.{form}"


def geometry_of(trajectory: Trajectory) -> "Figure":
    """Four panels over the steps."""
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with rc_context({"font.size": 12, "mathtext.fontset": "cm"}):
        layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
        figure = Figure(figsize=(11, 7.6), facecolor="white", layout=layout)
        figure.suptitle(f"{title_of(trajectory)}: the geometry along training", fontsize=14)
        (radius, active), (cosines, angle) = figure.subplots(2, 2, sharex=True)
        _draw_radius(radius, trajectory)
        _draw_active(active, trajectory)
        _draw_cosines(cosines, trajectory)
        _draw_angle(angle, trajectory)
        for axes in (cosines, angle):
            step_axis(axes)
    return figure


def title_of(trajectory: Trajectory) -> str:
    """Problem, setting and method, as tables call them."""
    problem, *setting, method = trajectory.name.rpartition("-seed-")[0].split("-")
    names, word = data("names"), "-".join(setting)
    parts = [names["problems"].get(problem, problem), names["settings"].get(word, word), method_title(method)]
    return ", ".join(filter(None, parts))


def _draw_radius(axes: "Axes", trajectory: Trajectory) -> None:
    titled(axes, r"radius $r^\star$, and the least cosine of ConFIG's direction")
    _series(axes, trajectory["step"], trajectory["r_star"], BLUE, r"$r^\star$", LINES[0])
    _series(axes, trajectory["step"], trajectory["config_radius"], ORANGE, "ConFIG", LINES[1])
    shown = np.concatenate([trajectory["r_star"], trajectory["config_radius"]])
    shown = shown[np.isfinite(shown)]
    if shown.size and shown.min() > 0 and shown.max() > _WIDE * shown.min():
        axes.set_yscale("log")
    else:
        axes.set_ylim(min(0.0, shown.min(initial=0.0)), None)
    axes.legend(frameon=True, framealpha=0.85, edgecolor="none")


def _draw_active(axes: "Axes", trajectory: Trajectory) -> None:
    active = trajectory.active
    titled(axes, "active set: records in which each loss binds")
    for row in range(len(trajectory.losses)):
        where = active[:, row]
        color = COLORS[row % len(COLORS)]
        axes.plot(
            trajectory["step"][where], np.full(where.sum(), row), "|", color=color, markersize=26, markeredgewidth=1.6
        )
        axes.annotate(f"{where.mean():.0%}", (1.0, row), xycoords=("axes fraction", "data"), ha="right", va="center",
                      color=color, xytext=(-4, 24), textcoords="offset points")  # fmt: skip
    axes.set_yticks(range(len(trajectory.losses)), trajectory.losses)
    axes.set_ylim(len(trajectory.losses) - 0.4, -0.8)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def _draw_cosines(axes: "Axes", trajectory: Trajectory) -> None:
    titled(axes, "cosines between gradients")
    for place, pair in enumerate(trajectory.pairs):
        label = pair.replace("/", ", ")
        color, line = COLORS[place % len(COLORS)], LINES[place % len(LINES)]
        _series(axes, trajectory["step"], trajectory[f"{COSINE}{pair}"], color, label, line)
    axes.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    axes.set_ylim(-1.05, 1.7)  # room for the names
    axes.set_yticks([-1, -0.5, 0, 0.5, 1])
    axes.legend(frameon=False, loc="upper left", ncols=2, fontsize=11)


def _draw_angle(axes: "Axes", trajectory: Trajectory) -> None:
    angle = trajectory["config_angle"]
    differ = angle > SAME  # where the angle is not known there is no difference to show
    titled(axes, f"degrees to ConFIG's direction (another in {differ.mean():.0%})")
    if not differ.any():
        words = f"one direction: at most {np.nanmax(angle, initial=0.0):.0e} degrees apart"
        axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=GREY)
        axes.set_yticks([])
        return
    axes.vlines(trajectory["step"][differ], 0, angle[differ], color=VERMILLION, linewidth=1.0, alpha=0.6)
    axes.plot(trajectory["step"][differ], angle[differ], "o", color=VERMILLION, markersize=4)
    axes.set_ylim(0, None)


def _series(axes: "Axes", step: Any, values: Any, color: str, label: str, line: Any) -> None:
    there = np.isfinite(values)
    step, values = step[there], values[there]
    axes.plot(step, values, "o", color=color, markersize=3, alpha=0.3, markeredgewidth=0, zorder=2)
    axes.plot(step, _median(values), color=color, linewidth=1.8, linestyle=line, label=label, zorder=3)


def _median(values: Any) -> Any:
    half = _AROUND // 2
    return np.array([np.median(values[max(0, k - half) : k + half + 1]) for k in range(len(values))])
