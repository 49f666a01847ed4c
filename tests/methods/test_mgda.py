"""MGDA: printed vectors, optimality at any ratio of norms, the paper's Frank-Wolfe budget."""

from typing import Any

import numpy as np
import pytest

from incenter import Status
from incenter.methods.gapo import GAPO
from incenter.methods.mgda import MGDA
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, EDGE, PAIR, TOY, Case, assert_close, gradients

PAPER = MGDA(iterations=20)


@BEHAVIOUR
def test_behaviour_of_frank_wolfe(behaves: Any) -> None:
    behaves(Case(MGDA(iterations=100, tolerance=0.1)))


@pytest.mark.parametrize(
    ("G", "weights", "update"),
    [
        (TOY, (0, 0, 1), TOY[2]),
        (EDGE, (0.5, 0.5, 0), (0.5, 0.5, 0)),
        (CONFLICT, (0.23205742, 0.50478469, 0.26315789), (0.09090909, 0.21052632, 0.76794258, 0.49521531)),
        (PAIR, (0.4, 0.6), (0.6, 1.2)),
    ],
)
def test_vectors(G: np.ndarray, weights: Any, update: Any) -> None:
    out = MGDA().combine(G)
    assert_close(out.weights, weights, atol=1e-8)
    assert_close(out.update, update, atol=1e-8)


@pytest.mark.parametrize(
    ("G", "weights", "update"),
    [
        (TOY, (0, 0, 1), TOY[2]),
        (EDGE, (0.46269600, 0.48239278, 0.05491122), (0.49930348, 0.51900026, 0.01830374)),
        (CONFLICT, (0.23207945, 0.50476692, 0.26315363), (0.09096880, 0.21053911, 0.76792055, 0.49523308)),
        (PAIR, (0.4, 0.6), (0.6, 1.2)),
    ],
)
def test_vectors_of_frank_wolfe(G: np.ndarray, weights: Any, update: Any) -> None:
    out = PAPER.combine(G)
    assert_close(out.weights, weights, atol=1e-8)
    assert_close(out.update, update, atol=1e-8)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2)])
def test_a_tie_of_frank_wolfe_goes_to_the_first(order: tuple[int, ...]) -> None:
    assert_close(PAPER.combine(EDGE[list(order)]).weights, (0.46269600, 0.48239278, 0.05491122), atol=1e-8)


def test_frank_wolfe_says_when_its_budget_ended_first() -> None:
    assert PAPER.combine(EDGE).status == Status.ITER_LIMIT
    assert PAPER.combine(PAIR).status == Status.OPTIMAL


@pytest.mark.parametrize("decades", [0, 3, 6, 10])
def test_shortest_vector_of_the_hull(decades: int) -> None:
    """g_i . d >= |d|^2 for all i, with equality where a_i > 0, is what the shortest vector d is."""
    for seed in range(10):
        G = (gradients(seed, 5) + 0.5) * 10.0 ** np.linspace(0, decades, 5)[:, None]
        out = MGDA().combine(G)
        square, weights = float(out.update @ out.update), np.asarray(out.weights)
        excess = (G @ out.update - square) / square
        rounding = 16 * np.finfo(float).eps * np.linalg.norm(G, axis=1) / square**0.5  # of g_i . d itself
        assert np.all(excess >= -1e-12 - rounding)
        assert np.all(weights * np.abs(excess) <= 1e-12 + rounding)
        assert weights.sum() == pytest.approx(1, rel=1e-12)


def test_equals_gapo_with_exponent_zero_and_is_not_scale_invariant() -> None:
    np.testing.assert_allclose(MGDA().combine(CONFLICT).update, GAPO(0).combine(CONFLICT).update, rtol=1e-12)
    scaled = MGDA().combine(CONFLICT * np.array([[1.0], [1.0], [1e-3]])).update
    plain = MGDA().combine(CONFLICT).update
    assert scaled @ plain / np.linalg.norm(scaled) / np.linalg.norm(plain) < 0.95


def test_zero_in_the_hull_is_stationary() -> None:
    out = MGDA().combine(np.array([[1.0, 0], [-2, 1], [0, -1]]))
    assert out.status == Status.STATIONARY
    assert not out.update.any()
