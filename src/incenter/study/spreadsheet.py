"""The runs of a store as one table, a run a line: CSV, or Parquet where pyarrow is installed.

A column is there if any run has a value in it. Options are columns such as `problem.operator`, unknown scalars such as
`unknown/a`. Floats are written with as many digits as bring them back exactly.
"""

import csv
import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from incenter.geometry.errors import IncenterError
from incenter.study.rows import Row
from incenter.whole_file import written_whole

_COLUMNS = (
    "study", "key", "problem", "method", "p", "lr", "optimizer", "steps", "seed", "precision", "status", "relative_l2",
    "seconds", "ms_per_step", "radius", "stopped", "step", "attempts", "worker", "started", "ended", "parameters",
    "machine", "commit", "error",
)  # fmt: skip
_ADVICE = "name another file"
_TWO = 2


def columns_of(rows: Iterable[Row]) -> dict[str, list[Any]]:
    """The table by column; None where a run has no value."""
    lines = [_line(row) for row in rows]
    names = dict.fromkeys([*_COLUMNS, *(name for line in lines for name in line)])
    columns = {name: _of_one_type([line.get(name) for line in lines]) for name in names}
    return {name: column for name, column in columns.items() if any(value is not None for value in column)}


def write_csv(rows: Sequence[Row], path: str | Path) -> None:
    """One line per run, under one line of names; times are seconds since 1970."""
    columns = columns_of(rows)
    with written_whole(Path(path), _ADVICE) as aside, aside.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def write_parquet(rows: Sequence[Row], path: str | Path) -> None:
    """The same table, with types."""
    if importlib.util.find_spec("pyarrow") is None:
        raise IncenterError("Parquet files need pyarrow, which is not installed: pip install pyarrow, or write CSV.")
    import pyarrow
    from pyarrow import parquet

    with written_whole(Path(path), _ADVICE) as aside:
        parquet.write_table(pyarrow.table(columns_of(rows)), aside)


def _line(row: Row) -> dict[str, Any]:
    unknowns = row.summary.get("unknowns") or {}
    return (
        {name: getattr(row, name) for name in _COLUMNS}
        | {name: _plain(value) for name, value in row.options.items()}
        | {f"unknown/{name}": value for name, value in unknowns.items()}
        | {f"version/{name}": version for name, version in row.versions.items()}
    )


def _plain(value: Any) -> Any:
    """A cell: what is no number is text."""
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def _of_one_type(column: list[Any]) -> list[Any]:
    """Text throughout where there are different things in it: an option may be a number here and a name there."""
    kinds = {float if type(value) is int else type(value) for value in column if value is not None}
    return column if len(kinds) < _TWO else [None if value is None else str(value) for value in column]
