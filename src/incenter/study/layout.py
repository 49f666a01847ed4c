"""Runs laid out as the paper's tables are: a column for each problem, a line for each method, seeds in the cells.

Two problems with other options are two columns. Two runs of a method are two lines where, in one column, they differ in
any other field than the learning rate and the seed: so the norms of an ablation are lines, and a method has one line
although its problems have their own numbers of steps. What the paper has comes first, in its order.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from incenter.study.paper_numbers import data, given_options, method_of
from incenter.study.rows import Row

OURS = "chebyshev"
_CELL = {"problem", "problem_options", "method", "method_options", "optimizer_options", "schedule_options"}
_SEEDS = {"lr", "seed"}
_RECORDED = {"record_every", "checkpoint_every", "save_gradients"}  # they change no step
_BESIDE = _CELL | _SEEDS | _RECORDED
_OPTIONS = ("method_options", "optimizer_options", "schedule_options", "finish_options")
_ABSENT = None

_QUOTES = "'\""

Fields = tuple[tuple[str, str], ...]  # names, and values as Python writes them


@dataclass(frozen=True)
class Column:
    """A problem with its options."""

    problem: str
    options: Fields
    title: str


@dataclass(frozen=True)
class Line:
    """A method with the fields that set it apart from its other lines."""

    method: str
    fields: Fields
    title: str


@dataclass(frozen=True)
class Layout:
    """Columns, lines, and the runs of each cell."""

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    cells: Mapping[tuple[Line, Column], tuple[Row, ...]]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for rows in self.cells.values() for row in rows)

    @cached_property
    def study(self) -> str | None:
        """The study that all runs belong to, if it is one."""
        return _only({row.study for row in self.rows})

    @cached_property
    def steps(self) -> int | None:
        """The steps of all runs, if all have as many."""
        return _only({row.steps for row in self.rows})

    def line_of(self, method: str | None) -> Line | None:
        """The line of a method, of several that in the Euclidean norm; without a name ours, or else the first."""
        if method is None:
            return self.line_of(OURS) or next(iter(self.lines), None)
        of_method = [line for line in self.lines if line.method == method]
        return next((line for line in of_method if dict(line.fields).get("p") == "2.0"), next(iter(of_method), None))

    def runs(self, line: Line, column: Column) -> tuple[Row, ...]:
        return self.cells.get((line, column), ())

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """All seeds that any cell has."""
        return tuple(sorted({row.seed for row in self.rows}))


def lay_out(rows: Iterable[Row]) -> Layout:
    """The layout of these runs, whatever their status."""
    rows = list(rows)
    column_keys = [_column_key(row) for row in rows]
    first: dict[str, Row] = {}
    for column_key, row in zip(column_keys, rows, strict=True):
        first.setdefault(column_key, row)
    columns = _columns(first)
    places = [columns[key] for key in column_keys]
    fields = [_fields(row) for row in rows]
    varying = _varying(rows, places, fields)
    keys = [
        (method_of(row), tuple((name, repr(own.get(name, _ABSENT))) for name in varying[method_of(row)]))
        for row, own in zip(rows, fields, strict=True)
    ]
    lines = _lines(dict.fromkeys(keys))
    cells: dict[tuple[Line, Column], list[Row]] = defaultdict(list)
    for row, place, key in zip(rows, places, keys, strict=True):
        cells[lines[key], place].append(row)
    return Layout(
        tuple(sorted(columns.values(), key=_place_of_column)),
        tuple(sorted(lines.values(), key=_place_of_line)),
        {place: tuple(found) for place, found in cells.items()},
    )


def method_title(method: str) -> str:
    """What the paper calls it, or the name that a user gave it."""
    title: str = data("names")["methods"].get(method, method.rpartition(":")[2])
    return title


T = TypeVar("T")


def _only(values: set[T]) -> T | None:
    return next(iter(values)) if len(values) == 1 else None


def _column_key(row: Row) -> str:
    return repr((row.problem, sorted(given_options(row).items())))


def _columns(first: Mapping[str, Row]) -> dict[str, Column]:
    """The columns by their keys, each of which comes with its first run."""
    alone = len({row.problem for row in first.values()}) == 1
    return {key: _column(row, alone) for key, row in first.items()}


def _column(row: Row, alone: bool) -> Column:
    names = data("names")
    options = given_options(row)
    title = names["problems"].get(row.problem, row.problem.rpartition(":")[2])
    parts = [] if alone and row.problem == "inverse_heat" else [title]
    others = dict(options)
    if row.problem == "inverse_heat":
        setting = others.pop("setting", "standard")
        parts.append(names["settings"].get(setting, setting))
    parts += [f"{name} {value}" for name, value in sorted(others.items())]
    frozen = tuple((name, repr(value)) for name, value in sorted(options.items()))
    return Column(row.problem, frozen, ", ".join(parts))


def _fields(row: Row) -> dict[str, Any]:
    """All that may set a run apart from another one of its method and problem."""
    own = {name: value for name, value in row.configuration.items() if name not in _BESIDE}
    for each in _OPTIONS:
        own |= row.configuration.get(each) or {}
    return own | {"p": row.p}


def _varying(
    rows: Sequence[Row], places: Sequence[Column], fields: Sequence[Mapping[str, Any]]
) -> dict[str, list[str]]:
    """For each method the names of the fields that have two values in one column."""
    first: dict[tuple[str, Column], Mapping[str, Any]] = {}
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for row, place, own in zip(rows, places, fields, strict=True):
        method = method_of(row)
        other = first.setdefault((method, place), own)
        if own != other:
            names = [*own, *(name for name in other if name not in own)]
            changed = (name for name in names if own.get(name, _ABSENT) != other.get(name, _ABSENT))
            found[method].update(dict.fromkeys(changed))
    return {method_of(row): list(found[method_of(row)]) for row in rows}


def _lines(keys: Iterable[tuple[str, Fields]]) -> dict[tuple[str, Fields], Line]:
    keys = list(keys)
    alone = len({method for method, _ in keys}) == 1
    return {key: _line(*key, alone) for key in keys}


def _line(method: str, fields: Fields, alone: bool) -> Line:
    given = [(name, value) for name, value in fields if value != repr(_ABSENT)]
    words = [f"{name} = {value.removesuffix('.0').strip(_QUOTES)}" for name, value in given]
    parts = words if alone and words else [method_title(method), *words]
    return Line(method, fields, ", ".join(parts))


def _place_of_column(column: Column) -> tuple[int, int, int]:
    names = data("names")
    problems, settings = list(names["problems"]), [repr(setting) for setting in names["settings"]]
    setting = dict(column.options).get("setting", settings[0])
    others = sum(name != "setting" for name, _ in column.options)
    return _index(problems, column.problem), others, _index(settings, setting)


def _place_of_line(line: Line) -> tuple[bool, int, list[tuple[float, str]]]:
    methods = list(data("names")["methods"])
    return line.method == OURS, _index(methods, line.method), [_in_order(value) for _, value in line.fields]


def _in_order(value: str) -> tuple[float, str]:
    """What is not given, then numbers by their size, then everything else by its text."""
    if value == repr(_ABSENT):
        return float("-inf"), ""
    try:
        return float(value), ""
    except ValueError:
        return float("inf"), value


def _index(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else len(names)
