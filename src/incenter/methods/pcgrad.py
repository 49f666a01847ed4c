r"""PCGrad: every gradient loses its components against the others, one after another, and what is left is summed.

    for each i:  h = g_i;  for j in a random order, j != i:  if h . g_j < 0:  h <- h - (h . g_j / |g_j|^2) g_j
    update = sum of the h, or their mean                                                                    (1)

In rows of unit length, with cosines C, h is s_i sum_j Y_ij u_j, and a projection takes (C Y_i)_j off Y_ij: the norms
enter at the end only. All i meet the others side by side. Without conflicts it is the sum, with two losses it is twice
UPGrad; with three or more the update may still conflict, and depends on the order and on the scale of the gradients.
Zero rows are dropped; opposite gradients give 0 and STATIONARY. Weights end at the largest float: lengths that much
apart (1e38 in single precision) give REDUCED.
Reference: Yu, Kumar, Gupta, Levine, Hausman and Finn, Gradient Surgery for Multi-Task Learning, NeurIPS 2020,
Algorithm 1.
Differs from it: nothing.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from incenter.geometry.arrays import Array, Namespace, Scalar, Square, Weights, namespace, while_loop
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows
from incenter.geometry.status import Status
from incenter.methods.randomness import random_bits
from incenter.methods.rule import GramRule, Weighing
from incenter.methods.stationarity import vanishes


@dataclass(frozen=True)
class PCGrad(GramRule):
    """Gradient surgery. `key` must be a new one at every step (the step number will do), or `order="fixed"`.

    Parameters
    ----------
    order
        "random", or "fixed": by row number.
    reduction
        "sum", or "mean": divided by m.
    """

    name: ClassVar[str] = "pcgrad"
    needs: ClassVar[frozenset[str]] = frozenset({"key"})
    order: str = "random"
    reduction: str = "sum"

    def __post_init__(self) -> None:
        if self.order not in ("random", "fixed"):
            raise IncenterError(f'`order` must be "random" or "fixed"; got {self.order!r}.')
        if self.reduction not in ("sum", "mean"):
            raise IncenterError(f'`reduction` must be "sum" or "mean"; got {self.reduction!r}.')

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.lengths)
        Y = _surgery(rows.cosines, self._orders(xp, rows.lengths.shape[0], key))
        Y = xp.where(rows.live[:, None] & rows.live[None, :], Y, 0.0)
        ratios = _norm_ratios(rows)
        representable = xp.all(xp.isfinite(ratios) | (Y == 0))
        weights = xp.sum(xp.minimum(ratios, xp.finfo(ratios.dtype).max) * Y, axis=0)
        if self.reduction == "mean":
            weights = weights / rows.lengths.shape[0]
        lengths = rows.relative_norms @ Y
        stationary = vanishes(lengths, rows)
        status = xp.where(representable, int(Status.OPTIMAL), int(Status.REDUCED))
        status = xp.where(stationary, int(Status.STATIONARY), status)
        return Weighing(xp.where(stationary, 0.0, weights), status=status)

    def _orders(self, xp: Namespace, count: int, key: Any) -> Array:
        """Row i: the order in which gradient i meets the others (and itself, which changes nothing)."""
        if self.order == "fixed":
            return xp.broadcast_to(xp.arange(count), (count, count))
        if key is None:
            raise IncenterError(
                'PCGrad draws its order at random and has no key; pass key= (new at every step) or set order="fixed".'
            )
        return xp.argsort(random_bits(xp, key, shape=(count, count)), axis=1, stable=True)


def _surgery(cosines: Square, orders: Array) -> Square:
    """Y of the header, all rows at once, meeting number k after number k - 1."""
    xp = namespace(cosines)
    index = xp.arange(cosines.shape[0])

    def step(state: tuple[Square, Scalar]) -> tuple[Square, Scalar]:
        Y, k = state
        met = orders[:, k]
        against = xp.sum(cosines[met] * Y, axis=1)
        loss = xp.where((against < 0) & (met != index), against, 0.0)
        return Y - xp.where(index[None, :] == met[:, None], loss[:, None], 0.0), k + 1

    def meeting(state: tuple[Square, Scalar]) -> Any:
        return state[1] < cosines.shape[0]

    Y, _ = while_loop(xp, meeting, step, (xp.eye(cosines.shape[0], dtype=cosines.dtype), xp.asarray(0)))
    return Y


def _norm_ratios(rows: Rows) -> Square:
    """s_i / s_j, from the scaled rows, whose norms cannot overflow."""
    xp = namespace(rows.lengths)
    ratios = rows.lengths[:, None] * rows.inverse_lengths[None, :]
    return xp.ldexp(ratios, rows.exponents[:, None] - rows.exponents[None, :])
