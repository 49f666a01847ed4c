r"""M-ConFIG: ConFIG of the momenta of the gradients, with Adam's second moment kept for the combination.

    c_i <- c_i + 1,   m_i <- beta_1 m_i + (1 - beta_1) g_i      for the losses whose turn it is             (1)
    q = ConFIG of m_i / (1 - beta_1^c_i),    M = q (1 - beta_1^t),    f = (M - beta_1 M_before) / (1 - beta_1)
    s <- beta_2 s + (1 - beta_2) f^2,        update = q / (sqrt(s / (1 - beta_2^t)) + eps)                  (2)

f is the gradient that Adam would have had to see to hold the momentum M. With `turns="cyclic"` one gradient is looked
at per step, row (step mod m), whatever the other rows hold: the update is 0 until each had its turn, and `radius` is
about that one gradient. It is an optimiser of its own: step plainly, never under Adam. q does not turn when a loss is
scaled, but (2) works coordinate by coordinate, so the update may conflict where q does not. A zero row counts as in
Adam: its momentum decays, and it is reported.
Reference: Liu, Chu and Thuerey, ConFIG: Towards Conflict-free Training of Physics Informed Neural Networks, ICLR 2025,
Algorithm 1.
Differs from it: all gradients at every step by default; s is kept as its root.
"""

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from incenter.geometry.arrays import (
    Mask,
    Matrix,
    Scalar,
    Vector,
    Weights,
    compiled,
    from_small,
    is_jax,
    is_traced,
    namespace,
    small_namespace,
    wide,
)
from incenter.geometry.errors import IncenterError, read_gradients
from incenter.geometry.rows import read_rows
from incenter.methods.config import ConFIG
from incenter.methods.memory import filled_share, first_step, keep_if, recall
from incenter.methods.rule import (
    GramRule,
    Rule,
    Update,
    concrete,
    least_cosine,
    made_known,
    nothing_to_combine,
    overall_status,
)


class MConFIGState(NamedTuple):
    """What (1) and (2) carry on, and the numbers of steps and of updates so far."""

    momenta: Matrix
    counts: Weights
    combined: Vector  # M
    root_second: Vector  # sqrt(s)
    step: Scalar
    updates: Scalar  # t


@dataclass(frozen=True)
class MConFIG(Rule):
    """ConFIG with momentum. `turns="cyclic"` is the authors' way of saving backward passes.

    Parameters
    ----------
    turns
        "all" gradients at every step, or "cyclic", the authors' way: one per step.
    beta_1
        Decay of the momenta.
    beta_2
        Decay of the second moment.
    eps
        Added to sqrt(s); in the unit of the gradients.
    direction
        What combines the momenta; with `Sum()` the rule is Adam.
    """

    name: ClassVar[str] = "m_config"
    own_optimizer: ClassVar[bool] = True
    turns: str = "all"
    beta_1: float = 0.9
    beta_2: float = 0.999
    eps: float = 1e-8
    direction: GramRule = field(default_factory=ConFIG)

    def __post_init__(self) -> None:
        if self.turns not in ("all", "cyclic"):
            raise IncenterError(f'`turns` must be "all" or "cyclic"; got {self.turns!r}.')
        for name in ("beta_1", "beta_2"):
            if not 0 <= getattr(self, name) < 1:
                raise IncenterError(f"`{name}` must be in [0, 1); got {getattr(self, name)}.")
        if not self.eps > 0:
            raise IncenterError(f"`eps` must be positive; got {self.eps}.")

    def combine(self, G: Matrix, losses: Weights | None = None, state: Any = None, key: Any = None) -> Update:
        G = read_gradients(G)
        if G.shape[0] == 0:
            return nothing_to_combine(G, state)
        eager = is_jax(namespace(G)) and not is_traced(G)
        combine = compiled(_combine, static=("rule",)) if eager else _combine
        return made_known(combine(G, state, rule=self))

    def remembered(self, old: MConFIGState, G: Matrix, turn: Mask) -> MConFIGState:
        """(1)"""
        xp = namespace(G)
        moved = self.beta_1 * old.momenta + (1 - self.beta_1) * G
        momenta = xp.where(from_small(turn, G)[:, None], moved, old.momenta)
        counts = old.counts + namespace(turn).astype(turn, old.counts.dtype)
        return old._replace(momenta=momenta, counts=counts, step=old.step + 1)

    def combined(self, state: MConFIGState) -> Update:
        """q"""
        small = namespace(state.counts)
        shares = filled_share(small, self.beta_1, small.maximum(state.counts, 1))
        return self.direction.combine(state.momenta / from_small(shares, state.momenta)[:, None])

    def stepped(self, old: MConFIGState, q: Vector) -> tuple[MConFIGState, Vector]:
        """(2)"""
        xp, small = namespace(q), namespace(old.updates)
        updates = old.updates + 1
        M = q * from_small(filled_share(small, self.beta_1, updates), q)
        f = (M - self.beta_1 * old.combined) / (1 - self.beta_1)
        # hypot: the squares alone leave the range of floats long before the gradients do
        root_second = xp.hypot(math.sqrt(self.beta_2) * old.root_second, math.sqrt(1 - self.beta_2) * f)
        root_share = from_small(small.sqrt(filled_share(small, self.beta_2, updates)), q)
        new = old._replace(combined=M, root_second=root_second, updates=updates)
        return new, q / (root_second / root_share + self.eps)


def _fresh(G: Matrix) -> MConFIGState:
    xp = namespace(G)
    small = small_namespace(xp)
    return MConFIGState(
        momenta=xp.zeros_like(G),
        counts=small.zeros(G.shape[0], dtype=small.int32),
        combined=xp.zeros_like(G[0]),
        root_second=xp.zeros_like(G[0]),
        step=first_step(small),
        updates=first_step(small),
    )


def _combine(G: Matrix, state: Any, *, rule: MConFIG) -> Update:
    xp = namespace(G)
    old = recall("MConFIG", state, _fresh(G))
    small = namespace(old.counts)
    turn = small.arange(G.shape[0]) == old.step % G.shape[0] if rule.turns == "cyclic" else old.counts >= 0
    G = xp.where(from_small(turn, G)[:, None], G, xp.zeros_like(G))
    rows = read_rows(G)
    usable = ~small.any(rows.nonfinite)
    clean = G if not is_jax(xp) and usable else xp.where(xp.isfinite(G), G, xp.zeros_like(G))
    remembered = rule.remembered(old, clean, turn)
    ready = small.all(remembered.counts > 0)
    q = rule.combined(remembered)
    new, update = rule.stepped(remembered, q.update)
    update = update * from_small(small.where(usable & ready, 1.0, 0.0), G)
    new = keep_if(usable, keep_if(ready, new, remembered), old)
    status = concrete(overall_status(rows._replace(zero=rows.zero & turn), q.status))
    return Update(
        update, None, least_cosine(rows, wide(xp, update)), new, status, {"ready": small.where(ready, 1.0, 0.0)}
    )
