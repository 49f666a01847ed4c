"""The records of several seeds as one curve: the median in a band from the least to the greatest."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from incenter.study.packing import Array

_POINTS = 125  # of a curve


class SeedCurve(NamedTuple):
    """Values over steps, (k,) each."""

    steps: Array
    median: Array
    low: Array
    high: Array
    seeds: int


def seed_curve(histories: Sequence[Mapping[str, Array]], name: str, place: int | None = None) -> SeedCurve | None:
    """The column `name`, of one loss where it has one for each; None where nothing of it was recorded."""
    recorded = [_recorded(history, name, place) for history in histories]
    seeds = [_condensed(*found) for found in recorded if found is not None]
    if not seeds:
        return None
    start, end = max(step[0] for step, _ in seeds), min(step[-1] for step, _ in seeds)
    steps = np.linspace(start, max(start, end), _POINTS)
    values = np.array([np.interp(steps, step, own) for step, own in seeds])
    return SeedCurve(steps, np.median(values, axis=0), values.min(axis=0), values.max(axis=0), len(seeds))


def _recorded(history: Mapping[str, Array], name: str, place: int | None) -> tuple[Array, Array] | None:
    """Steps and values, where they are finite."""
    if name not in history:
        return None
    values = np.asarray(history[name], dtype=float)
    values = values if place is None else values[:, place]
    measured = np.isfinite(values)
    return (np.asarray(history["step"])[measured], values[measured]) if measured.any() else None


def _condensed(step: Array, values: Array) -> tuple[Array, Array]:
    """Medians of as many records as it takes for `_POINTS` of them: single ones are noisy."""
    starts = range(0, len(step), -(-len(step) // _POINTS))
    parts = [slice(start, start + starts.step) for start in starts]
    return np.array([step[part].mean() for part in parts]), np.array([np.median(values[part]) for part in parts])
