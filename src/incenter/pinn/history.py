"""What is kept of a run while it goes: arrays by name, one entry per record.

    step        steps made                                 seconds      since the start of the run, resumes included
    losses      (k, m) of the last step                    weights      (k, m) on the raw gradients, if there are any
    norms       (k, m) Euclidean, of the gradients         radius       least cosine of the update with a gradient
    r_star      r* of the gradients, in float64            active       (k, m) which losses bind there
    binding     (k, m) share of the steps since the last record in which the update served this loss least
    held        steps since the last record that were held, or taken back, because they were not finite
    error       relative L2 error after the step, if there is a reference
    unknown/NAME  the unknown scalars

Losses, norms, weights and radius are those the last step began with. A held step leaves its NaN visible in them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from incenter.geometry.center import chebyshev_center
from incenter.geometry.errors import IncenterError
from incenter.pinn.loop import Seen, Tally
from incenter.whole_file import written_whole

Array = np.ndarray[Any, np.dtype[Any]]
FILE = "history.npz"


def record_of(seen: Seen, tally: Tally, p: float) -> dict[str, Any]:
    """What one record says of the last step and of those since the record before; all in NumPy."""
    G = seen.gradients.astype(np.float64)
    center = chebyshev_center(G, p)
    record = {
        "losses": seen.losses,
        "norms": np.linalg.norm(G, axis=1),
        "radius": seen.radius,
        "r_star": center.radius,
        "active": center.active,
        "binding": tally.binding / max(1, int(tally.taken)),
        "held": tally.held,
    }
    return record if seen.weights is None else record | {"weights": seen.weights}


class History:
    """Records in the order of their steps."""

    def __init__(self, names: tuple[str, ...], columns: Mapping[str, Array] | None = None) -> None:
        self.names = names  # of the losses
        self._columns: dict[str, list[Any]] = {name: list(column) for name, column in (columns or {}).items()}

    def __len__(self) -> int:
        return len(self._columns.get("step", []))

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> Array:
        if name not in self._columns:
            raise KeyError(f"{name!r}; there are: {', '.join(self._columns) or 'none yet'}")
        return np.asarray(self._columns[name])

    def add(self, record: Mapping[str, Any]) -> None:
        """One more record; those of its step and later ones, left behind by a rollback, go."""
        kept = sum(step < record["step"] for step in self._columns.get("step", []))
        for name, value in record.items():
            column = self._columns.setdefault(name, [])
            del column[kept:]
            column.append(np.asarray(value))

    def last(self, name: str) -> Any:
        """The latest value of a column, None where there is none."""
        column = self._columns.get(name)
        return column[-1] if column else None

    def arrays(self) -> dict[str, Array]:
        """Every column as an array."""
        return {name: np.asarray(column) for name, column in self._columns.items()}

    def save(self, directory: Path) -> None:
        """Write `history.npz`, whole or not at all."""
        with written_whole(directory / FILE, "make room there") as aside, aside.open("wb") as file:
            np.savez(file, names=np.asarray(self.names), **self.arrays())  # type: ignore[arg-type]

    @classmethod
    def load(cls, directory: Path) -> "History":
        """What `save` wrote."""
        path = directory / FILE
        if not path.is_file():
            raise IncenterError(f"There is no {FILE} in {directory}: give the folder of a run.")
        try:
            with np.load(path, allow_pickle=False) as archive:
                columns = dict(archive)
            names = tuple(str(name) for name in columns.pop("names"))
        except Exception as error:  # zip files fail in many ways
            raise IncenterError(
                f"{path} is damaged ({type(error).__name__}): continue the run to write it anew."
            ) from error
        return cls(names, columns)
