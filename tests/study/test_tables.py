"""Tables of made-up runs: the paper's own layout and marks, what is missing, and four ways to write it."""

import csv
import io
import time
from dataclasses import replace

import pytest

from incenter.study.cells import Cell
from incenter.study.layout import lay_out
from incenter.study.quantities import ERROR, LEARNING_RATE, MS_PER_STEP, SECONDS, short
from incenter.study.tables import Table, table, tables
from tests.study.made_rows import made_row, paper_rows, with_moments

# Of the paper's tables, by column: what is printed bold and what is underlined.
MARKS = {
    "forward": {
        "Helmholtz": ("Chebyshev", "PCGrad"),
        "Kovasznay": ("Chebyshev", "IMTL-G"),
        "Burgers": ("Chebyshev", "HARMONIC"),
        "Heat 2D VC": ("Chebyshev", "HARMONIC"),
        "Klein-Gordon": ("HARMONIC", "Chebyshev"),
    },
    "inverse": {
        "Standard": ("Chebyshev", "HARMONIC"),
        "Higher noise": ("HARMONIC", "ConFIG"),
        "Fewer data": ("Chebyshev", "ConFIG"),
    },
}
LINES = ["Adam", "LRA", "ReLoBRaLo", "MGDA", "PCGrad", "IMTL-G", "DCGD", "ConFIG", "HARMONIC", "Chebyshev"]


def cell(found: Table, line: str, column: str) -> Cell:
    place = [each.title for each in found.columns].index(column)
    return next(each.cells[place] for each in found.lines if each.line.title == line)


@pytest.mark.parametrize("kind", ["forward", "inverse"])
def test_the_papers_numbers_give_the_papers_table(kind: str) -> None:
    """Rows in any order: lines, columns and marks are the paper's, and no number differs from itself."""
    found = table(reversed(paper_rows(kind)))
    assert [each.title for each in found.columns] == list(MARKS[kind])
    assert [each.line.title for each in found.lines] == [line for line in LINES if kind == "forward" or line != "DCGD"]
    for column, (best, second) in MARKS[kind].items():
        assert [line for line in LINES if line != "DCGD" or kind == "forward" if cell(found, line, column).best] == [
            best
        ]
        assert cell(found, second, column).second
    for each in found.lines:
        for own in each.cells:
            if own.paper_mean is not None:
                assert own.difference_in_paper_deviations == pytest.approx(0.0, abs=1e-9)
                assert own.deviation == pytest.approx(own.paper_deviation, abs=1e-9)


def test_what_the_paper_leaves_out_is_run_with_both_rates_and_the_better_is_reported() -> None:
    """Both are kept; a rate with fewer seeds done is not the better one yet."""
    errors = {1e-3: 0.2, 3e-4: 0.1}
    rows = [made_row("helmholtz", "config", seed, error, lr=lr) for lr, error in errors.items() for seed in range(3)]
    own = cell(table(rows), "ConFIG", "Helmholtz")
    assert (own.lr, own.paper_mean) == (3e-4, None)
    assert own.mean == pytest.approx(0.1, abs=1e-12)
    assert [each.lr for each in own.tried] == [3e-4, 1e-3]
    assert [each.measured.mean for each in own.tried if each.measured] == pytest.approx([0.1, 0.2], abs=1e-12)
    assert cell(table(rows, LEARNING_RATE), "ConFIG", "Helmholtz").mean == 3e-4
    unfinished = [replace(row, status="running") if row.lr == 3e-4 and row.seed else row for row in rows]
    own = cell(table(unfinished), "ConFIG", "Helmholtz")
    assert (own.lr, own.missing) == (1e-3, "lr 3e-4 seeds 1, 2 running")


def test_differences_are_in_units_of_the_papers_deviation() -> None:
    rows = [made_row("burgers", "chebyshev", seed, error) for seed, error in enumerate(with_moments(0.0683, 0.01))]
    own = cell(table(rows), "Chebyshev", "Burgers")
    assert own.difference_in_paper_deviations == pytest.approx(2.0, abs=1e-9)
    printed = [made_row("helmholtz", "lra", seed, 1.0002) for seed in range(3)]
    assert cell(table(printed), "LRA", "Helmholtz").difference_in_paper_deviations == pytest.approx(4.0, abs=1e-9)


def test_an_incomplete_table_names_its_missing_cells() -> None:
    rows = [made_row("burgers", method, seed) for method in ("sum", "mgda") for seed in range(3)]
    rows += [made_row("helmholtz", "sum", seed, status="failed" if seed == 1 else "done") for seed in (0, 1)]
    found = table(rows)
    named = {(each.line, each.column): each.reason for each in found.missing}
    assert named == {
        ("Adam", "Helmholtz"): "seed 1 failed, seed 2 not planned",
        ("MGDA", "Helmholtz"): "no runs",
    }
    assert "Missing (no runs): MGDA on Helmholtz." in found.markdown()
    assert "[1 of 3]" in found.latex()
    assert table(rows[:6]).missing == ()


def test_a_finished_run_without_a_reference_is_missing_its_error_but_not_its_time() -> None:
    rows = [made_row("mine.py:membrane", "sum", seed, None) for seed in range(2)]
    assert [each.reason for each in table(rows).missing] == ["there is no reference to measure against"]
    assert table(rows, SECONDS).missing == ()
    assert cell(table(rows, MS_PER_STEP), "Adam", "membrane").mean == pytest.approx(2.0, abs=1e-12)


def test_mean_ranks_are_over_the_columns_with_a_number() -> None:
    """By hand: a is 1st, 2nd; b is 2nd, 1st; c is 3rd of three, and in one column only."""
    errors = {("burgers", "sum"): 1, ("burgers", "mgda"): 2, ("burgers", "pcgrad"): 3}
    errors |= {("helmholtz", "sum"): 2, ("helmholtz", "mgda"): 1}
    found = table(made_row(problem, method, error=float(error)) for (problem, method), error in errors.items())
    assert [each.mean_rank for each in found.lines] == [1.5, 1.5, 3.0]
    assert "3.0 (1 of 2)" in found.markdown()


def test_norms_are_lines_in_order_and_problems_with_other_options_are_columns() -> None:
    rows = [made_row(p=p, seed=seed) for p in (3.0, 1.5, 2.0, float("inf")) for seed in range(2)]
    assert [each.line.title for each in table(rows).lines] == ["p = 1.5", "p = 2", "p = 3", "p = inf"]
    assert cell(table(rows), "p = 3", "Burgers").paper_mean == 0.0966
    rows = [made_row("heat", operator="divergence"), made_row("heat"), made_row("heat", operator="paper")]
    assert [each.title for each in table(rows).columns] == ["Heat 2D VC", "Heat 2D VC, operator divergence"]


def test_a_method_has_one_line_although_its_problems_have_their_own_steps() -> None:
    layout = lay_out([made_row("burgers", steps=100), made_row("helmholtz", steps=200)])
    assert [line.title for line in layout.lines] == ["Chebyshev"]
    both = lay_out(
        [made_row("burgers", steps=100), made_row("burgers", steps=200), made_row("burgers", "sum", steps=100)]
    )
    assert [line.title for line in both.lines] == ["Adam", "Chebyshev, steps = 100", "Chebyshev, steps = 200"]


def test_a_run_that_is_there_twice_counts_once() -> None:
    row = made_row()
    again = replace(row, configuration=row.configuration | {"record_every": 7})
    assert cell(table([row, again]), "Chebyshev", "Burgers").count == 1


def test_latex_balances_and_has_as_many_columns_everywhere() -> None:
    rows = [*paper_rows("forward"), made_row("a_b.py:50%_{x}&$y", "r_1.py:Mine#", lr=2.5e-4)]
    for found in tables(rows):
        text = found.latex()
        for opened, closed in (("{", "}"), (r"\(", r"\)")):
            assert text.replace(rf"\{opened}", "").count(opened) == text.replace(rf"\{closed}", "").count(closed)
        for name in ("table", "tabular", "minipage"):
            assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 1
        body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
        counts = {line.replace(r"\&", "").count("&") for line in body.splitlines() if line.endswith(r"\\")}
        assert counts == {len(found.grid().columns)}
        assert r"50\%\_\{x\}\&\$y" in text
    assert r"\textbf{0.0072 (0.0033)}" in table(rows).latex()
    assert r"\(2.5\times 10^{-4}\)" in table(rows, LEARNING_RATE).latex()


def test_markdown_marks_and_escapes() -> None:
    text = table([*paper_rows("forward"), made_row("burgers", "r.py:a|b")]).markdown()
    assert "**0.0072 (0.0033)**" in text
    assert "<ins>0.0075 (0.0014)</ins>" in text
    assert r"a\|b" in text
    widths = {line.replace(r"\|", "").count("|") for line in text.splitlines() if line.startswith("|")}
    assert len(widths) == 1


@pytest.mark.parametrize("width", [40, 80, 100, 200])
def test_a_terminal_of_any_width_shows_every_number_whole(width: int) -> None:
    from rich.console import Console

    console = Console(width=width, file=io.StringIO())
    found = table(paper_rows("forward"))
    console.print(found.terminal())
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    for each in found.lines:
        for own in each.cells:
            if own.mean is not None:
                assert f"{own.mean:.4f} ({own.deviation:.4f})" in text


def test_csv_has_every_rate_of_every_cell() -> None:
    rows = [made_row("helmholtz", "config", seed, lr, lr=lr) for lr in (1e-3, 3e-4) for seed in range(3)]
    found = list(csv.DictReader(io.StringIO(table([*rows, made_row("burgers", "sum")]).csv())))
    mine = [(each["lr"], each["reported"], each["seeds"]) for each in found if each["method"] == "config"]
    assert mine == [("0.0003", "1", "3"), ("0.001", "0", "3"), ("", "0", "0")]
    assert [float(each["mean"]) for each in found if each["reported"] == "1" and each["method"] == "config"] == [3e-4]


def test_no_runs_make_an_empty_table() -> None:
    for found in tables([]):
        assert found.lines == ()
        assert found.markdown()
        assert found.latex()
        assert found.csv().count("\n") == 1


def test_numbers_are_short() -> None:
    assert [short(rate) for rate in (1e-3, 3e-4, 2.5e-4, 1.0)] == ["1e-3", "3e-4", "2.5e-4", "1e0"]
    assert ERROR.shown(3.14e-5, 1e-6) == "3.14e-5 (1.00e-6)"
    assert ERROR.shown(float("inf"), None) == "not finite"


def test_ten_thousand_runs_are_tabulated_in_a_second_and_a_half() -> None:
    methods = ["sum", "lra", "mgda", "pcgrad", "config", "harmonic", "chebyshev", "upgrad", "imtl_g", "relobralo"]
    problems = ["helmholtz", "kovasznay", "burgers", "heat", "klein_gordon"]
    rows = [made_row(problem, method, seed) for problem in problems for method in methods for seed in range(200)]
    began = time.process_time()
    tables(rows)
    assert time.process_time() - began < 1.5
