"""The training loop: one compiled function that takes steps until a given number of them is reached.

    batch    <- points of (seed, step)                        G, losses <- gradients and values there, one row per loss
    update   <- rule(G)                                       theta     <- theta + optimiser(update)

The bound is an argument, so one executable serves every cut of a run into calls, and where the cuts lie changes no bit.
What survives a stop is in `State`, what only the last step knows is in `Seen`; both are donated from call to call.

A step whose losses, gradients or results are not finite is not taken: it is held (theta, optimiser, rule and sampler
stay, the points of the next step are others), or the run goes back to the last good state and draws other points from
there. Either way no number that is not finite ever enters `State`. A rule that reports r* stops the loop where r* is at
most `stop_radius`, before a step is made from there: Algorithm 1 of the paper.
"""

import hashlib
from collections.abc import Callable
from enum import IntEnum
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from incenter.geometry.arrays import Mask, Matrix, Scalar, Vector, Weights
from incenter.geometry.center import OPTIMAL_GAP
from incenter.geometry.status import Status
from incenter.methods import Update

MOST_HOLDS = 100  # consecutive steps that are held before the run is given up
MOST_ROLLBACKS = 10  # times that a run goes back before it is given up
GOOD_EVERY = 100  # steps from one good state to the next
GOOD_LOSS = 10.0  # a state is good to go back to while its summed loss is at most this many times the best
_SALT = 0x9E3779B9  # what each rollback adds to the seed of the points, modulo 2^32


class Stop(IntEnum):
    """Why the loop ends by itself."""

    NOT = 0
    RADIUS = 1
    NONFINITE = 2


class Objective(Protocol):
    """What the loop knows of a problem; all methods are pure and can be compiled."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def residual_rows(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...

    def start(self, seed: Any) -> Vector: ...
    def memory(self, seed: Any) -> Any: ...
    def draw(self, theta: Vector, memory: Any, seed: Any, step: Scalar) -> tuple[Any, Any]: ...
    def losses_and_gradients(self, theta: Vector, batch: Any) -> tuple[Weights, Matrix]: ...
    def traces(self, theta: Vector, batch: Any) -> Weights: ...
    def unravel(self, theta: Vector) -> Any: ...
    def predict(self, theta: Vector, points: Any) -> Any: ...
    def unknowns(self, theta: Vector) -> dict[str, Any]: ...
    def relative_l2(self, theta: Vector) -> Scalar: ...


class Moving(NamedTuple):
    """What a step changes, and what a step that is not taken leaves alone."""

    theta: Vector  # (n,)
    optimizer: Any
    rule: Any
    memory: Any  # of samplers that have one


class Good(NamedTuple):
    """Where a rollback goes back to; there only when rollbacks are configured."""

    moving: Moving
    step: Scalar
    taken: Scalar
    best: Scalar  # least summed loss of all good states


class Tally(NamedTuple):
    """Counts since the last record."""

    taken: Scalar
    held: Scalar  # held or taken back
    binding: Weights  # (m,) steps taken in which each loss had the least cosine


class State(NamedTuple):
    """Everything that a run goes on from."""

    moving: Moving
    good: Good | None
    step: Scalar  # steps made, held ones included
    taken: Scalar  # steps made, held ones not included
    seed: Scalar  # uint32
    rollbacks: Scalar
    holds: Scalar  # consecutive ones, up to now
    tally: Tally
    stop: Scalar


class Seen(NamedTuple):
    """What the last step saw, at the parameters before it."""

    losses: Weights  # (m,)
    gradients: Matrix  # (m, n)
    weights: Weights | None  # (m,)
    binding: Mask  # (m,) the losses that the update serves least
    radius: Scalar
    status: Scalar


class Carry(NamedTuple):
    state: State
    seen: Seen


Combine = Callable[[Matrix, Weights, Any, Scalar, Scalar, Any, Any], Update]
Change = Callable[[Vector, Any, Vector, Scalar, Any], tuple[Vector, Any]]
# (update, state of the optimiser, theta, summed loss, batch) -> (change of theta, state of the optimiser)


def first_state(objective: Objective, theta: Vector, optimizer_state: Any, seed: int) -> State:
    """The state before the first step of a run, but for the rule's memory and for where to go back to."""
    zero = jnp.zeros((), jnp.int32)
    moving = Moving(theta, optimizer_state, None, objective.memory(seed))
    tally = Tally(zero, zero, jnp.zeros(len(objective.names), jnp.int32))
    return State(moving, None, zero, zero, jnp.asarray(seed, jnp.uint32), zero, zero, tally, zero)


def begin(objective: Objective, combine: Combine, state: State, *, rollback: bool) -> Carry:
    """What the loop starts from: `state` with the rule's memory at zeros, and nothing seen yet."""
    _, _, losses, G, out = jax.eval_shape(partial(_evaluate, objective, combine), state)
    moving = state.moving._replace(rule=_zeros(out.state))
    good = Good(moving, state.step, state.taken, jnp.asarray(jnp.inf, losses.dtype)) if rollback else None
    seen = jax.eval_shape(_seen, losses, G, out)
    return Carry(_owned(state._replace(moving=moving, good=good)), _zeros(seen))


def make_loop(
    objective: Objective, combine: Combine, change: Change, *, stop_radius: float | None, rollback: bool
) -> Callable[[Carry, Scalar], Carry]:
    """The loop as a function to be compiled: carry, bound -> the carry at the bound, or where the loop stopped."""

    def step(carry: Carry) -> Carry:
        old = carry.state
        batch, memory, losses, G, out = _evaluate(objective, combine, old)
        delta, optimizer = change(out.update, old.moving.optimizer, old.moving.theta, jnp.sum(losses), batch)
        moved = Moving(old.moving.theta + delta, optimizer, out.state, memory)
        seen = _seen(losses, G, out)
        finite = _all_finite((moved, losses, G))
        state = _stepped(old, moved, seen, finite, finite & _at_rest(stop_radius, out))
        if rollback:
            return Carry(_back_if_not(finite, old, state, jnp.sum(losses)), seen)
        lost = state.holds >= MOST_HOLDS
        return Carry(state._replace(stop=jnp.where(lost, Stop.NONFINITE, state.stop).astype(jnp.int32)), seen)

    def advance(carry: Carry, bound: Scalar) -> Carry:
        def unfinished(carry: Carry) -> Scalar:
            return (carry.state.step < bound) & (carry.state.stop == Stop.NOT)

        return jax.lax.while_loop(unfinished, step, carry)

    return advance


def compiled(loop: Any, carry: Carry) -> Any:
    """The jitted `loop` as an executable for carries like this one.

    Compiling takes seconds, and runs of a process often differ in their seeds alone: a program whose text was compiled
    before is not compiled again.
    """
    lowered = loop.lower(carry, np.int32(0))
    text = "\n".join([str(lowered.in_tree), str(lowered.out_tree), lowered.as_text()])
    key = hashlib.sha256(text.encode()).digest()
    executable = _EXECUTABLES.pop(key, None) or lowered.compile()
    _EXECUTABLES[key] = executable  # the latest one used is the last one
    if len(_EXECUTABLES) > _MOST_EXECUTABLES:
        del _EXECUTABLES[next(iter(_EXECUTABLES))]
    return executable


_EXECUTABLES: dict[bytes, Any] = {}
_MOST_EXECUTABLES = 16  # each takes a few megabytes


def _evaluate(objective: Objective, combine: Combine, state: State) -> tuple[Any, Any, Weights, Matrix, Update]:
    """Points, the samplers' memory, losses, gradients and the rule's update at `state`."""
    theta, _, rule, memory = state.moving
    seed = state.seed + jnp.uint32(_SALT) * state.rollbacks.astype(jnp.uint32)
    batch, memory = objective.draw(theta, memory, seed, state.step)
    losses, G = objective.losses_and_gradients(theta, batch)
    key = jnp.stack([seed, state.step.astype(jnp.uint32)])
    return batch, memory, losses, G, combine(G, losses, rule, key, state.taken == 0, theta, batch)


def _seen(losses: Weights, G: Matrix, out: Update) -> Seen:
    radius, status = jnp.asarray(out.radius), jnp.asarray(out.status, jnp.int32)
    return Seen(losses, G, out.weights, _binding(G, out), radius, status)


def _binding(G: Matrix, out: Update) -> Mask:
    """Losses whose cosine with the update cannot be told from the least; none where lengths leave the range."""
    lengths = jnp.linalg.norm(G, axis=1) * jnp.linalg.norm(out.update)
    return G @ out.update <= (out.radius + OPTIMAL_GAP[str(G.dtype)]) * lengths


def _at_rest(stop_radius: float | None, out: Update) -> Scalar:
    """Whether the rule reports an r* of at most `stop_radius`."""
    if stop_radius is None or "r*" not in out.report:
        return jnp.asarray(False)
    return (out.report["r*"] <= stop_radius) & (out.status != Status.NONFINITE)


def _stepped(old: State, moved: Moving, seen: Seen, finite: Scalar, at_rest: Scalar) -> State:
    """The state after a step: moved; held, where it is not finite; stopped before it, where it is at rest."""
    taken = finite & ~at_rest
    tally = Tally(old.tally.taken + taken, old.tally.held + ~finite, old.tally.binding + (taken & seen.binding))
    return old._replace(
        moving=_where(taken, moved, old.moving),
        step=old.step + jnp.where(at_rest, 0, 1),
        taken=old.taken + taken,
        holds=jnp.where(finite, 0, old.holds + 1),
        tally=tally,
        stop=jnp.where(at_rest, Stop.RADIUS, Stop.NOT).astype(jnp.int32),
    )


def _back_if_not(finite: Scalar, old: State, state: State, loss: Scalar) -> State:
    """`state` after a finite step; else the last good one, to draw other points from there."""
    good = old.good
    assert good is not None
    due = finite & (old.step % GOOD_EVERY == 0) & (loss <= GOOD_LOSS * good.best)
    good = _where(due, Good(old.moving, old.step, old.taken, jnp.minimum(good.best, loss)), good)
    back = old._replace(
        moving=good.moving,
        step=good.step,
        taken=good.taken,
        rollbacks=old.rollbacks + 1,
        tally=state.tally,
        stop=jnp.where(old.rollbacks >= MOST_ROLLBACKS, Stop.NONFINITE, Stop.NOT).astype(jnp.int32),
    )
    chosen: State = _where(finite, state, back)
    return chosen._replace(good=good)


def _all_finite(tree: Any) -> Scalar:
    leaves = [leaf for leaf in jax.tree.leaves(tree) if jnp.issubdtype(leaf.dtype, jnp.inexact)]
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in leaves]))


def _where(condition: Scalar, yes: Any, no: Any) -> Any:
    return jax.tree.map(lambda new, old: jnp.where(condition, new, old).astype(old.dtype), yes, no)


def _zeros(shapes: Any) -> Any:
    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)


def _owned(tree: Any) -> Any:
    """The same arrays, each with memory of its own, so that it can be donated."""
    return jax.tree.map(lambda leaf: jnp.array(leaf, dtype=jnp.asarray(leaf).dtype, copy=True), tree)
