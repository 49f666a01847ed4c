"""What every rule must do whatever it computes, one named assertion each, and the gradients of the printed vectors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from incenter import Status
from incenter.methods import Rule, Update

TOY = np.array([[5, 0, 0], [0, 3, 0], [1 / 5, 14 / 15, 2 * 5**0.5 / 15]])
EDGE = np.array([[1, 0, 0], [0, 1, 0], [2 / 3, 2 / 3, 1 / 3]])
CONFLICT = np.array([[2, 1, 0, 1], [-1, 1, 1, 0], [0.5, -2, 1, 1]])
PAIR = np.array([[3.0, 0.0], [-1.0, 2.0]])

LIBRARIES: dict[str, Callable[[Any], Any]] = {"numpy": np.asarray, "torch": torch.tensor, "jax": jnp.asarray}


@dataclass(frozen=True)
class Case:
    """A rule, and which of losses and key it gets."""

    rule: Rule
    losses: bool = False
    key: bool = False
    traces: bool = False

    def inputs(self, step: int, count: int = 4) -> dict[str, Any]:
        rng = np.random.default_rng(step)
        values = np.exp(rng.normal(size=count))
        given = {"losses": (self.losses, values), "key": (self.key, step), "traces": (self.traces, values**2)}
        return {name: value for name, (wanted, value) in given.items() if wanted}

    def run(self, convert: Callable[[Any], Any], combine: Any = None, steps: int = 4) -> list[Update]:
        combine = combine or self.rule.combine
        out: list[Update] = []
        for step in range(steps):
            state = out[-1].state if out else None
            out.append(combine(convert(gradients(step)), state=state, **self.inputs(step)))
        return out


def gradients(seed: int, count: int = 4) -> np.ndarray:
    """Gradients of different lengths, some of them in conflict."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 7)) * np.exp(rng.normal(size=(count, 1)))


def numbers(update: Update) -> list[np.ndarray]:
    return [
        np.asarray(leaf, dtype=float)
        for leaf in jax.tree.leaves((update.update, update.weights, update.radius, update.state))
    ]


def assert_close(these: Any, those: Any, rtol: float = 0.0, atol: float = 0.0) -> None:
    """`np.testing.assert_allclose` for arrays of any library, which may be absent (`weights` may)."""
    np.testing.assert_allclose(np.asarray(these, dtype=float), np.asarray(those, dtype=float), rtol=rtol, atol=atol)


def assert_equal(these: Any, those: Any) -> None:
    assert_close(these, those)


def assert_same(these: Update, those: Update, rtol: float = 1e-12) -> None:
    assert int(these.status) == int(those.status)
    for a, b in zip(numbers(these), numbers(those), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(1.0, float(np.abs(b).max(initial=0.0))))


def libraries_agree(case: Case) -> None:
    reference = case.run(np.asarray)
    for convert in LIBRARIES.values():
        for mine, theirs in zip(case.run(convert), reference, strict=True):
            assert type(mine.update) is type(convert([1.0]))
            assert_same(mine, theirs)


def compiled_is_the_same(case: Case) -> None:
    for mine, theirs in zip(case.run(jnp.asarray, jax.jit(case.rule.combine)), case.run(np.asarray), strict=True):
        assert_same(mine, theirs)


def batched_is_the_same(case: Case) -> None:
    G = jnp.asarray(np.stack([gradients(seed) for seed in range(3)]))
    inputs = jax.tree.map(
        lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *map(case.inputs, range(3))
    )
    batched = jax.vmap(lambda G, inputs: case.rule.combine(G, **inputs))(G, inputs)
    for k in range(3):
        assert_same(jax.tree.map(lambda leaf, k=k: leaf[k], batched), case.rule.combine(gradients(k), **case.inputs(k)))


def loop_starts_from_zeros(case: Case) -> None:
    """A compiled loop that makes its first state from shapes alone does what a Python loop does from None."""
    inputs = [case.inputs(step) for step in range(4)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *inputs)
    G = jnp.asarray(np.stack([gradients(step) for step in range(4)]))

    def step(state: Any, given: Any) -> tuple[Any, Any]:
        out = case.rule.combine(given[0], state=state, **given[1])
        return out.state, out.update

    shapes = jax.eval_shape(lambda G: case.rule.combine(G, **inputs[0]).state, G[0])
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    _, updates = jax.lax.scan(step, zeros, (G, stacked))
    for mine, theirs in zip(updates, case.run(np.asarray), strict=True):
        np.testing.assert_allclose(mine, theirs.update, rtol=1e-12, atol=1e-12)


def nan_row_is_refused_and_forgotten(case: Case) -> None:
    bad = gradients(9)
    bad[1, 2] = np.nan
    for convert in LIBRARIES.values():
        before = case.run(convert)[-1].state
        for state in (None, before):
            out = case.rule.combine(convert(bad), state=state, **case.inputs(9))
            assert out.status == Status.NONFINITE
            assert all(np.isfinite(leaf).all() for leaf in numbers(out))
            assert not np.asarray(out.update).any()
            if state is not None:
                for kept, old in zip(jax.tree.leaves(out.state), jax.tree.leaves(before), strict=True):
                    np.testing.assert_array_equal(np.asarray(kept), np.asarray(old))


def zero_row_is_reported(case: Case) -> None:
    G = gradients(3)
    G[2] = 0.0
    for convert in LIBRARIES.values():
        out = case.rule.combine(convert(G), **case.inputs(3))
        assert out.status == Status.ZERO_ROW
        assert all(np.isfinite(leaf).all() for leaf in numbers(out))
        assert out.weights is None or out.weights[2] == 0
        all_zero = case.rule.combine(convert(0 * G), **case.inputs(3))
        assert not np.asarray(all_zero.update).any()
        assert all(np.isfinite(leaf).all() for leaf in numbers(all_zero))


def nothing_gives_nothing(case: Case) -> None:
    for convert in LIBRARIES.values():
        out = case.rule.combine(convert(np.zeros((0, 3))), **case.inputs(0, count=0))
        assert out.status == Status.EMPTY
        assert np.asarray(out.update).tolist() == [0, 0, 0]


def extreme_scales_stay_numbers(case: Case) -> None:
    for convert in LIBRARIES.values():
        for scale in (1e-30, 1e30):
            G = convert(np.float32(scale) * gradients(5).astype(np.float32))
            state = None
            for step in range(3):
                out = case.rule.combine(G, state=state, **case.inputs(step))
                state = out.state
                assert out.update.dtype == G.dtype
                assert all(np.isfinite(leaf).all() for leaf in numbers(out)), scale
                assert np.asarray(out.update).any()


def inputs_are_left_alone(case: Case) -> None:
    G, inputs = gradients(2), case.inputs(2)
    first = case.rule.combine(G, **inputs)
    before = jax.tree.map(np.copy, first.state)
    case.rule.combine(G, state=first.state, **inputs)
    np.testing.assert_array_equal(G, gradients(2))
    for now, then in zip(jax.tree.leaves(first.state), jax.tree.leaves(before), strict=True):
        np.testing.assert_array_equal(now, then)


BEHAVIOUR = pytest.mark.parametrize(
    "behaves",
    [
        libraries_agree,
        compiled_is_the_same,
        batched_is_the_same,
        loop_starts_from_zeros,
        nan_row_is_refused_and_forgotten,
        zero_row_is_reported,
        nothing_gives_nothing,
        extreme_scales_stay_numbers,
        inputs_are_left_alone,
    ],
    ids=lambda behaviour: behaviour.__name__,
)
