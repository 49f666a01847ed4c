r"""MultiAdam: Adam's moments kept for each group of losses, and the mean of the groups' Adam steps.

    m_k <- beta_1 m_k + (1 - beta_1) h_k,     v_k <- beta_2 v_k + (1 - beta_2) h_k^2,     h_k = sum of the group's g_i
    update = mean_k  (m_k / (1 - beta_1^t)) / (sqrt(v_k / (1 - beta_2^t)) + eps)                            (1)

It is an optimiser of its own: step with `theta <- theta - lr * update` (lr 1e-3 in the paper), never under Adam. The
first update is the mean of the signs of the groups' gradients. Invariant to the scale of each group (eps aside), works
coordinate by coordinate, may conflict. A zero row counts as in Adam: the moments decay; it is reported.
Reference: Yao et al., MultiAdam: Parameter-wise Scale-invariant Optimizer for Multiscale Training of Physics-informed
Neural Networks, ICML 2023, Algorithm 1.
Differs from it: by default each row is a group; theirs are the residuals and the rest. v is kept as its root.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from incenter.geometry.arrays import (
    Array,
    Matrix,
    Scalar,
    Vector,
    Weights,
    compiled,
    from_small,
    is_jax,
    is_traced,
    namespace,
    wide,
)
from incenter.geometry.errors import IncenterError, read_gradients
from incenter.geometry.rows import read_rows
from incenter.geometry.status import Status
from incenter.methods.memory import filled_share, first_step, keep_if, recall
from incenter.methods.rule import Rule, Update, concrete, least_cosine, made_known, nothing_to_combine, overall_status


class MultiAdamState(NamedTuple):
    """First moments and roots of the second ones, a row per group, and the number of steps so far."""

    first: Array
    root_second: Array
    step: Scalar


@dataclass(frozen=True)
class MultiAdam(Rule):
    """Adam per group of losses, averaged.

    Parameters
    ----------
    groups
        Rows of each group, such as `((0,), (1, 2))`; None is every row by itself.
    beta_1
        Decay of the first moments; not Adam's 0.9.
    beta_2
        Decay of the second moments; not Adam's 0.999.
    eps
        Added to the root of v; absolute, as in Adam, in the unit of the gradients.
    """

    name: ClassVar[str] = "multiadam"
    own_optimizer: ClassVar[bool] = True
    groups: tuple[tuple[int, ...], ...] | None = None
    beta_1: float = 0.99
    beta_2: float = 0.99
    eps: float = 1e-8

    def __post_init__(self) -> None:
        for field in ("beta_1", "beta_2"):
            if not 0 <= getattr(self, field) < 1:
                raise IncenterError(f"`{field}` must be in [0, 1); got {getattr(self, field)}.")
        if not self.eps > 0:
            raise IncenterError(f"`eps` must be positive; got {self.eps}.")
        if self.groups is not None and not all(self.groups):
            raise IncenterError(f"Every group of `groups` must name a row; got {self.groups}.")

    def combine(self, G: Matrix, losses: Weights | None = None, state: Any = None, key: Any = None) -> Update:
        G = read_gradients(G)
        if G.shape[0] == 0:
            return nothing_to_combine(G, state)
        if is_jax(namespace(G)) and not is_traced(G):
            return made_known(compiled(_combine, static=("rule",))(G, state, rule=self))
        return _combine(G, state, rule=self)

    def remember(self, G: Matrix, step: Scalar, state: Any) -> tuple[MultiAdamState, MultiAdamState]:
        """The state before and after seeing these gradients."""
        H, xp = self._summed(G), namespace(G)
        old = recall("MultiAdam", state, MultiAdamState(xp.zeros_like(H), xp.zeros_like(H), step))
        # hypot: the squares alone leave the range of floats long before the gradients do
        root_second = xp.hypot(math.sqrt(self.beta_2) * old.root_second, math.sqrt(1 - self.beta_2) * H)
        first = self.beta_1 * old.first + (1 - self.beta_1) * H
        return old, MultiAdamState(first, root_second, old.step + 1)

    def step(self, state: MultiAdamState) -> Vector:
        """(1) with the moments of `state`."""
        xp, small = namespace(state.first), namespace(state.step)
        first_share = from_small(filled_share(small, self.beta_1, state.step), state.first)
        second_share = from_small(filled_share(small, self.beta_2, state.step), state.first)
        roots = state.root_second / xp.sqrt(second_share)
        return xp.mean(state.first / first_share / (roots + self.eps), axis=0)

    def _summed(self, G: Matrix) -> Matrix:
        if self.groups is None:
            return G
        if sorted(row for group in self.groups for row in group) != list(range(G.shape[0])):
            raise IncenterError(f"`groups` must name each of the {G.shape[0]} rows of G once; got {self.groups}.")
        xp = namespace(G)
        return xp.stack([sum(G[row] for row in group) for group in self.groups])


def _combine(G: Matrix, state: Any, *, rule: MultiAdam) -> Update:
    rows = read_rows(G)
    xp, small = namespace(G), namespace(rows.lengths)
    usable = ~small.any(rows.nonfinite)
    clean = G if not is_jax(xp) and usable else xp.where(xp.isfinite(G), G, xp.zeros_like(G))
    old, new = rule.remember(clean, first_step(small), state)
    update = rule.step(new) * from_small(small.where(usable, 1.0, 0.0), G)
    status = concrete(overall_status(rows, Status.OPTIMAL))
    return Update(update, None, least_cosine(rows, wide(xp, update)), keep_if(usable, new, old), status, {})
