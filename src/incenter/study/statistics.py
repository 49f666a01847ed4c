"""Of a few numbers from different seeds: mean and deviation, ranks, and whether two methods differ.

Deviations are over n - 1. Errors are positive and of any size, so two methods are compared by the logarithms of their
errors, seed by seed: the ratio is that of geometric means, and the t test asks whether the mean logarithm differs.
Wilcoxon's test asks the same without a normal distribution; with n pairs its p-value cannot fall below 2^(1 - n), which
for three seeds is 0.25: it says something for many pairs only.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """The mean of `count` numbers and their deviation, which a single number does not have."""

    mean: float
    deviation: float | None
    count: int


@dataclass(frozen=True)
class Paired:
    """Two methods on the same seeds: `ratio` is the first one's error in units of the second one's."""

    count: int
    ratio: float
    t_test: float | None  # two-sided p-values; None for fewer than two pairs
    wilcoxon: float | None
    interval: tuple[float, float] | None = None  # in which the ratio lies with 95 % confidence, by the same t statistic


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and deviation over n - 1; a value that is not finite makes the mean infinite."""
    if not all(map(math.isfinite, values)):
        return Estimate(math.inf, None, len(values))
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return Estimate(float(np.mean(values)), deviation, len(values))


def ranks(values: Sequence[float]) -> list[float]:
    """1 for the least; equal values share the mean of their places."""
    given = np.asarray(values, dtype=float)
    below = (given[:, None] > given).sum(axis=1)
    equal = (given[:, None] == given).sum(axis=1)
    return [float(rank) for rank in 1 + below + (equal - 1) / 2]


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """The comparison of positive numbers, the i-th of each from the same seed."""
    logarithms = np.log(np.asarray(first, dtype=float)) - np.log(np.asarray(second, dtype=float))
    count = len(logarithms)
    ratio = float(np.exp(logarithms.mean()))
    if count < 2:
        return Paired(count, ratio, None, None)
    with np.errstate(over="ignore"):  # of two seeds, one of which blew up, the interval is beyond all doubles
        low, high = np.exp(interval(logarithms.tolist()))
    return Paired(count, ratio, _t_test(logarithms), _wilcoxon(logarithms), (float(low), float(high)))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """In which the mean lies with 95 % confidence, by Student's t, for two values or more."""
    from scipy.special import stdtrit

    found = estimate(values)
    if found.deviation is None:
        return (-math.inf, math.inf)
    half = float(stdtrit(found.count - 1, (1 + CONFIDENCE) / 2)) * found.deviation / math.sqrt(found.count)
    return found.mean - half, found.mean + half


def holm(values: Sequence[float]) -> list[float]:
    """P-values of several tests, raised so that a chance find in any of them is as rare as in one (Holm)."""
    order = np.argsort(values, kind="stable")
    factors = len(values) - np.arange(len(values))
    raised = np.minimum(1.0, np.maximum.accumulate(np.asarray(values, dtype=float)[order] * factors))
    adjusted = np.empty(len(values))
    adjusted[order] = raised
    return [float(value) for value in adjusted]


def _t_test(differences: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    from scipy.special import stdtr

    deviation = float(differences.std(ddof=1))
    mean = abs(float(differences.mean()))
    if deviation == 0:
        return 1.0 if mean == 0 else 0.0
    count = len(differences)
    return float(2 * stdtr(count - 1, -mean / (deviation / math.sqrt(count))))


def _wilcoxon(differences: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    from scipy.stats import wilcoxon  # takes a second to import

    if not differences.any():
        return 1.0
    return float(wilcoxon(differences[differences != 0]).pvalue)
