"""A run that was saved, as a field that can be evaluated.

    field = load("runs/burgers-chebyshev-seed-0")
    field.predict(points)                              # points (..., d) in the order of field.axes -> (..., k)
    field.predict({"x": x, "t": 0.5})                  # or by axis, broadcast against each other
    field.predict(points)[..., field.outputs.index("u")]

What is read is the newest whole checkpoint, so a run that was killed, or that still goes on, can be loaded as well.
"""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import jax
import numpy as np

from incenter.geometry.errors import IncenterError
from incenter.pinn import checkpoints, saving
from incenter.pinn.assembly import Objective
from incenter.pinn.configuration import PYTHON, Configuration
from incenter.pinn.folder import CHECKPOINTS, RESULT_FILE
from incenter.pinn.history import History
from incenter.pinn.sources import at_home, changed
from incenter.pinn.training import problem_of

GOES_ON = ("interrupted", "seconds")  # results of runs that can be continued as they are
Points = Annotated[Any, "(..., d), or a mapping by axis of arrays that broadcast"]
Values = Annotated[Any, "(..., k)"]


@dataclass(frozen=True, eq=False)
class TrainedField:
    """The field of a run after `step` steps."""

    directory: Path
    problem: Any
    configuration: Configuration
    history: History
    result: dict[str, Any] | None  # as `incenter train --json` prints it; None where the run has not ended there
    step: int
    notes: tuple[str, ...]  # what there is to know about the files, a sentence each
    theta: Annotated[Any, "(n,)"]
    objective: Objective

    @property
    def axes(self) -> tuple[str, ...]:
        """The order of the coordinates of a point."""
        return tuple(self.problem.domain.axes)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The order of the values at a point."""
        return tuple(self.problem.outputs)

    @cached_property
    def unknowns(self) -> dict[str, float]:
        """The unknown scalars that were found."""
        with jax.enable_x64(self.configuration.precision == 64):
            return {name: float(value) for name, value in self.objective.unknowns(self.theta).items()}

    @cached_property
    def relative_l2(self) -> float | None:
        """The relative error of the outputs that the problem's reference has; None without one."""
        if self.problem.reference is None:
            return None
        with jax.enable_x64(self.configuration.precision == 64):
            return float(jax.jit(self.objective.relative_l2)(self.theta))  # compiled, as in the run: the same bits

    def predict(self, points: Points) -> Values:
        """The outputs at points."""
        places = self._places(points)
        with jax.enable_x64(self.configuration.precision == 64):
            flat = places.reshape(-1, len(self.axes)).astype(self.objective.dtype)
            values = np.asarray(self.objective.predict(self.theta, flat))
        return values.reshape(*places.shape[:-1], len(self.outputs))

    def _places(self, points: Points) -> Any:
        if isinstance(points, Mapping):
            if set(points) != set(self.axes):
                raise IncenterError(
                    f"`points` must give the axes {', '.join(self.axes)}; got {', '.join(map(str, points)) or 'none'}."
                )
            try:
                return np.stack(np.broadcast_arrays(*(np.asarray(points[axis]) for axis in self.axes)), axis=-1)
            except ValueError as error:
                shapes = ", ".join(f"{axis} {np.shape(points[axis])}" for axis in self.axes)
                raise IncenterError(f"`points` must broadcast against each other; got shapes {shapes}.") from error
        places = np.asarray(points)
        if places.dtype.kind not in "fiu" or places.ndim < 1 or places.shape[-1] != len(self.axes):
            raise IncenterError(
                f"`points` must be numbers of shape (N, {len(self.axes)}), the axes {', '.join(self.axes)} in this "
                f"order; got shape {places.shape} and dtype {places.dtype}."
            )
        return places


def load(directory: str | Path, problem: Any = None) -> TrainedField:
    """The trained field in the folder of a run; `problem` where that was given as a Python object.

    >>> import tempfile, incenter.pinn
    >>> folder = tempfile.mkdtemp()
    >>> _ = incenter.pinn.train("burgers", steps=2, record_every=1, out=folder)
    >>> incenter.pinn.load(folder).predict({"x": [0.0, 0.5], "t": 1.0}).shape
    (2, 1)
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise IncenterError(f"There is no folder {directory}: give the folder that a run was saved in.")
    checkpoint = checkpoints.newest(_checkpoints_of(directory))
    manifest = checkpoint.manifest
    notes = [*([checkpoint.note] if checkpoint.note else []), *changed(manifest["sources"])]
    configuration = _configuration(directory, manifest, problem)
    with jax.enable_x64(configuration.precision == 64):
        home = at_home(configuration.problem, manifest["sources"].get("problem"))
        found = problem_of(dataclasses.replace(configuration, problem=home))
        objective = Objective(found, configuration.precision)
        theta = _theta(directory, checkpoint.arrays, objective)
    return TrainedField(
        directory=directory,
        problem=found,
        configuration=configuration,
        history=saving.to_history(tuple(manifest["names"]), checkpoint.arrays),
        result=_result(directory, checkpoint.step),
        step=checkpoint.step,
        notes=tuple(notes),
        theta=theta,
        objective=objective,
    )


def _checkpoints_of(directory: Path) -> Path:
    """Where the checkpoints are; in a folder of several seeds one has to be chosen."""
    inside = directory / CHECKPOINTS
    if not checkpoints.exists(inside):
        runs = sorted(path.name for path in directory.iterdir() if checkpoints.exists(path / CHECKPOINTS))
        if runs:
            raise IncenterError(f"{directory} holds several runs: give one of them, such as {directory / runs[0]}.")
    return inside


def configuration_of(directory: Path) -> Configuration:
    """The configuration of the run saved in a folder."""
    return _configuration(directory, checkpoints.newest(directory / CHECKPOINTS).manifest, None)


def state_of(directory: Path) -> str | None:
    """Where the run in a folder is: "is finished after 50 steps", "has stopped at step 12"; None without a run."""
    if not checkpoints.exists(directory / CHECKPOINTS):
        return None
    step = checkpoints.newest(directory / CHECKPOINTS).step
    result = _result(directory, step)
    finished = result is not None and result["stopped"] not in GOES_ON
    return f"is finished after {step:,} steps" if finished else f"has stopped at step {step:,}"


def _configuration(directory: Path, manifest: Mapping[str, Any], problem: Any) -> Configuration:
    fields = dict(manifest["configuration"])
    fields["p"] = float(fields["p"])  # inf is text in JSON
    if problem is not None:
        fields["problem"] = problem
    elif str(fields["problem"]).startswith(PYTHON):
        name = fields["problem"].removeprefix(PYTHON)
        raise IncenterError(
            f"The problem of the run in {directory}, {name!r}, was given as a Python object, which no file can hold: "
            "pass it again, load(DIR, problem=...)."
        )
    return Configuration(**fields)


def _theta(directory: Path, arrays: Mapping[str, Any], objective: Objective) -> Any:
    theta = arrays["theta"]
    if theta.shape != (objective.size,):
        raise IncenterError(
            f"The run in {directory} has {theta.size:,} parameters and its problem now has {objective.size:,}: load it "
            "with the problem that it was made of."
        )
    return theta


def _result(directory: Path, step: int) -> dict[str, Any] | None:
    """What the run ended with, if it ended where its newest checkpoint is."""
    try:
        result: dict[str, Any] = json.loads((directory / RESULT_FILE).read_text())
        return result if result["steps"] == step else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
