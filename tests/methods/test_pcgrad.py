"""PCGrad: printed vectors, the method as it is written, orders and keys."""

from itertools import permutations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.pcgrad import PCGrad
from incenter.methods.randomness import random_bits
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, EDGE, LIBRARIES, PAIR, TOY, Case, assert_close, gradients


@BEHAVIOUR
def test_behaviour_in_fixed_order(behaves: Any) -> None:
    behaves(Case(PCGrad(order="fixed", reduction="mean")))


@pytest.mark.parametrize(
    ("G", "weights", "update"),
    [
        (TOY, (1, 1, 1), (5.2, 3.93333333, 0.29814240)),
        (EDGE, (1, 1, 1), (1.66666667, 1.66666667, 0.33333333)),
        (CONFLICT, (1.16666667, 1.83333333, 1.32), (1.16, 0.36, 3.15333333, 2.48666667)),
        (PAIR, (1.33333333, 1.6), (2.4, 3.2)),
    ],
)
def test_vectors(G: np.ndarray, weights: tuple[float, ...], update: tuple[float, ...]) -> None:
    out = PCGrad(order="fixed").combine(G)
    assert_close(out.weights, weights, atol=5e-9)
    assert_close(out.update, update, atol=5e-9)


def as_written(G: np.ndarray, orders: Any) -> np.ndarray:
    """The sum of the modified gradients, in n dimensions, projection by projection."""
    total = np.zeros(G.shape[1])
    for i, order in enumerate(orders):
        h = G[i].copy()
        for j in order:
            if j != i and h @ G[j] < 0:
                h -= (h @ G[j]) / (G[j] @ G[j]) * G[j]
        total += h
    return total


@pytest.mark.parametrize("count", [1, 2, 5, 64])
def test_is_the_method_as_written(count: int) -> None:
    G = gradients(count, count=count)
    orders = np.argsort(random_bits(np, 11, shape=(count, count)), axis=1, kind="stable")
    for convert in LIBRARIES.values():
        assert_close(PCGrad().combine(convert(G), key=11).update, as_written(G, orders), rtol=1e-9, atol=1e-9)


def test_sixty_four_losses_compile() -> None:
    G = jnp.asarray(gradients(0, count=64))
    assert_close(
        jax.jit(PCGrad().combine)(G, key=3).update, PCGrad().combine(np.asarray(G), key=3).update, rtol=1e-9, atol=1e-9
    )


def test_keys_reach_all_orders_and_no_other_answer() -> None:
    possible = {(a, b) for a in (1.16666667, 1.25) for b in (1.24, 1.32)}
    seen = [np.asarray(PCGrad().combine(CONFLICT, key=key).weights) for key in range(200)]
    assert {(round(a, 8), round(c, 8)) for a, _, c in seen} == possible
    assert_close(np.mean(seen, axis=0), (1.20833333, 1.83333333, 1.28), atol=0.01)


def test_orders_are_uniform() -> None:
    orders = np.argsort(random_bits(np, 5, shape=(6000, 3)), axis=1)
    counts = [np.sum((orders == order).all(axis=1)) for order in permutations(range(3))]
    assert np.sum((np.array(counts) - 1000) ** 2 / 1000) < 20.5  # chi square with 5 degrees of freedom, 0.1 %


def test_without_conflict_it_is_the_sum() -> None:
    G = np.abs(gradients(0))
    assert_close(PCGrad().combine(G, key=0).update, G.sum(axis=0), rtol=1e-13)


def test_mean_is_the_sum_over_m() -> None:
    total, mean = (PCGrad(order="fixed", reduction=r).combine(CONFLICT).update for r in ("sum", "mean"))
    assert_close(mean, total / 3, rtol=1e-14)


@pytest.mark.parametrize("convert", LIBRARIES.values(), ids=LIBRARIES)
def test_opposite_gradients_give_nothing(convert: Any) -> None:
    out = PCGrad(order="fixed").combine(convert(np.array([[1.0, 2.0], [-3.0, -6.0]])))
    assert out.status == Status.STATIONARY
    assert not np.asarray(out.update).any()


def test_lengths_far_apart_keep_the_numbers() -> None:
    G = np.array([[1e100, -1e100], [-1e-100, 0.0]])
    out = PCGrad(order="fixed").combine(G)
    assert np.isfinite(out.update).all()
    assert np.isfinite(np.asarray(out.weights)).all()


def test_weights_beyond_the_floats_are_owned_up_to() -> None:
    G = np.array([[1e30, -1e30], [-1e-30, 0.0]], dtype=np.float32)
    with jax.enable_x64(False):
        out = PCGrad(order="fixed").combine(jnp.asarray(G))
    assert out.status == Status.REDUCED
    assert np.isfinite(np.asarray(out.update)).all()


def test_no_key_is_said() -> None:
    with pytest.raises(IncenterError, match=r'has no key; pass key= .* or set order="fixed"'):
        PCGrad().combine(CONFLICT)


@pytest.mark.parametrize("fields", [{"order": "cyclic"}, {"reduction": "max"}])
def test_fields_are_checked(fields: dict[str, Any]) -> None:
    with pytest.raises(IncenterError, match=next(iter(fields.values()))):
        PCGrad(**fields)
