"""The paper's numbers as data: nothing is missing, and a run gets those that belong to it."""

from dataclasses import replace
from typing import Any

import pytest

from incenter.study import learning_rates
from incenter.study.paper_numbers import data, error_of, rate_of, read, seconds_of
from incenter.study.rows import Row
from tests.study.made_rows import made_row, paper_cells

FORWARD = ["helmholtz", "kovasznay", "burgers", "heat", "klein_gordon"]
INVERSE = ["standard", "higher-noise", "fewer-data"]
METHODS = ["sum", "lra", "relobralo", "mgda", "pcgrad", "imtl_g", "dcgd_center", "config", "harmonic", "chebyshev"]


def columns(table: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: value for name, value in table.items() if isinstance(value, dict) and name != "left_out"}


@pytest.mark.parametrize("file", ["errors", "seconds"])
def test_every_cell_of_the_forward_table_is_there_or_left_out(file: str) -> None:
    table = data(file)["forward"]
    assert list(columns(table)) == FORWARD
    for column, cells in columns(table).items():
        left_out = {method for method, where in table["left_out"].items() if column in where}
        assert left_out.isdisjoint(cells)
        assert left_out | set(cells) == set(METHODS)


@pytest.mark.parametrize("file", ["errors", "seconds"])
def test_the_inverse_table_has_every_method_but_dcgd(file: str) -> None:
    table = data(file)["inverse"]
    assert list(columns(table)) == INVERSE
    for cells in columns(table).values():
        assert list(cells) == [method for method in METHODS if method != "dcgd_center"]


@pytest.mark.parametrize("kind", ["forward", "inverse"])
def test_errors_times_and_learning_rates_have_the_same_cells(kind: str) -> None:
    cells = {name: list(found) for name, found in columns(data("errors")[kind]).items()}
    assert cells == {name: list(found) for name, found in columns(data("seconds")[kind]).items()}
    rates = columns(learning_rates.table()[kind])
    assert cells == {name: list(found) for name, found in rates.items()}
    assert all(rate in learning_rates.table()["candidates"] for found in rates.values() for rate in found.values())


def test_every_number_is_printed_as_the_paper_prints_numbers() -> None:
    for kind in ("forward", "inverse", "ablation-p"):
        for cells in columns(data("errors")[kind]).values():
            for text in cells.values():
                found = read(text, "")
                assert text == f"{found.mean:.4f} ({found.deviation:.4f})"
    for kind in ("forward", "inverse"):
        for cells in columns(data("seconds")[kind]).values():
            for text in cells.values():
                assert text == f"{read(text, '').mean:.2f}"


@pytest.mark.parametrize(
    ("kind", "means", "deviations", "seconds"),
    [("forward", 14.4211, 2.1891, 18543.26), ("inverse", 31.7744, 16.3987, 16860.97)],
)
def test_a_slip_of_a_digit_would_show_in_the_sums(kind: str, means: float, deviations: float, seconds: float) -> None:
    """The sums are of the paper's own tables, not of the data."""
    numbers = [number for *_, number in paper_cells(kind)]
    assert sum(number.mean for number in numbers) == pytest.approx(means, abs=1e-9)
    assert sum(number.deviation or 0.0 for number in numbers) == pytest.approx(deviations, abs=1e-9)
    times = [read(text, "").mean for cells in columns(data("seconds")[kind]).values() for text in cells.values()]
    assert sum(times) == pytest.approx(seconds, abs=1e-9)


def test_the_norm_of_two_is_the_same_in_both_tables() -> None:
    assert data("errors")["ablation-p"]["burgers"]["2"] == data("errors")["forward"]["burgers"]["chebyshev"]
    assert list(data("errors")["ablation-p"]["burgers"]) == ["1.5", "2", "3", "4"]


def test_a_run_like_the_papers_gets_its_numbers() -> None:
    row = made_row("heat", "adam", operator="paper", reference="divergence")
    found = error_of(row)
    assert found is not None
    assert (found.mean, found.deviation) == (2.9813, 0.6427)
    assert "tab:main_results" in found.source
    time, rate = seconds_of(row), rate_of(row)
    assert time is not None
    assert (time.mean, time.deviation) == (351.97, None)
    assert rate is not None
    assert rate.mean == 1e-3
    noisy = error_of(made_row("inverse_heat", "config", setting="higher-noise"))
    assert noisy is not None
    assert noisy.mean == 0.1038
    norm = error_of(made_row(p=1.5))
    assert norm is not None
    assert norm.mean == 0.1317


@pytest.mark.parametrize(
    "row",
    [
        made_row(steps=4000),
        made_row(viscosity=0.1),
        made_row("heat", operator="divergence"),
        made_row("heat", reference="own"),
        made_row("inverse_heat", setting="standard", data_seed=7),
        made_row("inverse_heat", "dcgd_center"),
        made_row("helmholtz", "config"),
        made_row("helmholtz", p=3.0),
        made_row("my.py:membrane"),
        replace(made_row(), optimizer="lion"),
    ],
    ids=lambda row: row.key,
)
def test_a_run_that_the_paper_has_not_has_no_number(row: Row) -> None:
    assert error_of(row) is None


def test_a_difference_is_in_units_of_the_papers_deviation() -> None:
    assert read("0.0600 (0.0040)", "").difference(0.068) == pytest.approx(2.0, abs=1e-9)
    assert read("1.0000 (0.0000)", "").difference(1.0001) == pytest.approx(2.0, abs=1e-9)
    assert read("268.07", "").difference(1.0) is None
