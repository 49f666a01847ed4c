"""IMTL-G: printed vectors, equal cosines and their sign, its tie to ConFIG, dependent gradients."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.config import ConFIG
from incenter.methods.imtl_g import IMTLG
from tests.methods.behaviour import CONFLICT, EDGE, PAIR, TOY, assert_close, gradients


@pytest.mark.parametrize(
    ("G", "weights", "update", "sign"),
    [
        (TOY, (-13 / 22, -20 / 11, 75 / 22), (-25 / 11, -25 / 11, 5 * 5**0.5 / 11), -1),
        (EDGE, (1, 1, -1), (1 / 3, 1 / 3, -1 / 3), 1),
        (CONFLICT, (0.25051453, 0.46812673, 0.28135875), (0.17358170, 0.15592376, 0.74948547, 0.53187327), 1),
        (PAIR, (0.42705098, 0.57294902), (0.70820393, 1.14589803), 1),
    ],
)
def test_vectors(G: np.ndarray, weights: Any, update: Any, sign: int) -> None:
    out = IMTLG().combine(G)
    assert_close(out.weights, weights, atol=1e-8)
    assert_close(out.update, update, atol=1e-8)
    assert out.report["sign"] == sign
    assert np.sign(out.radius) == sign


def test_equal_cosines_and_weights_that_sum_to_one() -> None:
    for seed in range(20):
        G = gradients(seed)
        out = IMTLG().combine(G)
        cosines = G @ out.update / np.linalg.norm(G, axis=1) / np.linalg.norm(out.update)
        np.testing.assert_allclose(cosines, out.radius, rtol=1e-9)
        assert np.sum(np.asarray(out.weights)) == pytest.approx(1, rel=1e-9)


def test_under_the_projection_length_it_is_config() -> None:
    """The length is even in the direction, so even where the sign is negative."""
    for G in (TOY, EDGE, CONFLICT, *map(gradients, range(10))):
        v = IMTLG().combine(G).update
        v = v / np.linalg.norm(v)
        np.testing.assert_allclose(np.sum(G @ v) * v, ConFIG().combine(G).update, rtol=1e-10, atol=1e-12)


def test_scaling_one_loss_can_turn_the_sign() -> None:
    assert IMTLG().combine(TOY).report["sign"] == -1
    assert IMTLG().combine(TOY * np.array([[1.0], [1.0], [100.0]])).report["sign"] == 1


def test_no_weights_where_they_sum_to_zero() -> None:
    """z = (1, 1, -1) / (...) on the third loss's scale: sigma vanishes where 1/s_3 = 1/s_1 + 1/s_2."""
    out = IMTLG().combine(EDGE * np.array([[1.0], [1.0], [0.5]]))
    assert out.status == Status.REDUCED
    assert out.report["sign"] == 0
    assert not out.update.any()


@pytest.mark.parametrize(
    ("angles", "status"),
    [((0, 180), Status.STATIONARY), ((0, 100, 220), Status.STATIONARY), ((0, 30, 90), Status.REDUCED)],
)
def test_dependent_gradients(angles: tuple[int, ...], status: Status) -> None:
    out = IMTLG().combine(np.array([[np.cos(a), np.sin(a)] for a in np.deg2rad(angles)]))
    assert out.status == status
    assert bool(out.update.any()) == (status is Status.REDUCED)
    assert out.report["residual"] > 1e-3


def test_a_repeated_gradient_is_solvable() -> None:
    out = IMTLG().combine(np.vstack([CONFLICT, CONFLICT[0]]))
    assert out.status == Status.OPTIMAL
    np.testing.assert_allclose(out.update, IMTLG().combine(CONFLICT).update, rtol=1e-12)


def test_rtol_is_checked() -> None:
    with pytest.raises(IncenterError, match="`rtol` must be in"):
        IMTLG(rtol=-1.0)
