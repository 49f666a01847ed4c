"""Whether counts in cells are what a distribution says."""

import numpy as np
from scipy import stats

ODDS = 1e-6  # of a right sampler to fail, for each fixed key of a test


def assert_fits(counts: np.ndarray, shares: np.ndarray) -> None:
    """Pearson's chi-square test of `counts` against probabilities `shares`."""
    counts, shares = np.ravel(counts), np.ravel(shares)
    assert counts[shares == 0].sum() == 0
    counts, shares = counts[shares > 0], shares[shares > 0]
    expected = counts.sum() * shares / shares.sum()
    assert expected.min() > 5
    assert np.sum((counts - expected) ** 2 / expected) < stats.chi2.isf(ODDS, len(counts) - 1)


def refused(counts: np.ndarray, shares: np.ndarray) -> bool:
    """Whether the same test refuses them, so that it is seen to be able to."""
    try:
        assert_fits(counts, shares)
    except AssertionError:
        return True
    return False
