"""UPGrad: printed vectors, no conflict at any ratio of norms, linearity."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.upgrad import UPGrad
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, EDGE, PAIR, TOY, Case, assert_close, gradients


@BEHAVIOUR
def test_behaviour_with_a_preference(behaves: Any) -> None:
    if behaves.__name__ == "nothing_gives_nothing":
        pytest.skip("a preference names the number of losses")
    behaves(Case(UPGrad(preference=(1, 2, 3, 4))))


@pytest.mark.parametrize(
    ("G", "weights", "update"),
    [
        (CONFLICT, (0.41830065, 0.63606655, 0.44363636), (0.42235294, 0.16709447, 1.07970291, 0.86193702)),
        (PAIR, (0.66666667, 0.8), (1.2, 1.6)),
    ],
)
def test_vectors(G: np.ndarray, weights: Any, update: Any) -> None:
    out = UPGrad().combine(G)
    assert_close(out.weights, weights, atol=1e-8)
    assert_close(out.update, update, atol=1e-8)


@pytest.mark.parametrize("G", [TOY, EDGE, np.abs(CONFLICT)])
def test_without_conflicts_it_is_the_mean(G: np.ndarray) -> None:
    np.testing.assert_allclose(UPGrad().combine(G).update, G.mean(axis=0), rtol=1e-14)


@pytest.mark.parametrize("decades", [0, 4, 8])
def test_never_conflicts(decades: int) -> None:
    for seed in range(30):
        G = gradients(seed) * 10.0 ** np.linspace(0, decades, 4)[:, None]
        out = UPGrad().combine(G)
        lengths = np.linalg.norm(G, axis=1)
        rounding = 1e-14 * np.sum(np.abs(np.asarray(out.weights)) * lengths) * lengths
        assert np.min(G @ out.update + rounding) >= 0


def test_projections_of_the_rows_add_up() -> None:
    """The preference enters linearly: the unit preferences' updates sum to the update."""
    G, p = gradients(2), (1.0, 2.0, 0.5, 3.0)
    tiny = 1e-300  # positive, but nothing beside 1
    parts = sum(w * UPGrad([1.0 if j == i else tiny for j in range(4)]).combine(G).update for i, w in enumerate(p))
    np.testing.assert_allclose(UPGrad(p).combine(G).update, parts, rtol=1e-12)


def test_linear_in_the_scale_of_each_loss() -> None:
    G, scale = gradients(3), np.array([1.0, 3.0, 0.1, 40.0])
    scaled = UPGrad().combine(scale[:, None] * G).update
    np.testing.assert_allclose(scaled, UPGrad(tuple(scale / 4)).combine(G).update, rtol=1e-11)


def test_opposite_gradients_are_stationary() -> None:
    out = UPGrad().combine(np.array([[1.0, 2, 3], [-2, -4, -6]]))
    assert out.status == Status.STATIONARY
    assert not out.update.any()


def test_preference_is_checked() -> None:
    with pytest.raises(IncenterError, match="one positive number per loss"):
        UPGrad((1.0, 0.0))
    with pytest.raises(IncenterError, match="got 2 numbers for 4 gradients"):
        UPGrad((1.0, 1.0)).combine(gradients(0))
