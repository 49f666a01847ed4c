"""GAPO: printed vectors, its two well-known exponents, optimality."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.gapo import GAPO
from incenter.methods.mgda import MGDA
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, EDGE, PAIR, TOY, Case, assert_close, gradients


@BEHAVIOUR
def test_behaviour_of_another_exponent(behaves: Any) -> None:
    behaves(Case(GAPO(exponent=0.5)))


@pytest.mark.parametrize(
    ("exponent", "G", "weights", "update"),
    [
        (0.5, TOY, (0.04842034, 0, 0.89172882), (0.42044749, 0.83228023, 0.26586217)),
        (0.5, EDGE, (0.5, 0.5, 0), (0.5, 0.5, 0)),
        (0.5, CONFLICT, (0.16669020, 0.33577254, 0.18797478), (0.09159526, 0.12651317, 0.52374732, 0.35466498)),
        (0.5, PAIR, (0.25947636, 0.36819086), (0.41023822, 0.73638173)),
        (1.0, TOY, (0.1, 0.16666667, 0), (0.5, 0.5, 0)),
        (1.0, EDGE, (0.5, 0.5, 0), (0.5, 0.5, 0)),
        (1.0, CONFLICT, (0.11773135, 0.22, 0.13222684), (0.08157614, 0.07327765, 0.35222683, 0.24995820)),
        (1.0, PAIR, (0.16666667, 0.22360680), (0.27639320, 0.44721360)),
    ],
)
def test_vectors(exponent: float, G: np.ndarray, weights: Any, update: Any) -> None:
    out = GAPO(exponent).combine(G)
    assert_close(out.weights, weights, atol=1.5e-8)
    assert_close(out.update, update, atol=1.5e-8)


def test_exponent_zero_is_mgda() -> None:
    np.testing.assert_allclose(GAPO(0.0).combine(CONFLICT).update, MGDA().combine(CONFLICT).update, rtol=1e-14)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_shortest_in_the_hull_of_rescaled_gradients(exponent: float, scale: float) -> None:
    """|d|^2 <= t_i . d for all i: the condition for the point of least norm, at any size of the gradients."""
    G = scale * gradients(4)
    d = GAPO(exponent).combine(G).update
    t = G / np.linalg.norm(G, axis=1, keepdims=True) ** exponent
    assert np.min(t @ d) >= (1 - 1e-10) * (d @ d)


def test_direction_ignores_the_scale_of_a_loss_at_exponent_one() -> None:
    G = gradients(1)
    scaled = GAPO(1.0).combine(G * np.array([[1e-6], [1], [50], [1e8]])).update
    np.testing.assert_allclose(scaled, GAPO(1.0).combine(G).update, rtol=1e-11)


def test_opposite_gradients_are_stationary() -> None:
    out = GAPO().combine(np.array([[1.0, 2, 3], [-2, -4, -6]]))
    assert out.status == Status.STATIONARY
    assert not out.update.any()


def test_exponent_is_checked() -> None:
    with pytest.raises(IncenterError, match="`exponent` must be a number >= 0; got -1"):
        GAPO(-1.0)
