"""The paper's own numbers: its tables as it prints them, and what belongs to a run.

A number belongs to a run where problem, options, method, norm, steps and optimiser are the paper's. What the paper left
out has none. Learning rates go by problem and method alone.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from incenter.study import learning_rates
from incenter.study.rows import Row

HALF_A_DIGIT = 5e-5  # the unit of a difference where the paper prints a deviation of 0.0000
Kind = Literal["forward", "inverse"]
INVERSE = "inverse_heat"
_PRINTED = re.compile(r"(?P<mean>\d+\.\d+)(?: \((?P<deviation>\d+\.\d+)\))?")


@dataclass(frozen=True)
class Printed:
    """A number of the paper, and where it stands there."""

    mean: float
    deviation: float | None
    source: str

    def difference(self, mean: float) -> float | None:
        """How far `mean` is from the paper's, in units of the paper's deviation."""
        if self.deviation is None:
            return None
        return (mean - self.mean) / (self.deviation or HALF_A_DIGIT)


@cache
def data(name: str) -> dict[str, Any]:
    """The file `paper/NAME.toml` as it stands."""
    text = resources.files("incenter.study").joinpath("paper", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def error_of(row: Row) -> Printed | None:
    """The relative L2 error that the paper prints for runs like this one."""
    if _in_another_norm(row):
        place = None if given_options(row) else ("ablation-p", row.problem)
        return _printed("errors", place, f"{row.p:g}", row)
    return _printed("errors", column_of(row), method_of(row), row)


def seconds_of(row: Row) -> Printed | None:
    """The time that the paper prints for runs like this one."""
    return (
        None if row.p != 2 and row.method == "chebyshev" else _printed("seconds", column_of(row), method_of(row), row)
    )


def rate_of(row: Row) -> Printed | None:
    """The learning rate that the paper selected for runs like this one."""
    place = column_of(row)
    if place is None or _in_another_norm(row):
        return None
    kind, column = place
    rate = learning_rates.table()[kind].get(column, {}).get(method_of(row))
    return None if rate is None else Printed(rate, None, learning_rates.table()[kind]["source"])


def method_of(row: Row) -> str:
    """The name of the method, whichever of its names was typed."""
    return canonical(row.method)


def canonical(method: str) -> str:
    """`adam` is another name of `sum`."""
    return "sum" if method == "adam" else method


def given_options(row: Row) -> dict[str, Any]:
    """The problem's options that are not the paper's."""
    paper = data("names")["options"].get(row.problem, {})
    given: Mapping[str, Any] = row.configuration.get("problem_options", {})
    return {name: value for name, value in given.items() if paper.get(name) != value}


def column_of(row: Row) -> tuple[Kind, str] | None:
    """The kind of table and the column of it that a run belongs to; None where the paper has no such problem."""
    options = given_options(row)
    kind: Kind = "inverse" if row.problem == INVERSE else "forward"
    column = options.pop("setting", "standard") if kind == "inverse" else row.problem
    known = column in data("errors")[kind] and not options
    return (kind, column) if known else None


def _in_another_norm(row: Row) -> bool:
    return row.method == "chebyshev" and row.p != 2


def _printed(file: str, place: tuple[str, str] | None, method: str, row: Row) -> Printed | None:
    if place is None or row.optimizer != "adam":
        return None
    table = data(file)[place[0]]
    text = table.get(place[1], {}).get(method)
    return None if text is None or table["steps"] != row.steps else read(text, table["source"])


def read(text: str, source: str) -> Printed:
    """`0.0307 (0.0162)`, or a mean alone, as numbers."""
    found = _PRINTED.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no number of the paper")
    deviation = found["deviation"]
    return Printed(float(found["mean"]), None if deviation is None else float(deviation), source)
