"""The pictures of one run of a store: its losses, error, radius and weights, and its outputs beside the reference."""

from typing import TYPE_CHECKING, Any

import numpy as np

from incenter.study.layout import method_title
from incenter.study.packing import Array
from incenter.study.point_set import point_set
from incenter.study.rows import Row
from incenter.study.solution_figure import Field, solution_figure
from incenter.study.training_figure import Curves, training_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_AXIS, _REFERENCE = "axis/", "reference/"


def training_of(row: Row) -> "Figure | None":
    """How the run went; None where nothing was recorded."""
    history = row.history()
    if "losses" not in history or not len(history.get("step", ())):
        return None
    return training_figure(_curves(row, history))


def solution_of(row: Row) -> "Figure | None":
    """The outputs that the reference has beside it, or all where there is none; None without fields."""
    fields = row.fields()
    axes = {name.removeprefix(_AXIS): np.asarray(each) for name, each in fields.items() if name.startswith(_AXIS)}
    if not axes:
        return None
    grids = np.meshgrid(*(each.astype(float) for each in axes.values()), indexing="ij")
    points = point_set(np.stack([each.ravel() for each in grids], axis=-1), tuple(axes))
    outputs = [name for name in fields if "/" not in name]
    compared = [name for name in outputs if _REFERENCE + name in fields]
    drawn = [Field(name, *_values(fields, name)) for name in compared or outputs]
    return None if points is None or not drawn else solution_figure(_title(row), points, drawn)


def _curves(row: Row, history: dict[str, Array]) -> Curves:
    step, losses = np.asarray(history["step"]), np.asarray(history["losses"], dtype=float)
    names = history.get("names")

    def column(name: str, like: Array) -> Array:
        return np.asarray(history[name], dtype=float) if name in history else np.full(like.shape, np.nan)

    return Curves(
        title=_title(row),
        names=tuple(map(str, range(losses.shape[1]) if names is None else names)),
        step=step,
        losses=losses,
        weights=column("weights", losses),
        radius=column("radius", step),
        best_radius=column("r_star", step),
        error=column("error", step),
    )


def _values(fields: dict[str, Array], name: str) -> tuple[Any, Any]:
    """An output and its reference, as lists of values."""
    true = fields.get(_REFERENCE + name)
    return np.asarray(fields[name], dtype=float).ravel(), None if true is None else np.asarray(
        true, dtype=float
    ).ravel()


def _title(row: Row) -> str:
    error = "" if row.relative_l2 is None else f", relative L2 error {row.relative_l2:.3g}"
    return f"{row.problem.rpartition(':')[2]}, {method_title(row.method)}, seed {row.seed}{error}"
