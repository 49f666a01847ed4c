"""The geometry along a training, from the gradients that a run kept (`--save-gradients`): a small CSV for each run.

    step            r_star          NORM of each loss         COSINE of each pair
    active          1 for a loss that binds at the centre, 0 for one that does not, in the order of the losses
    config_radius   least cosine of ConFIG's direction with a gradient; at most r*
    config_angle    degrees between the centre's direction and ConFIG's; empty where ConFIG has none
    paper_64        how much of r* the direction of the paper's three-loss solver misses, as a share of r*
    paper_32        the same of its answer in single precision; both are empty where there are not three losses

A column of a loss is called `norm:residual`, one of a pair `cosine:residual/boundary`. All is computed in double
precision from the gradients as they were saved, but for the answer that `paper_32` judges.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from incenter.geometry.arrays import Matrix, Weights
from incenter.geometry.center import chebyshev_center
from incenter.geometry.errors import IncenterError
from incenter.methods.config import ConFIG
from incenter.study import gradients_file
from incenter.study.comparison import unit, unit_rows
from incenter.study.examples import Gradients
from incenter.study.paper_algorithm import three_losses
from incenter.whole_file import written_whole

NORM, COSINE = "norm:", "cosine:"
_DIGITS = 6
_THREE = 3

Record = Mapping[str, float | str | None]


@dataclass(frozen=True)
class Trajectory:
    """What a CSV says of a run; a value that is not there is NaN."""

    name: str  # of the file, without its ending
    columns: Mapping[str, Any]  # (T,) each; `active` is text

    @property
    def losses(self) -> tuple[str, ...]:
        return tuple(name.removeprefix(NORM) for name in self.columns if name.startswith(NORM))

    @property
    def pairs(self) -> tuple[str, ...]:
        return tuple(name.removeprefix(COSINE) for name in self.columns if name.startswith(COSINE))

    @property
    def active(self) -> Any:
        """(T, m) of bool."""
        return np.array([[letter == "1" for letter in word] for word in self.columns["active"]], dtype=bool)

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]


def record_of(source: Gradients) -> Record:
    """One line of the CSV."""
    G = np.asarray(source.gradients, dtype=np.float64)
    centre, units = chebyshev_center(G), unit_rows(G)
    record: dict[str, float | str | None] = {"step": source.step, "r_star": float(centre.radius)}
    record["active"] = "".join("1" if each else "0" for each in centre.active)
    names = source.names
    record |= {f"{NORM}{name}": float(norm) for name, norm in zip(names, np.linalg.norm(G, axis=1), strict=True)}
    for one, other in combinations(range(len(G)), 2):
        record[f"{COSINE}{names[one]}/{names[other]}"] = float(units[one] @ units[other])
    config, length = unit(np.asarray(ConFIG().combine(G).update))
    record["config_radius"] = float((units @ config).min()) if length > 0 else None
    record["config_angle"] = (
        _degrees(np.asarray(centre.direction), config) if length > 0 and centre.radius > 0 else None
    )
    for precision, dtype in (("64", np.float64), ("32", np.float32)):
        judged = len(G) == _THREE and centre.radius > 0
        record[f"paper_{precision}"] = _missed(units, float(centre.radius), dtype) if judged else None
    return record


def write(runs: Path, folder: Path) -> list[Path]:
    """A CSV in `folder` for every run under `runs` that kept gradients: where they are."""
    found = [config.parent for config in sorted(runs.glob("*/config.json")) if _files(config.parent)]
    if not found:
        raise IncenterError(
            f"No run in {runs} has kept gradients: give the folder of the runs of a study with `save_gradients` in it."
        )
    paths = []
    for run in found:
        paths.append(folder / f"{_name_of(run)}.csv")
        text = text_of(record_of(gradients_file.read(file)) for file in _files(run))
        with written_whole(paths[-1], "give another folder to --out") as aside:
            aside.write_text(text, encoding="utf-8")
    return paths


def text_of(records: Iterable[Record]) -> str:
    """The CSV of these records."""
    records = list(records)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _written(value) for name, value in record.items()} for record in records)
    return text.getvalue()


def read(path: Path) -> Trajectory:
    """What `write` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    if not lines or "r_star" not in lines[0]:
        raise IncenterError(f"{path} is no table of `incenter study geometry`: write it again.")
    columns = {name: _column(name, [line[name] for line in lines]) for name in lines[0]}
    return Trajectory(path.stem, columns)


def read_all(folder: Path) -> list[Trajectory]:
    """Every table in a folder; none where there is no such folder."""
    return [read(path) for path in sorted(folder.glob("*.csv"))]


def _column(name: str, texts: Sequence[str]) -> Any:
    if name == "active":
        return list(texts)
    return np.array([float(text) if text else np.nan for text in texts])


def _files(run: Path) -> list[Path]:
    return sorted((run / "gradients").glob("*.npz"))


def _name_of(run: Path) -> str:
    """The problem with its setting, the method, the seed, and the key under which the store has the run."""
    from incenter.pinn import Configuration

    fields = json.loads((run / "config.json").read_text(encoding="utf-8"))
    setting = fields["problem_options"].get("setting")
    problem = "-".join(filter(None, (str(fields["problem"]), setting)))
    key = Configuration.from_mapping(fields | {"p": float(fields["p"])}).fingerprint()
    return f"{problem}-{fields['method']}-seed-{fields['seed']}-{key}"


def _missed(units: Matrix, r_star: float, dtype: Any) -> float:
    weights: Weights = three_losses(units.astype(dtype)).astype(np.float64)
    direction, length = unit(weights @ units)
    least = float((units @ direction).min()) if length > 0 else 0.0
    return max(0.0, 1.0 - least / r_star)  # below 0 by a rounding where the two are one


def _degrees(one: Any, other: Any) -> float:
    """Also right for small angles."""
    return float(np.degrees(2 * np.arcsin(min(1.0, float(np.linalg.norm(one - other)) / 2))))


def _written(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:.{_DIGITS}g}"
