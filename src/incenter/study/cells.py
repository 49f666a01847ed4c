"""A cell of a table: the runs of a method on a problem, its learning rates, and the paper's number beside it.

Of several learning rates the one with the most seeds done is reported, and of those the one with the best error; what
is wrong with the others is kept.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from incenter.study.layout import Column, Layout, Line
from incenter.study.paper_numbers import Printed
from incenter.study.quantities import Quantity, short
from incenter.study.renderings import Mark
from incenter.study.rows import Row
from incenter.study.statistics import Estimate, estimate


@dataclass(frozen=True)
class Tried:
    """One learning rate of a cell: its runs that are done, and what is wrong with the others."""

    lr: float | None
    done: tuple[Row, ...]
    measured: Estimate | None
    missing: str

    @property
    def rate(self) -> str:
        return "unknown" if self.lr is None else short(self.lr)


@dataclass(frozen=True)
class Cell:
    """What is known of a method on a problem; None is what is not."""

    mean: float | None = None
    deviation: float | None = None
    count: int = 0
    wanted: int = 0  # seeds
    lr: float | None = None  # the reported one
    tried: tuple[Tried, ...] = ()  # all learning rates, the reported one first
    best: bool = False
    second: bool = False
    paper_mean: float | None = None
    paper_deviation: float | None = None
    paper_source: str | None = None
    difference_in_paper_deviations: float | None = None
    missing: str = ""  # why the cell is not complete

    @property
    def mark(self) -> Mark:
        return "best" if self.best else "second" if self.second else ""

    @property
    def runs(self) -> tuple[str, ...]:
        """The keys of those that the numbers are made of."""
        return tuple(row.key for row in self.tried[0].done) if self.tried else ()


def tried_rates(layout: Layout, line: Line, column: Column) -> tuple[Tried, ...]:
    """The learning rates of a cell, the one to report first: with the most seeds done, and of those the best error."""
    by_rate: dict[float | None, list[Row]] = defaultdict(list)
    for row in layout.runs(line, column):
        by_rate[row.lr].append(row)
    found = [_tried(rate, rows, layout.seeds) for rate, rows in by_rate.items()]
    return tuple(sorted(found, key=lambda each: (-len(each.done), each.measured.mean if each.measured else 0.0)))


def cell_of(layout: Layout, line: Line, column: Column, quantity: Quantity) -> Cell:
    """What a table of this quantity says of a method on a problem."""
    tried = tried_rates(layout, line, column)
    if not tried:
        return Cell(missing="no runs")
    reported = tried[0]
    found = values_of(quantity, reported)
    paper = quantity.paper((reported.done or layout.runs(line, column))[0])
    missing = _why_incomplete(tried)
    cell = Cell(lr=reported.lr, wanted=len(layout.seeds), tried=tried, missing=missing)
    if found is None:
        return _beside(replace(cell, missing=missing or quantity.absent), paper)
    return _beside(replace(cell, mean=found.mean, deviation=found.deviation, count=found.count), paper)


def values_of(quantity: Quantity, tried: Tried) -> Estimate | None:
    """Mean and deviation of the runs that are done."""
    values = [value for value in map(quantity.of, tried.done) if value is not None]
    return estimate(values) if values else None


def _tried(lr: float | None, rows: Sequence[Row], seeds: Sequence[int]) -> Tried:
    by_seed: dict[int, Row] = {}
    for row in rows:
        if row.seed not in by_seed or by_seed[row.seed].status != "done":
            by_seed[row.seed] = row
    done = tuple(by_seed[seed] for seed in seeds if seed in by_seed and by_seed[seed].status == "done")
    errors = [row.relative_l2 for row in done if row.relative_l2 is not None]
    absent: dict[str, list[int]] = defaultdict(list)
    for seed in seeds:
        status = by_seed[seed].status if seed in by_seed else "not planned"
        if status != "done":
            absent[status].append(seed)
    reasons = [f"{_seeds(which)} {status}" for status, which in absent.items()]
    return Tried(lr, done, estimate(errors) if errors else None, ", ".join(reasons))


def _beside(cell: Cell, paper: Printed | None) -> Cell:
    if paper is None:
        return cell
    difference = None if cell.mean is None else paper.difference(cell.mean)
    return replace(
        cell,
        paper_mean=paper.mean,
        paper_deviation=paper.deviation,
        paper_source=paper.source,
        difference_in_paper_deviations=difference,
    )


def _why_incomplete(tried: Sequence[Tried]) -> str:
    reasons = {each.missing for each in tried}
    if len(reasons) == 1:
        return reasons.pop()
    return ", ".join(f"lr {each.rate} {each.missing}" for each in tried if each.missing)


def _seeds(which: Sequence[int]) -> str:
    return f"seed{'s' if len(which) > 1 else ''} {', '.join(map(str, which))}"
