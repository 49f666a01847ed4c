"""The pictures of one training run, from its folder: training.png, and solution.png with the reference beside it.

Outputs that the reference does not speak of are in solution-NAME.png, on a regular grid over the domain.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incenter.geometry.errors import IncenterError
from incenter.study.extras import require_matplotlib
from incenter.study.figure_file import save
from incenter.study.point_set import PointSet, point_set, regular_points
from incenter.study.solution_figure import Field, solution_figure
from incenter.study.training_figure import Curves, training_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from incenter.pinn import TrainedField


def draw_run(directory: Path) -> tuple[list[Path], list[str]]:
    """Draw the run in `directory` into it: where the pictures are, and what else there is to say."""
    require_matplotlib()
    from incenter.pinn import load

    field = load(directory)
    notes = list(field.notes)
    paths = []
    for name, figure in figures(field, notes):
        paths.append(directory / f"{name}.png")
        save(figure, paths[-1])
    return paths, notes


def figures(field: "TrainedField", notes: list[str]) -> Iterator[tuple[str, "Figure"]]:
    """The figures of a run by name; what cannot be drawn is said in `notes`."""
    yield "training", training_figure(curves_of(field))
    compared: tuple[str, ...] = ()
    reference = field.problem.reference
    if reference is not None:
        points = _points_of(field, reference.points)
        if points is not None:
            compared = tuple(reference.outputs)
            yield "solution", solution_figure(title_of(field), points, fields_of(field, points))
        else:
            notes.append("The reference's points fill no plane, so it is not drawn.")
    rest = [name for name in field.outputs if name not in compared]
    points = _points_of(field, _own_points(field))
    if rest and points is None:
        notes.append(f"Only one to three axes can be drawn, and this problem has {len(field.axes)}.")
    elif rest and points is not None:
        learnt = field.predict(points.points)
        alone = [Field(name, learnt[:, field.outputs.index(name)], None) for name in rest]
        name = f"solution-{'-'.join(rest)}" if compared else "solution"
        yield name, solution_figure(_name_of(field), points, alone)


def title_of(field: "TrainedField") -> str:
    """Which run it is, how long it is, and how good."""
    return _name_of(field) + ("" if field.relative_l2 is None else f", relative L2 error {field.relative_l2:.3g}")


def _name_of(field: "TrainedField") -> str:
    configuration = field.configuration
    names = [str(name).rpartition(":")[2] for name in (configuration.problem, configuration.method)]
    return f"{', '.join(names)}, seed {configuration.seed}: {field.step:,} steps"


def curves_of(field: "TrainedField") -> Curves:
    """The history of a run; columns that it lacks are NaN."""
    history = field.history
    if not len(history):
        raise IncenterError(f"The run in {field.directory} has no record yet: let it make a step first.")
    step, losses = history["step"], history["losses"]

    def column(name: str, like: Any) -> Any:
        return np.asarray(history[name], dtype=float) if name in history else np.full(like.shape, np.nan)

    return Curves(
        title=title_of(field),
        names=tuple(history.names),
        step=step,
        losses=losses,
        weights=column("weights", losses),
        radius=column("radius", step),
        best_radius=column("r_star", step),
        error=column("error", step),
    )


def fields_of(field: "TrainedField", points: PointSet) -> list[Field]:
    """The outputs that the reference has, at its points."""
    reference = field.problem.reference
    learnt, true = field.predict(points.points), np.asarray(reference.values)
    return [Field(name, learnt[:, field.outputs.index(name)], true[:, k]) for k, name in enumerate(reference.outputs)]


def _own_points(field: "TrainedField") -> Any:
    """A regular grid over the domain, without what lies outside it."""
    domain = field.problem.domain
    points = regular_points(dict(zip(domain.axes, domain.bounds, strict=True)))
    return points[np.asarray(domain.contains(points))]


def _points_of(field: "TrainedField", points: Any) -> PointSet | None:
    """How points of the domain are drawn, its holes left out."""
    points = np.asarray(points, dtype=float)
    found = point_set(points, field.axes)
    if found is None:
        return None
    shown = [field.axes.index(axis) for axis in found.shown]

    def inside(columns: Any) -> Any:
        whole = np.tile(points[0], (len(columns), 1))
        whole[:, shown] = columns
        return np.asarray(field.problem.domain.contains(whole))

    return point_set(points, field.axes, inside)
