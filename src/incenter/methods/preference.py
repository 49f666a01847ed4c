"""User weights on the losses, for the rules that start from a weighted mean."""

import math
from collections.abc import Sequence

from incenter.geometry.arrays import Weights, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows


def check_preference(preference: Sequence[float] | None) -> tuple[float, ...] | None:
    """The preference as a tuple of positive numbers, one per loss; None stands for equal weights."""
    if preference is None:
        return None
    weights = tuple(float(weight) for weight in preference)
    if not weights or not all(math.isfinite(weight) and weight > 0 for weight in weights):
        raise IncenterError(f"`preference` must hold one positive number per loss; got {preference!r}.")
    return weights


def preference_of(preference: tuple[float, ...] | None, rows: Rows) -> Weights:
    """The weights as an array, 0 for dropped rows; 1 over the number of live rows each where there is no preference."""
    xp = namespace(rows.cosines)
    if preference is None:
        return rows.live / xp.maximum(xp.sum(rows.live), 1)
    if len(preference) != len(rows.live):
        raise IncenterError(
            f"`preference` must hold one number per loss; got {len(preference)} numbers for {len(rows.live)} gradients."
        )
    return xp.where(rows.live, xp.asarray(preference), 0.0)
