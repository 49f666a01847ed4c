"""Nash-MTL: printed vectors, the bargaining equation, scale invariance."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.nash_mtl import NashMTL
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, EDGE, PAIR, TOY, Case, assert_close, gradients


@BEHAVIOUR
def test_behaviour_when_clipped(behaves: Any) -> None:
    behaves(Case(NashMTL("clip")))


@pytest.mark.parametrize(
    ("G", "weights", "update"),
    [
        (TOY, (0.18736758, 0.24689865, 0.65291325), (1.06742054, 1.35008164, 0.19466112)),
        (EDGE, (0.82185442, 0.82185442, 0.59235915), (1.21676051, 1.21676051, 0.19745305)),
        (CONFLICT, (0.48243034, 0.82174388, 0.51058473), (0.39840916, 0.28300474, 1.33232861, 0.99301507)),
        (PAIR, (0.44833234, 0.60150096), (0.74349607, 1.20300191)),
    ],
)
def test_vectors(G: np.ndarray, weights: Any, update: Any) -> None:
    out = NashMTL().combine(G)
    assert_close(out.weights, weights, atol=1e-8)
    assert_close(out.update, update, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_every_loss_gets_the_inverse_of_its_weight(scale: float) -> None:
    for seed in range(20):
        G = scale * (gradients(seed) + 0.2)
        out = NashMTL().combine(G)
        np.testing.assert_allclose(out.weights * (G @ out.update), 1.0, rtol=1e-10)
        assert out.update @ out.update == pytest.approx(4, rel=1e-10)


@pytest.mark.parametrize("angle", [1e-3, 1e-5])
def test_nearly_opposite_gradients(angle: float) -> None:
    """The bisector, of length sqrt(2), as far as cosines know it."""
    G = np.array([[1.0, angle], [-1.0, angle]])
    np.testing.assert_allclose(NashMTL().combine(G).update[1], 2**0.5, rtol=1e-3 * (1e-3 / angle) ** 1.5)


def test_a_repeated_loss_counts_twice() -> None:
    G = np.vstack([PAIR, PAIR[0]])
    out = NashMTL().combine(G)
    np.testing.assert_allclose(out.weights * (G @ out.update), 1.0, rtol=1e-10)


def test_scaling_a_loss_changes_nothing() -> None:
    scaled = NashMTL().combine(np.array([[1e-8], [1.0], [1e8]]) * CONFLICT).update
    np.testing.assert_allclose(scaled, NashMTL().combine(CONFLICT).update, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e-200])
def test_clip(scale: float) -> None:
    G = scale * CONFLICT
    K = (CONFLICT @ CONFLICT.T) * scale
    expected = min(
        1.0,
        (3 * np.linalg.norm(K) * scale) ** 0.5
        if scale > 1e-100
        else 3**0.5 * scale * np.linalg.norm(CONFLICT @ CONFLICT.T) ** 0.5,
    )
    assert np.linalg.norm(NashMTL("clip").combine(G).update / scale) * scale == pytest.approx(expected, rel=1e-12)
    assert np.linalg.norm(NashMTL("clip", max_norm=0.1).combine(CONFLICT).update) == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize("angles", [(0, 180), (0, 100, 220), (0, 90, 180, 270)])
def test_no_agreement_at_stationary_points(angles: tuple[int, ...]) -> None:
    G = np.array([[np.cos(a), np.sin(a)] for a in np.deg2rad(angles)])
    out = NashMTL().combine(G)
    assert out.status == Status.STATIONARY
    assert not out.update.any()


@pytest.mark.parametrize(
    ("fields", "message"), [({"length": "m"}, "`length` must be"), ({"max_norm": 0.0}, "`max_norm` must be positive")]
)
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        NashMTL(**fields)
