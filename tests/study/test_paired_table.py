"""Methods against one another, seed by seed."""

import csv
import io
import math

import numpy as np
import pytest
from scipy import stats

from incenter import IncenterError
from incenter.study.paired_table import paired_table
from incenter.study.rows import Row
from tests.study.made_rows import made_row

SEEDS = range(6)


def rows_of(method: str, factor: float, problems: tuple[str, ...] = ("burgers", "helmholtz")) -> list[Row]:
    draw = np.random.default_rng(len(method))
    return [
        made_row(problem, method, seed, factor * math.exp(seed + 0.01 * draw.standard_normal()))
        for problem in problems
        for seed in SEEDS
    ]


def test_each_method_against_ours_on_each_problem_and_on_all() -> None:
    ours, worse = rows_of("chebyshev", 1.0), rows_of("mgda", 2.0)
    found = paired_table([*worse, *ours])
    assert found.against.title == "Chebyshev"
    assert found.columns == ("Helmholtz", "Burgers", "all")
    [(line, (helmholtz, burgers, pooled))] = found.lines
    assert line.title == "MGDA"
    for cell, rows in ((burgers, (worse[:6], ours[:6])), (helmholtz, (worse[6:], ours[6:])), (pooled, (worse, ours))):
        mine, others = (np.log([row.relative_l2 or 0 for row in each]) for each in rows)
        assert cell.found is not None
        assert cell.found.ratio == pytest.approx(2.0, rel=0.05)
        wanted = stats.wilcoxon(mine, others) if cell is pooled else stats.ttest_rel(mine, others)
        assert cell.test == pytest.approx(wanted.pvalue, rel=1e-6)
    least, most = sorted([burgers.test or 1.0, helmholtz.test or 1.0])
    assert sorted([burgers.adjusted or 1.0, helmholtz.adjusted or 1.0]) == pytest.approx(
        [2 * least, max(2 * least, most)]
    )


def test_a_chance_find_among_many_is_not_bold() -> None:
    """Twenty methods that are one and the same but for noise: a p-value below 0.05 is among them, and tells nothing."""
    draw = np.random.default_rng(12)
    methods = [f"m{k}" for k in range(20)]
    rows = [
        made_row("burgers", method, seed, float(np.exp(draw.standard_normal())))
        for method in (*methods, "chebyshev")
        for seed in SEEDS
    ]
    found = paired_table(rows)
    assert min(cell.test or 1.0 for _, (cell,) in found.lines) < 0.05
    assert "**" not in found.markdown()


def test_only_seeds_that_both_have_are_pairs() -> None:
    rows = [made_row("burgers", "sum", seed) for seed in (0, 1, 2)] + [made_row(seed=seed) for seed in (1, 2, 3)]
    [(_, (cell,))] = paired_table(rows).lines
    assert cell.found is not None
    assert cell.found.count == 2
    [(_, (nothing,))] = paired_table([made_row("burgers", "sum", 0), made_row(seed=1)]).lines
    assert nothing.found is None
    assert paired_table([made_row("burgers", "sum", 0), made_row(seed=1)]).latex().count(r"\textemdash") == 1


def test_the_method_to_compare_with() -> None:
    rows = [made_row("burgers", method, seed) for method in ("sum", "mgda") for seed in SEEDS]
    assert paired_table(rows).against.title == "Adam"
    assert paired_table(rows, "mgda").against.title == "MGDA"
    assert paired_table(rows, "adam").against.title == "Adam"
    with pytest.raises(IncenterError, match="no runs of 'pcgrad' to compare with; there are runs of: sum, mgda"):
        paired_table(rows, "pcgrad")
    norms = [made_row(p=p, seed=seed) for p in (1.5, 2.0, 3.0) for seed in SEEDS]
    assert paired_table(norms).against.title == "p = 2"


def test_csv_has_both_tests() -> None:
    text = paired_table([*rows_of("chebyshev", 1.0), *rows_of("sum", 2.0)]).csv()
    found = list(csv.DictReader(io.StringIO(text)))
    assert [each["column"] for each in found] == ["Helmholtz", "Burgers", "all"]
    assert [each["pairs"] for each in found] == ["6", "6", "12"]
    assert float(found[0]["wilcoxon"]) == 2 / 2**6
