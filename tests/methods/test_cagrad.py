"""CAGrad: printed vectors, optimality of the inner problem, stationary points."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.cagrad import CAGrad
from tests.methods.behaviour import CONFLICT, EDGE, PAIR, TOY, assert_close, gradients


@pytest.mark.parametrize(
    ("c", "G", "weights"),
    [
        (0.5, TOY, (0.3333333, 0.3333333, 1.4211446)),
        (0.5, EDGE, (0.6138751, 0.6138751, 0.3333333)),
        (0.5, CONFLICT, (0.3333333, 0.6414038, 0.3333333)),
        (0.5, PAIR, (0.5632993, 0.8449490)),
        (0.4, TOY, (0.3333333, 0.3333333, 1.2035823)),
        (0.4, EDGE, (0.5577668, 0.5577668, 0.3333333)),
        (0.4, CONFLICT, (0.3333333, 0.5797897, 0.3333333)),
        (0.4, PAIR, (0.5032796, 0.7549193)),
    ],
)
def test_vectors(c: float, G: np.ndarray, weights: Any) -> None:
    assert_close(CAGrad(c).combine(G).weights, weights, atol=1e-7)


@pytest.mark.parametrize("c", [0.01, 0.4, 0.9, 3.0])
@pytest.mark.parametrize("kind", ["plain", "few columns", "scales", "twice"])
def test_inner_problem_is_solved(c: float, kind: str) -> None:
    """d = g_0 + y G with y >= 0, |d - g_0| = c |g_0|, and g_i . d least wherever y_i > 0: optimality."""
    for seed in range(20):
        G = gradients(seed) + 0.3
        G = {
            "plain": G,
            "few columns": G[:, :3],
            "twice": np.vstack([G, G]),
            "scales": G * 10.0 ** np.arange(-4, 4, 2)[:, None],
        }[kind]
        out = CAGrad(c).combine(G)
        if out.status == Status.STATIONARY:
            continue
        mean, y = G.mean(axis=0), np.asarray(out.weights) - 1 / len(G)
        norms, size = np.linalg.norm(G, axis=1), np.linalg.norm(out.update)
        gains = G @ out.update / (norms * size)
        least = np.sum(y * norms * gains) / np.sum(y * norms)
        value = np.sum(y * (G @ out.update)) / np.sum(y)
        assert np.min(y * norms) >= -1e-12 * size
        assert np.linalg.norm(out.update - mean) == pytest.approx(c * np.linalg.norm(mean), rel=1e-10)
        assert np.min((G @ out.update - value) / (norms * size)) >= -1e-10
        assert abs(least) <= 1 + 1e-12


def test_no_radius_is_the_mean() -> None:
    np.testing.assert_allclose(CAGrad(0.0).combine(CONFLICT).update, CONFLICT.mean(axis=0), rtol=1e-15)


def test_small_gradients_are_no_special_case() -> None:
    """The update has degree 1, down to where squares underflow."""
    np.testing.assert_allclose(
        1e200 * CAGrad().combine(1e-200 * CONFLICT).update, CAGrad().combine(CONFLICT).update, rtol=1e-12
    )


@pytest.mark.parametrize(("rescale", "divisor"), [("1 + c^2", 1.16), ("1 + c", 1.4)])
def test_rescale(rescale: str, divisor: float) -> None:
    plain = CAGrad(0.4).combine(CONFLICT).update
    np.testing.assert_allclose(divisor * CAGrad(0.4, rescale).combine(CONFLICT).update, plain, rtol=1e-14)


def test_at_stationary_points_it_follows_the_mean_until_the_ball_reaches_zero() -> None:
    G = np.array([[1.0, 0.0], [-3.0, 0.0]])
    np.testing.assert_allclose(CAGrad(0.5).combine(G).update, (-0.5, 0), atol=1e-12)
    out = CAGrad(1.5).combine(G)
    assert out.status == Status.STATIONARY
    assert not out.update.any()
    assert CAGrad().combine(np.array([[1.0, 2], [-1, -2]])).status == Status.STATIONARY


@pytest.mark.parametrize(("fields", "message"), [({"c": -0.1}, "`c` must be"), ({"rescale": "2"}, "`rescale` must be")])
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        CAGrad(**fields)
