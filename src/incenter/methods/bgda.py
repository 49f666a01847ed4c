r"""BGDA: descent in the parameters against ascent in the weights of the losses, both at once.

    min over theta, max over pi in the simplex   sum_i pi_i L_i - strength KL(pi | uniform)                 (1)
    pi_i <- pi_i^(1 - rate strength) exp(rate L_i), normalised;        update = sum_i pi_i g_i              (2)

(2) is the mirror step of (1) in closed form; pi starts uniform and is moved before it is used. With `adaptive`, which
is AdaBGDA, L_i in (2) is divided by the root of the running mean of its square. The weights follow the scale of the
losses, and nothing keeps the update from conflicting. Losses may be negative. Zero rows are dropped after the weights
are set, so the weights of the others then sum to less than 1.
Reference: Bylinkin, Aleksandrov, Chezhegov and Beznosikov, Enhancing Stability of Physics-Informed Neural Network
Training Through Saddle-Point Reformulation, arXiv 2507.16008, ICLR 2026.
Differs from it: the placement of RMSProp's epsilon and its start (from 0, uncorrected) are ours.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from incenter.geometry.arrays import Scalar, Weights, namespace
from incenter.geometry.errors import IncenterError
from incenter.geometry.rows import Rows
from incenter.geometry.status import Status
from incenter.methods.losses import all_finite, read_losses
from incenter.methods.memory import first_step, keep_if, recall
from incenter.methods.rule import GramRule, Weighing


class BGDAState(NamedTuple):
    """log pi less its largest entry, the root mean squares of the losses, the number of steps so far."""

    log_weights: Weights
    root_mean_square: Weights
    step: Scalar


@dataclass(frozen=True)
class BGDA(GramRule):
    """Bregman gradient descent-ascent on the weights; the optimiser does the descent in the parameters.

    Parameters
    ----------
    rate
        gamma of the paper: the step of the ascent.
    strength
        lambda of the paper: the pull of the weights to uniform.
    adaptive
        AdaBGDA: L_i is divided by the root of the running mean of its square.
    decay
        Of that running mean.
    eps
        Added to its root; in the unit of the losses.
    """

    name: ClassVar[str] = "bgda"
    needs: ClassVar[frozenset[str]] = frozenset({"losses"})
    rate: float = 0.1
    strength: float = 0.01
    adaptive: bool = False
    decay: float = 0.999
    eps: float = 1e-8

    def __post_init__(self) -> None:
        if not (self.rate > 0 and self.strength >= 0 and self.rate * self.strength <= 1):
            raise IncenterError(
                "`rate` must be positive, `strength` not negative and their product at most 1; "
                f"got rate={self.rate}, strength={self.strength}."
            )
        if not 0 <= self.decay < 1:
            raise IncenterError(f"`decay` must be in [0, 1); got {self.decay}.")
        if not self.eps > 0:
            raise IncenterError(f"`eps` must be positive; got {self.eps}.")

    def weigh(self, rows: Rows, losses: Weights | None = None, state: Any = None, key: Any = None) -> Weighing:
        xp = namespace(rows.lengths)
        values = read_losses("BGDA", losses, rows.lengths)
        old = recall("BGDA", state, BGDAState(xp.zeros_like(values), xp.zeros_like(values), first_step(xp)))
        usable = all_finite(values)
        values = xp.where(usable, values, 0.0)
        root = old.root_mean_square
        if self.adaptive:
            # hypot: the squares alone leave the range of floats long before the losses do
            root = xp.hypot(math.sqrt(self.decay) * root, math.sqrt(1 - self.decay) * values)
            values = values / (root + self.eps)
        log_weights = self._ascended(old.log_weights, values)
        pi = xp.exp(log_weights)
        return Weighing(
            weights=xp.where(usable, pi / xp.sum(pi), 0.0),
            state=keep_if(usable & ~xp.any(rows.nonfinite), BGDAState(log_weights, root, old.step + 1), old),
            status=xp.where(usable, int(Status.OPTIMAL), int(Status.NONFINITE)),
        )

    def _ascended(self, log_weights: Weights, values: Weights) -> Weights:
        """(2) in logarithms; only differences count, so the largest loss is taken out before it can swamp the rest."""
        xp = namespace(values)
        pulls = self.rate * (values / 2 - xp.max(values) / 2) * 2
        moved = (1 - self.rate * self.strength) * log_weights + xp.maximum(pulls, _LEAST_LOG)
        return xp.maximum(moved - xp.max(moved), _LEAST_LOG)


_LEAST_LOG = -1e30  # exp of it is 0 in every dtype, and it stays finite however often it is added to
