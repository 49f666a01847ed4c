"""Does another method's error differ from ours? Seed by seed, for each problem and over all of them.

A cell is the ratio of the errors' geometric means (above 1: the other method is worse) with its confidence interval and
the p-value of the paired t test on logarithms; over all problems it is Wilcoxon's, whose pairs are then many enough.
What stays below 0.05 after Holm's correction for the number of tests of its kind in the table is bold. Learning rates
are the reported ones.
"""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from incenter.geometry.errors import IncenterError
from incenter.study.cells import tried_rates
from incenter.study.layout import Column, Layout, Line, lay_out
from incenter.study.paper_numbers import canonical
from incenter.study.renderings import NOTHING, Body, Entry, Grid, Rendered
from incenter.study.rows import Row
from incenter.study.statistics import CONFIDENCE, Paired, holm, paired

LEVEL = 0.05
_ALL = "all"
_CSV = (
    "table", "line", "method", "against", "column", "pairs", "ratio", "low", "high", "t_test", "wilcoxon", "adjusted",
)  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """A method against the other one on a problem."""

    found: Paired | None = None  # None where no seed is common to both
    pooled: bool = False  # over all problems
    runs: tuple[str, ...] = ()  # the keys of both methods'
    adjusted: float | None = None  # the p-value of `test` after Holm's correction

    @property
    def test(self) -> float | None:
        """The p-value that is shown."""
        if self.found is None:
            return None
        return self.found.wilcoxon if self.pooled else self.found.t_test


@dataclass(frozen=True)
class PairedTable(Rendered):
    """All methods against one."""

    against: Line
    columns: tuple[str, ...]
    lines: tuple[tuple[Line, tuple[Compared, ...]], ...]
    study: str | None

    name = "paired-tests"

    @property
    def title(self) -> str:
        title = f"Errors in units of those of {self.against.title}, and paired tests"
        return title if self.study is None else f"{title}, {self.study}"

    def csv(self) -> str:
        """One line for each cell, with both tests."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_CSV)
        for line, cells in self.lines:
            for column, cell in zip(self.columns, cells, strict=True):
                if (found := cell.found) is not None:
                    ends = found.interval or (None, None)
                    tests = (found.count, found.ratio, *ends, found.t_test, found.wilcoxon, cell.adjusted)
                    writer.writerow((self.name, line.title, line.method, self.against.title, column, *tests))
        return text.getvalue()

    def grid(self) -> Grid:
        """The texts of it."""
        bodies = tuple(Body(line.title, tuple(map(_entry, cells))) for line, cells in self.lines)
        counts = sorted({cell.found.count for _, cells in self.lines for cell in cells if cell.found})
        pairs = "" if not counts else f"{counts[0]} to {counts[-1]}" if counts[0] < counts[-1] else str(counts[0])
        notes = (
            f"Ratios of geometric means over {pairs} pairs of the same seed, with {CONFIDENCE:.0%} confidence "
            "intervals. p: paired t test on logarithms; over all problems Wilcoxon's signed ranks.",
            f"Bold: p below {LEVEL} after Holm's correction.",
        )
        return Grid(self.title, "method", self.columns, bodies, notes if counts else ())


def paired_table(rows: Iterable[Row], against: str | None = None) -> PairedTable:
    """Every method against `against`, which is ours where nothing is said."""
    layout = lay_out(rows)
    reference = layout.line_of(None if against is None else canonical(against))
    if reference is None:
        there = ", ".join(dict.fromkeys(line.method for line in layout.lines)) or "none yet"
        raise IncenterError(f"There are no runs of {against!r} to compare with; there are runs of: {there}.")
    others = [line for line in layout.lines if line != reference]
    pooled = len(layout.columns) > 1
    cells = [_compared(layout, line, reference, pooled) for line in others]
    columns = (*(column.title for column in layout.columns), *([_ALL] if pooled else []))
    return PairedTable(reference, columns, tuple(zip(others, _adjusted(cells), strict=True)), layout.study)


def _compared(layout: Layout, line: Line, reference: Line, pooled: bool) -> list[Compared]:
    pairs = [_pairs(layout, line, reference, column) for column in layout.columns]
    cells = [_cell(found) for found in pairs]
    return [*cells, _cell([pair for found in pairs for pair in found], pooled=True)] if pooled else cells


def _cell(pairs: Sequence[tuple[Row, Row]], pooled: bool = False) -> Compared:
    if not pairs:
        return Compared(pooled=pooled)
    mine, others = zip(*pairs, strict=True)
    keys = tuple(row.key for row in (*mine, *others))
    return Compared(paired(*([row.relative_l2 for row in rows] for rows in (mine, others))), pooled, runs=keys)


def _pairs(layout: Layout, line: Line, reference: Line, column: Column) -> list[tuple[Row, Row]]:
    mine, others = (_by_seed(layout, each, column) for each in (line, reference))
    return [(mine[seed], others[seed]) for seed in layout.seeds if seed in mine and seed in others]


def _by_seed(layout: Layout, line: Line, column: Column) -> dict[int, Row]:
    """Runs with an error of which there is a logarithm."""
    tried = tried_rates(layout, line, column)
    return {row.seed: row for row in (tried[0].done if tried else ()) if _has_logarithm(row.relative_l2)}


def _has_logarithm(error: float | None) -> bool:
    return error is not None and math.isfinite(error) and error > 0


def _adjusted(cells: Sequence[Sequence[Compared]]) -> list[tuple[Compared, ...]]:
    """Corrected for the number of t tests, and apart from them for that of Wilcoxon's."""
    changed = [list(line) for line in cells]
    for pooled in (False, True):
        places = [
            (row, column)
            for row, line in enumerate(cells)
            for column, cell in enumerate(line)
            if cell.pooled is pooled and cell.test is not None
        ]
        raised = holm([cells[row][column].test or 0.0 for row, column in places])
        for (row, column), value in zip(places, raised, strict=True):
            changed[row][column] = replace(cells[row][column], adjusted=value)
    return [tuple(line) for line in changed]


def _entry(cell: Compared) -> Entry:
    if cell.found is None:
        return Entry(NOTHING)
    ends = "" if cell.found.interval is None else f"{cell.found.interval[0]:.3g} to {cell.found.interval[1]:.3g}, "
    test = "" if cell.test is None else f" ({ends}p {cell.test:.2g})"
    certain = cell.adjusted is not None and cell.adjusted < LEVEL
    return Entry(f"{cell.found.ratio:.3g}{test}", "best" if certain else "", cell.runs)
