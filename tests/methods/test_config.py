"""ConFIG: printed vectors, equal cosines, lengths, and what happens where the gradients are dependent."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.config import ConFIG
from incenter.methods.lengths import LENGTHS
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, EDGE, PAIR, TOY, Case, assert_close, gradients


@BEHAVIOUR
def test_behaviour_with_another_length(behaves: Any) -> None:
    behaves(Case(ConFIG(length="geometric")))


@pytest.mark.parametrize(
    ("G", "weights", "update"),
    [
        (TOY, (1.06363636, 3.27272727, -6.13636364), (4.09090909, 4.09090909, -1.82951016)),
        (EDGE, (3, 3, -3), (1, 1, -1)),
        (CONFLICT, (0.78662680, 1.46993882, 0.88347902), (0.54505428, 0.48960758, 2.35341785, 1.67010582)),
        (PAIR, (0.87267800, 1.17082039), (1.44721360, 2.34164079)),
    ],
)
def test_vectors(G: np.ndarray, weights: Any, update: Any) -> None:
    out = ConFIG().combine(G)
    assert_close(out.weights, weights, atol=1e-8)
    assert_close(out.update, update, atol=1e-8)


def cosines(G: np.ndarray, d: np.ndarray) -> np.ndarray:
    return np.asarray(G @ d / np.linalg.norm(G, axis=1) / np.linalg.norm(d))


@pytest.mark.parametrize("preference", [None, (1.0, 2.0, 0.5, 3.0)])
def test_cosines_have_the_proportion_asked_for(preference: tuple[float, ...] | None) -> None:
    for seed in range(20):
        G = gradients(seed)
        ratio = cosines(G, ConFIG(preference=preference).combine(G).update) / np.array(preference or (1.0,) * 4)
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-10)
        assert ratio[0] > 0


@pytest.mark.parametrize("length", LENGTHS)
def test_length_is_that_of_the_rule(length: str) -> None:
    G = gradients(5)
    out = ConFIG(length).combine(G)
    norms = np.linalg.norm(G, axis=1)
    means = {"minimum": norms.min(), "maximum": norms.max(), "arithmetic": norms.mean(), "projection": norms.mean()}
    means |= {"geometric": np.exp(np.log(norms).mean()), "harmonic": 1 / np.mean(1 / norms)}
    assert np.linalg.norm(out.update) == pytest.approx(means[length] * 4 * out.radius, rel=1e-12)


def test_projection_length_is_the_projection_of_the_sum() -> None:
    d = ConFIG().combine(CONFLICT).update
    assert CONFLICT.sum(axis=0) @ d == pytest.approx(d @ d, rel=1e-13)


def test_direction_ignores_the_scale_of_a_loss() -> None:
    G = gradients(1)
    scaled = ConFIG().combine(np.array([[1e-6], [1], [50], [1e8]]) * G).update
    plain = ConFIG().combine(G).update
    np.testing.assert_allclose(scaled / np.linalg.norm(scaled), plain / np.linalg.norm(plain), rtol=1e-11)


@pytest.mark.parametrize(("h", "common"), [(0.3, 0.43), (0.1, 0.167), (0.01, 0.0171), (0.0, 0.7071)])
def test_jump_at_a_loss_of_rank(h: float, common: float) -> None:
    out = ConFIG().combine(np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, h]]))
    assert out.radius == pytest.approx(common, rel=2e-2)
    assert out.status == (Status.OPTIMAL if h else Status.REDUCED)


@pytest.mark.parametrize("angles", [(0, 180), (0, 100, 220)])
def test_stationary_points_have_no_solution(angles: tuple[int, ...]) -> None:
    out = ConFIG().combine(np.array([[np.cos(a), np.sin(a)] for a in np.deg2rad(angles)]))
    assert out.status == Status.STATIONARY
    assert not out.update.any()
    assert out.report["residual"] > 1e-3


def test_projection_length_does_not_turn_a_least_squares_direction_round() -> None:
    """Angles 0, 30 and 170 with a loud third loss: the summed gradient points away from the least-squares direction."""
    G = np.array([[1.0, 0, 0], [np.cos(0.5), np.sin(0.5), 0], [100 * np.cos(3.0), 100 * np.sin(3.0), 0]])
    loud, quiet = ConFIG().combine(G), ConFIG().combine(G / np.linalg.norm(G, axis=1, keepdims=True))
    assert loud.status == quiet.status == Status.REDUCED
    assert loud.update @ quiet.update > 0


@pytest.mark.parametrize(
    ("fields", "message"), [({"length": "long"}, "`length` must be"), ({"rtol": 2.0}, "`rtol` must be")]
)
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        ConFIG(**fields)
