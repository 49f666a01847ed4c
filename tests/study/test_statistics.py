"""Means, ranks and paired tests against numbers worked out by hand and against scipy's own."""

import numpy as np
import pytest
from scipy import stats

from incenter.study.statistics import estimate, holm, interval, paired, ranks


def test_the_deviation_is_over_one_less_than_the_count() -> None:
    found = estimate([1.0, 2.0, 6.0])
    assert (found.mean, found.count) == (3.0, 3)
    assert found.deviation == pytest.approx(np.sqrt(7), abs=1e-12)
    assert estimate([2.0]).deviation is None


def test_a_run_that_went_to_infinity_is_not_averaged_away() -> None:
    assert estimate([0.1, float("nan")]).mean == float("inf")


def test_equal_values_share_the_mean_of_their_places() -> None:
    assert ranks([3.0, 1.0, 3.0, 2.0]) == [3.5, 1.0, 3.5, 2.0]
    draw = np.random.default_rng(0).integers(0, 5, 40).astype(float)
    assert ranks([*draw]) == pytest.approx(stats.rankdata(draw), abs=1e-12)


def test_paired_tests_are_those_of_scipy_on_logarithms() -> None:
    draw = np.random.default_rng(1)
    first, second = np.exp(draw.standard_normal((2, 12)))
    found = paired([*first], [*second])
    assert found.t_test == pytest.approx(stats.ttest_rel(np.log(first), np.log(second)).pvalue, abs=1e-12)
    assert found.wilcoxon == pytest.approx(stats.wilcoxon(np.log(first), np.log(second)).pvalue, abs=1e-12)
    assert found.ratio == pytest.approx(stats.gmean(first) / stats.gmean(second), rel=1e-12)


def test_pairs_are_what_tells() -> None:
    """A tenth more on every seed is certain, however far the seeds are apart."""
    errors = [0.01, 0.1, 1.0, 5.0]
    more = [1.1 * error * (1 + 1e-3 * k) for k, error in enumerate(errors)]
    found = paired(more, errors)
    assert found.t_test is not None
    assert found.t_test < 1e-5
    assert stats.ttest_ind(np.log(more), np.log(errors)).pvalue > 0.9
    assert found.wilcoxon == 2 / 2**4


def test_few_or_equal_pairs_tell_nothing() -> None:
    assert paired([1.0], [2.0]).t_test is None
    same = paired([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (same.ratio, same.t_test, same.wilcoxon) == (1.0, 1.0, 1.0)


def test_holm_by_hand() -> None:
    """Sorted, times the number of tests left, never less than one before: 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.5."""
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06], abs=1e-12)
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_confidence_interval_is_scipys_and_of_the_ratio_in_logarithms() -> None:
    values = np.random.default_rng(4).normal(3.0, 2.0, 10)
    wanted = stats.t.interval(0.95, 9, values.mean(), stats.sem(values))
    np.testing.assert_allclose(interval(values.tolist()), wanted, rtol=1e-12)
    first, second = np.exp(values), np.ones(10)
    assert paired([*first], [*second]).interval == pytest.approx(tuple(np.exp(wanted)), rel=1e-12)
    assert interval([1.0]) == (-np.inf, np.inf)
    assert paired([1.0], [2.0]).interval is None
    assert paired([1e-2, 1e100], [1e-2, 1e-2]).interval == (0.0, np.inf)
