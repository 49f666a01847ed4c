"""The runs of a study that differ by their seed alone: what they were asked for, what came of them, and the command."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from incenter.study.commands import command_of
from incenter.study.layout import Column, Layout, Line
from incenter.study.quantities import ERROR, short
from incenter.study.records import as_json
from incenter.study.rows import Row
from incenter.study.statistics import estimate

_NAMED = {"problem", "method", "seed"}  # a run is known by them


@dataclass(frozen=True, eq=False)  # a row holds dictionaries, and no two cells are the same
class Cell:
    """Runs with the same configuration but for the seed."""

    number: int  # in the order of the page
    line: Line
    column: Column
    rows: tuple[Row, ...]  # by seed

    @property
    def title(self) -> str:
        rate = self.rows[0].lr
        return f"{self.line.title} on {self.column.title}" + ("" if rate is None else f", lr {short(rate)}")

    @cached_property
    def command(self) -> str:
        """What trains all of it again."""
        return command_of(self.rows[0].configuration, [row.seed for row in self.rows])

    @property
    def done(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.status == "done")

    @property
    def error(self) -> str:
        """Over its seeds; empty where none is measured."""
        errors = [row.relative_l2 for row in self.done if row.relative_l2 is not None]
        if not errors:
            return ""
        found = estimate(errors)
        return ERROR.shown(found.mean, found.deviation)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Every field of the configuration but those that it is known by; options by owner."""
        return settings_of(self.rows[0])


def cells_of(layout: Layout) -> tuple[Cell, ...]:
    """All runs, problem by problem in the order of the tables."""
    found: list[Cell] = []
    for column in layout.columns:
        for line in layout.lines:
            alike: dict[str, list[Row]] = defaultdict(list)
            for row in layout.runs(line, column):
                alike[as_json(row.configuration | {"seed": None})].append(row)
            for rows in alike.values():
                by_seed = tuple(sorted(rows, key=lambda row: row.seed))
                found.append(Cell(len(found) + 1, line, column, by_seed))
    return tuple(found)


def settings_of(row: Row) -> dict[str, Any]:
    """The configuration of a run, options by owner, without what the run is known by."""
    own = {name: value for name, value in row.configuration.items() if not name.endswith("_options")}
    return {name: value for name, value in (own | row.options).items() if name not in _NAMED}


def shared_settings(cells: Sequence[Cell]) -> dict[str, Any]:
    """What all runs have in common."""
    all_settings = [cell.settings for cell in cells]
    return {
        name: value
        for name, value in next(iter(all_settings), {}).items()
        if all(name in each and each[name] == value for each in all_settings)
    }


def own_settings(cell: Cell, shared: Mapping[str, Any]) -> dict[str, Any]:
    """What only some runs have."""
    return {name: value for name, value in cell.settings.items() if name not in shared}


@dataclass(frozen=True)
class Surroundings:
    """Where and with what runs were made."""

    letter: str
    machine: str
    commit: str
    versions: str
    count: int  # of runs


def surroundings_of(rows: Iterable[Row]) -> dict[str, Surroundings]:
    """By the keys of the finished runs, with a letter for each that differs from the others."""
    by_place: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in rows:
        if row.status == "done":
            versions = ", ".join(f"{name} {version}" for name, version in sorted(row.versions.items()))
            by_place[row.machine or "not known", row.commit or "not in git", versions].append(row.key)
    return {
        key: Surroundings(_letters(number), *place, len(keys))
        for number, (place, keys) in enumerate(by_place.items())
        for key in keys
    }


def moment(seconds: float | None) -> str:
    """A time of the store, as a person reads it."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def _letters(number: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    rest, last = divmod(number, 26)
    return (_letters(rest - 1) if rest else "") + chr(ord("A") + last)
