"""How a run went: losses, error, radius and weights over the steps.

A record of a long run is thousands of noisy values, because the points are drawn anew in each step. A curve here is the
median of each of at most `_BINS` stretches of steps, in a band from their 10th to their 90th percentile.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from incenter.study.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION
from incenter.study.extras import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Records = Annotated[Any, "(T,): one value per record"]
PerLoss = Annotated[Any, "(T, m): one value per record and loss"]

COLORS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, "#000000")
LIGHT = "#b8b8b8"
LINES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1)))  # after all colours are used, the next kind of line
_BINS = 125  # stretches of steps: one for every four or five dots of a panel
_BAND = (10, 90)  # percentiles
_LETTERS, _LETTERS_OF_A_LINE = 110, 9  # that fit beside each other, and that the line before a name takes up
_NARROW = 8.0  # up to this ratio of its ends an axis has a number at each of 1, 2, 3, ... instead of 1, 2, 5
_WIDE = 100.0  # from this ratio of largest to smallest on, a logarithmic axis


@dataclass(frozen=True)
class Curves:
    """The record of a run; what was not measured is NaN."""

    title: str
    names: tuple[str, ...]
    step: Records
    losses: PerLoss
    weights: PerLoss
    radius: Records
    best_radius: Records
    error: Records


def training_figure(curves: Curves) -> "Figure":
    """Four panels over the steps: losses, relative error, least cosine beside r*, weights."""
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with rc_context({"font.size": 12, "mathtext.fontset": "cm"}):
        layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12)
        figure = Figure(figsize=(11, 7.6), facecolor="white", layout=layout)
        figure.suptitle(curves.title, fontsize=14)
        (losses, error), (radius, weights) = figure.subplots(2, 2, sharex=True)
        draw_losses(losses, curves)
        draw_error(error, curves)
        draw_radius(radius, curves)
        draw_weights(weights, curves)
        for axes in (radius, weights):
            step_axis(axes)
        columns = max(1, _LETTERS // (_LETTERS_OF_A_LINE + max(map(len, curves.names))))
        figure.legend(*losses.get_legend_handles_labels(), loc="outside lower center", ncols=columns, frameon=False)
    return figure


def draw_losses(axes: "Axes", curves: Curves) -> None:
    _per_loss(axes, curves, curves.losses)
    titled(axes, "losses")
    axes.set_yscale("log")


def draw_error(axes: "Axes", curves: Curves) -> None:
    titled(axes, "relative L2 error")
    measured = np.isfinite(curves.error)
    if not measured.any():
        _say(axes, "not measured: the problem has no reference")
        return
    _curve(axes, curves.step, curves.error, BLUE)
    logarithmic_in_plain_numbers(axes)
    last = float(curves.error[measured][-1])
    axes.annotate(f"at the end {last:.3g}", (0.98, 0.95), xycoords="axes fraction", ha="right", va="top", color=BLUE)


def draw_radius(axes: "Axes", curves: Curves) -> None:
    titled(axes, "least cosine of update and gradients")
    both = np.concatenate([curves.best_radius, curves.radius])
    both = both[np.isfinite(both)]
    if both.size == 0:
        _say(axes, "not recorded")
        return
    _curve(axes, curves.step, curves.best_radius, LIGHT, label=r"$r^\star$: the largest there is", width=5.0)
    _curve(axes, curves.step, curves.radius, VERMILLION, label="this method", width=1.4)
    if both.min() < 0:
        axes.axhspan(min(-1.0, both.min()), 0, color="#f6e9e2", zorder=0, linewidth=0)
        axes.set_ylim(min(1.1 * both.min(), -0.05), None)
    elif both.max() > _WIDE * both.min() > 0:
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, None)
    axes.legend(frameon=False)


def draw_weights(axes: "Axes", curves: Curves) -> None:
    titled(axes, "weights: update = sum of weight x gradient")
    weights = curves.weights[np.isfinite(curves.weights)]
    if weights.size == 0:
        _say(axes, "this method's update is no weighted sum")
        return
    positive = np.abs(weights[weights != 0])
    if weights.min() < 0:
        axes.set_yscale("symlog", linthresh=float(np.median(positive)) / 10)
        axes.axhline(0, color=GREY, linewidth=0.8, zorder=1)
    elif positive.size:
        axes.set_yscale("log")
    # A loss that does not bind has weight 0, which a logarithmic axis has no place for: its curve breaks off there.
    logarithmic = axes.get_yscale() == "log"
    _per_loss(axes, curves, np.where(curves.weights > 0, curves.weights, np.nan) if logarithmic else curves.weights)


def _per_loss(axes: "Axes", curves: Curves, values: PerLoss) -> None:
    for row, name in enumerate(curves.names):
        line = LINES[(row // len(COLORS)) % len(LINES)]
        _curve(axes, curves.step, values[:, row], COLORS[row % len(COLORS)], label=name, line=line)


def _curve(
    axes: "Axes", step: Records, values: Records, color: str, label: str = "", line: Any = "-", width: float = 1.8
) -> None:
    binned = np.array(list(_binned(step, values)))
    if binned.size == 0:
        return
    middle, low, median, high = binned.T
    axes.fill_between(middle, low, high, color=color, alpha=0.18, linewidth=0, zorder=2)
    marker = "o" if len(middle) == 1 else ""
    axes.plot(middle, median, color=color, linewidth=width, linestyle=line, marker=marker, label=label, zorder=3)


def _binned(step: Records, values: Records) -> Iterator[tuple[float, float, float, float]]:
    """Step, 10th percentile, median and 90th percentile of each stretch that has values."""
    measured = np.isfinite(values)
    step, values = np.asarray(step)[measured], np.asarray(values)[measured]
    stretch = -(-len(step) // _BINS) or 1
    for start in range(0, len(step), stretch):
        part = slice(start, start + stretch)
        low, median, high = np.percentile(values[part], [_BAND[0], 50, _BAND[1]])
        yield float(step[part].mean()), low, median, high


def logarithmic_in_plain_numbers(axes: "Axes") -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high > _NARROW * low else range(1, 10)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def titled(axes: "Axes", title: str) -> None:
    axes.set_title(title, loc="left", fontsize=12.5)
    axes.grid(color="0.92", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("right", "top"):
        axes.spines[side].set_visible(False)


def step_axis(axes: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    axes.set_xlabel("step")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def _say(axes: "Axes", words: str) -> None:
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=GREY)
    axes.set_yticks([])
