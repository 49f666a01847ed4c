"""Tables of errors beside the paper's, cell by cell, and what falls within two of its deviations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.paper.results import Results, joined, listed, not_run, seeds_of
from incenter.study.cells import Cell, Tried
from incenter.study.layout import OURS, lay_out
from incenter.study.paper_numbers import HALF_A_DIGIT, Printed, data, read
from incenter.study.quantities import ERROR, short
from incenter.study.statistics import estimate
from incenter.study.tables import Table, of_layout

WITHIN = 2.0  # deviations of the paper


@dataclass(frozen=True)
class Beside:
    """A cell that has a number here and in the paper."""

    method: str
    line: str
    column: str
    cell: Cell

    @property
    def name(self) -> str:
        return f"{self.line}, {self.column}"

    @property
    def difference(self) -> float:
        return self.cell.difference_in_paper_deviations or 0.0


def beside(table: Table) -> list[Beside]:
    """The cells that can be compared, in the order of the table."""
    return [
        Beside(each.line.method, each.line.title, column.title, cell)
        for each in table.lines
        for column, cell in zip(table.columns, each.cells, strict=True)
        if cell.mean is not None and cell.difference_in_paper_deviations is not None
    ]


def forward(results: Results) -> str:
    return _compared(results, "paper-forward")


def inverse(results: Results) -> str:
    return _compared(results, "paper-inverse")


def ablation(results: Results) -> str:
    return _compared(results, "paper-ablation-p")


def heat(results: Results) -> str:
    """The heat column, and the two in which operator and reference are of one equation."""
    rows = results.rows("paper-heat")
    if not results.done("paper-heat"):
        return joined(_floor(), not_run("paper-heat"))
    column = [row for row in results.rows("paper-forward") if row.problem == "heat" and row.method != "gapo"]
    return joined(_floor(), of_layout(lay_out([*column, *rows]), ERROR).markdown(), seeds_of(rows))


def _floor() -> str:
    """How far apart the solutions of the two equations are, on the points at which errors are measured."""
    from incenter.pinn.problems.heat import Solved

    paper, divergence = Solved("paper").table(), Solved("divergence").table()
    floor = float(np.linalg.norm(paper - divergence) / np.linalg.norm(divergence))
    return (
        f"The solutions of the two equations are {floor:.4f} apart, relative to that which the error is measured "
        "against: a perfect solution of the paper's operator has this error in the paper's column."
    )


def lra(results: Results) -> str:
    rows = results.rows("paper-lra")
    if not results.done("paper-lra"):
        return not_run("paper-lra")
    return joined(of_layout(lay_out(rows), ERROR).markdown(), seeds_of(rows))


def rates(results: Results) -> str:
    """Where we are far from the paper: would its other learning rate bring us nearer?"""
    if not results.done("paper-rates"):
        return not_run("paper-rates")
    both = {(one.line, one.column): one.cell.tried for one in _cells(results, "paper-rates")}
    far = [one for plan in ("paper-forward", "paper-inverse") for one in _far(_cells(results, plan))]
    if not far:
        return "No cell is more than two of the paper's deviations off."
    lines = [
        [one.name, f"{_shown(one.cell)} at {_rate(one.cell.lr)}", _printed(one.cell), f"{one.difference:+.1f}",
         _at_the_other(one.cell, both.get((one.line, one.column), ()))]
        for one in far
    ]  # fmt: skip
    head = ("here", "the paper", "difference", "here at the other rate, seed 0")
    return joined(listed("", "cell", head, lines), seeds_of(results.rows("paper-rates")))


def _at_the_other(cell: Cell, tried: Sequence[Tried]) -> str:
    there = [each for each in tried if each.lr != cell.lr and each.measured is not None]
    if not there or there[0].measured is None:
        return "not run"
    return f"{ERROR.shown(there[0].measured.mean, None)} at {there[0].rate}"


def _rate(lr: float | None) -> str:
    return "" if lr is None else short(lr)


def noise(results: Results) -> str:
    """Our method over the draws of the observations."""
    done = results.done("paper-noise")
    if not done:
        return not_run("paper-noise")
    lines = []
    for setting, title in data("names")["settings"].items():
        draws = [row for row in done if row.configuration["problem_options"].get("setting") == setting]
        errors = [row.relative_l2 for row in draws if row.relative_l2 is not None]
        if errors:
            printed = read(data("errors")["inverse"][setting][OURS], "")
            lines.append([title, *_draws(errors, printed)])
    head = ("draws", "mean (deviation) over them", "range", "the paper, over seeds", "its mean + 2 deviations", "ours")
    return joined(listed("", "setting", head, lines), seeds_of(results.rows("paper-noise")))


def _draws(errors: list[float], printed: Printed) -> list[str]:
    found, bound = estimate(errors), _bound(printed.mean, printed.deviation)
    below = sum(error <= bound for error in errors)
    return [
        str(found.count),
        ERROR.shown(found.mean, found.deviation),
        f"{min(errors):.4f} to {max(errors):.4f}",
        ERROR.shown(printed.mean, printed.deviation),
        f"{bound:.4f}",
        f"{'within' if found.mean <= bound else 'above'}; {below} of {len(errors)} draws",
    ]


def readme(results: Results) -> str:
    """The forward table, and how it compares, in a few lines."""
    if not results.done("paper-forward"):
        return not_run("paper-forward")
    made = of_layout(lay_out(results.rows("paper-forward")), ERROR)
    lines = made.markdown().splitlines()[2:]
    table = "\n".join(lines[: lines.index("")] if "" in lines else lines)
    return joined(table, _summary(beside(made)))


def _compared(results: Results, plan: str) -> str:
    if not results.done(plan):
        return not_run(plan)
    made = of_layout(lay_out(results.rows(plan)), ERROR)
    found = beside(made)
    return joined(
        made.markdown(), _verdicts(_of_ours(found)), _summary(found), _off(found), seeds_of(results.rows(plan))
    )


def _cells(results: Results, plan: str) -> list[Beside]:
    return beside(of_layout(lay_out(results.rows(plan)), ERROR))


def _summary(found: Sequence[Beside]) -> str:
    if not found:
        return "No cell has a number both here and in the paper yet."
    within = [one for one in found if abs(one.difference) <= WITHIN]
    better = sum(one.difference < -WITHIN for one in found)
    rest = len(found) - len(within) - better
    return (
        f"Cells with a number here and in the paper: {len(found)}. Within {WITHIN:g} of the paper's deviations: "
        f"{len(within)}; lower: {better}; higher: {rest}."
    )


def _off(found: Iterable[Beside]) -> str:
    far = sorted(_far(found), key=lambda one: -abs(one.difference))
    if not far:
        return ""
    lines = [[one.name, _shown(one.cell), _printed(one.cell), f"{one.difference:+.1f}"] for one in far]
    return joined("Those that are further off:", listed("", "cell", ("here", "the paper", "difference"), lines))


def _verdicts(ours: Sequence[Beside]) -> str:
    """Is our method within the paper's mean and two deviations, or below?"""
    if not ours:
        return ""
    lines = [
        [one.name, _shown(one.cell), f"{_bound_of(one.cell):.4f}", "within" if _good(one) else "above"] for one in ours
    ]
    good = sum(map(_good, ours))
    words = f"Chebyshev is at or below the paper's mean + 2 deviations in {good} of {len(ours)} cells:"
    return joined(words, listed("", "cell", ("here", "its mean + 2 deviations", ""), lines))


def _far(found: Iterable[Beside]) -> list[Beside]:
    return [one for one in found if abs(one.difference) > WITHIN]


def _of_ours(found: Iterable[Beside]) -> list[Beside]:
    return [one for one in found if one.method == OURS]


def _good(one: Beside) -> bool:
    return one.cell.mean is not None and one.cell.mean <= _bound_of(one.cell)


def _bound_of(cell: Cell) -> float:
    return _bound(cell.paper_mean or 0.0, cell.paper_deviation)


def _bound(mean: float, deviation: float | None) -> float:
    return mean + WITHIN * (deviation or HALF_A_DIGIT)


def _shown(cell: Cell) -> str:
    seeds = f", {cell.count} seed{'s' if cell.count > 1 else ''}"
    return "" if cell.mean is None else ERROR.shown(cell.mean, cell.deviation) + seeds


def _printed(cell: Cell) -> str:
    return "" if cell.paper_mean is None else ERROR.shown(cell.paper_mean, cell.paper_deviation)
