"""Tables of runs in the paper's layout: problems across, methods down, seeds in the cells, the paper's numbers below.

A cell is the mean (deviation over n - 1) over the seeds that are done. Where a cell was run with several learning
rates, the one with the best error is reported in every table and all are kept. Two methods that share the least mean of
a column are both best. Ranks are within a column, and their mean is over the columns in which a method has a number.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from incenter.study.cells import Cell, Tried, cell_of, values_of
from incenter.study.layout import OURS, Column, Layout, Line, lay_out
from incenter.study.quantities import ERROR, LEARNING_RATE, MS_PER_STEP, SECONDS, Quantity
from incenter.study.renderings import NOTHING, Body, Entry, Grid, Rendered
from incenter.study.rows import Row
from incenter.study.statistics import ranks

_CSV = (
    "table", "line", "method", "column", "problem", "lr", "reported", "mean", "deviation", "seeds", "best", "second",
    "mean_rank", "paper_mean", "paper_deviation", "difference_in_paper_deviations", "missing",
)  # fmt: skip


@dataclass(frozen=True)
class TableLine:
    """A method."""

    line: Line
    cells: tuple[Cell, ...]
    mean_rank: float | None = None

    @property
    def measured(self) -> int:
        """In how many columns it has a number."""
        return sum(cell.mean is not None for cell in self.cells)


@dataclass(frozen=True)
class Missing:
    """A cell that is not complete, and why."""

    line: str
    column: str
    reason: str


@dataclass(frozen=True)
class Table(Rendered):
    """One quantity of a study's runs."""

    quantity: Quantity
    columns: tuple[Column, ...]
    lines: tuple[TableLine, ...]
    study: str | None = None
    steps: int | None = None  # of all runs, where they have as many

    @property
    def name(self) -> str:
        """Of its quantity, and of the file it is written into."""
        return self.quantity.name

    @property
    def title(self) -> str:
        """What stands above it."""
        return self.quantity.title if self.study is None else f"{self.quantity.title}, {self.study}"

    @property
    def missing(self) -> tuple[Missing, ...]:
        """The cells that are not complete."""
        return tuple(
            Missing(each.line.title, column.title, cell.missing)
            for each in self.lines
            for column, cell in zip(self.columns, each.cells, strict=True)
            if cell.missing
        )

    def csv(self) -> str:
        """One line for each learning rate of each cell."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_CSV)
        for each in self.lines:
            for column, cell in zip(self.columns, each.cells, strict=True):
                writer.writerows(self._records(each, column, cell))
        return text.getvalue()

    def grid(self) -> Grid:
        """The texts of it."""
        ranked = any(each.mean_rank is not None for each in self.lines)
        columns = (*(column.title for column in self.columns), *(["mean rank"] if ranked else []))
        return Grid(self.title, "method", columns, tuple(self._bodies(ranked)), tuple(self._notes()))

    def _bodies(self, ranked: bool) -> Iterable[Body]:
        best, second = _least([each.mean_rank if each.measured == len(self.columns) else None for each in self.lines])
        for place, each in enumerate(self.lines):
            entries = [Entry(_text(self.quantity, cell), cell.mark, cell.runs) for cell in each.cells]
            rank = Entry(_rank_text(each), "best" if place in best else "second" if place in second else "")
            rule = each.line.method == OURS and place > 0 and self.lines[place - 1].line.method != OURS
            yield Body(each.line.title, (*entries, *([rank] if ranked else [])), rule=rule)
            if any(cell.paper_mean is not None for cell in each.cells):
                below = [Entry(_paper_text(self.quantity, cell)) for cell in each.cells]
                yield Body("paper", (*below, *([Entry("")] if ranked else [])), small=True)

    def _notes(self) -> Iterable[str]:
        cells = [cell for each in self.lines for cell in each.cells]
        counts = sorted({cell.count for cell in cells if cell.count})
        if counts:
            yield self.quantity.note(counts[0], counts[-1], self.steps)
        sources = dict.fromkeys(cell.paper_source for cell in cells if cell.paper_source)
        if sources:
            yield f"Below each line what the paper prints{self.quantity.beside_paper}: {'; '.join(sources)}."
        if tried := list(self._several()):
            yield f"Run with several learning rates, the one with the best error reported: {'; '.join(tried)}."
        reasons: dict[str, list[str]] = defaultdict(list)
        for each in self.missing:
            reasons[each.reason].append(f"{each.line} on {each.column}")
        for reason, places in reasons.items():
            yield f"Missing ({reason}): {'; '.join(places)}."

    def _several(self) -> Iterable[str]:
        for each in self.lines if self.quantity is ERROR else ():
            for column, cell in zip(self.columns, each.cells, strict=True):
                if len(cell.tried) > 1:
                    rates = ", ".join(f"{tried.rate} {_measured(tried)}" for tried in cell.tried)
                    yield f"{each.line.title} on {column.title} ({rates})"

    def _records(self, each: TableLine, column: Column, cell: Cell) -> Iterable[tuple[object, ...]]:
        for place, tried in enumerate(cell.tried or (Tried(None, (), None, cell.missing),)):
            found = values_of(self.quantity, tried)
            reported = place == 0 and cell.mean is not None
            paper = (cell.paper_mean, cell.paper_deviation, cell.difference_in_paper_deviations) if place == 0 else ()
            yield (
                self.name, each.line.title, each.line.method, column.title, column.problem, tried.lr, int(reported),
                *((found.mean, found.deviation, found.count) if found else (None, None, 0)),
                int(reported and cell.best), int(reported and cell.second), each.mean_rank if place == 0 else None,
                *(paper or (None, None, None)), tried.missing,
            )  # fmt: skip


def table(rows: Iterable[Row], quantity: Quantity = ERROR) -> Table:
    """The table of one quantity over these runs."""
    return of_layout(lay_out(rows), quantity)


def tables(rows: Iterable[Row]) -> tuple[Table, ...]:
    """Errors, selected learning rates, seconds, and milliseconds per step."""
    layout = lay_out(rows)
    return tuple(of_layout(layout, quantity) for quantity in (ERROR, LEARNING_RATE, SECONDS, MS_PER_STEP))


def of_layout(layout: Layout, quantity: Quantity) -> Table:
    """The table of one quantity over runs that are laid out."""
    grid = [[cell_of(layout, line, column, quantity) for column in layout.columns] for line in layout.lines]
    if quantity.ranked and len(layout.lines) > 1:
        grid = _marked(grid)
    lines = [TableLine(line, tuple(cells)) for line, cells in zip(layout.lines, grid, strict=True)]
    if quantity.ranked and len(layout.lines) > 1 and len(layout.columns) > 1:
        lines = _with_ranks(lines)
    return Table(quantity, layout.columns, tuple(lines), layout.study, layout.steps)


def _marked(grid: list[list[Cell]]) -> list[list[Cell]]:
    marked = [list(cells) for cells in grid]
    for column in range(len(grid[0])):
        best, second = _least([cells[column].mean for cells in grid])
        for place, cells in enumerate(marked):
            cells[column] = replace(cells[column], best=place in best, second=place in second)
    return marked


def _least(values: Sequence[float | None]) -> tuple[set[int], set[int]]:
    """The places of the least value and of the second least."""
    distinct = sorted({value for value in values if value is not None})[:2]
    places = [{place for place, value in enumerate(values) if value == least} for least in distinct]
    return (places[0] if places else set()), (places[1] if len(places) > 1 else set())


def _with_ranks(lines: Sequence[TableLine]) -> list[TableLine]:
    found: list[list[float]] = [[] for _ in lines]
    for column in range(len(lines[0].cells)):
        means = [(place, mean) for place, each in enumerate(lines) if (mean := each.cells[column].mean) is not None]
        for (place, _), rank in zip(means, ranks([mean for _, mean in means]), strict=True):
            found[place].append(rank)
    return [
        replace(each, mean_rank=sum(own) / len(own) if own else None) for each, own in zip(lines, found, strict=True)
    ]


def _text(quantity: Quantity, cell: Cell) -> str:
    if cell.mean is None:
        return NOTHING
    partial = f" [{cell.count} of {cell.wanted}]" if quantity.averaged and cell.count < cell.wanted else ""
    return quantity.shown(cell.mean, cell.deviation) + partial


def _paper_text(quantity: Quantity, cell: Cell) -> str:
    if cell.paper_mean is None:
        return NOTHING
    text = quantity.shown(cell.paper_mean, cell.paper_deviation)
    difference = cell.difference_in_paper_deviations
    return text if difference is None else f"{text} {difference:+z.1f}"


def _rank_text(each: TableLine) -> str:
    if each.mean_rank is None:
        return NOTHING
    partial = f" ({each.measured} of {len(each.cells)})" if each.measured < len(each.cells) else ""
    return f"{each.mean_rank:.1f}{partial}"


def _measured(tried: Tried) -> str:
    return NOTHING if tried.measured is None else ERROR.shown(tried.measured.mean, tried.measured.deviation)
