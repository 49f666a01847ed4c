r"""Sum: the plain gradient of the (weighted) sum or mean of the losses, the baseline of every comparison.

    update = sum_i w_i g_i,      w_i = 1, or the given weights; divided by sum_i w_i for the mean           (1)

Not scale invariant: the longest gradient wins, and where gradients conflict the update may increase a loss (`radius` is
then negative). Zero rows add nothing and are reported; the mean still divides by the weights of all losses, so that the
update stays the gradient of their mean.
Reference: none needed; called "Adam" where methods are compared under that optimiser.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Weights, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows
from incenter.methods.rule import GramRule, Weighing


@dataclass(frozen=True)
class Sum(GramRule):
    """Fixed weights. `reduction="mean"` divides by their sum.

    Parameters
    ----------
    loss_weights
        Fixed weights w, one per loss; None is 1 each.
    reduction
        "sum", or "mean": divided by the sum of the weights.
    """

    name: ClassVar[str] = "sum"
    loss_weights: tuple[float, ...] | None = None
    reduction: str = "sum"

    def __post_init__(self) -> None:
        if self.reduction not in ("sum", "mean"):
            raise IncenterError(f'`reduction` must be "sum" or "mean"; got {self.reduction!r}.')
        given = self.loss_weights
        if given is not None and not (all(math.isfinite(w) and w >= 0 for w in given) and sum(given) > 0):
            raise IncenterError(f"`loss_weights` must be finite, not negative and not all zero; got {given}.")

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.lengths)
        weights = xp.ones_like(rows.lengths) if self.loss_weights is None else self._given(rows)
        return Weighing(weights / xp.sum(weights) if self.reduction == "mean" else weights)

    def _given(self, rows: Rows) -> Weights:
        count, given = rows.lengths.shape[0], self.loss_weights or ()
        if len(given) != count:
            raise IncenterError(f"`loss_weights` has {len(given)} entries, but G has {count} rows; give one per row.")
        return namespace(rows.lengths).asarray(given, dtype=rows.lengths.dtype)
