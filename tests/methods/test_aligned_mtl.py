"""Aligned-MTL: printed vectors, alignment itself, the jump at a loss of rank."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.aligned_mtl import AlignedMTL
from tests.methods.behaviour import CONFLICT, EDGE, PAIR, TOY, assert_close, gradients


@pytest.mark.parametrize(
    ("G", "weights", "update"),
    [
        (TOY, (0.01126056, -0.02580654, 0.20766324), (0.09783546, 0.11639940, 0.06191322)),
        (EDGE, (0.09763107, 0.09763107, 0), (0.09763107, 0.09763107, 0)),
        (CONFLICT, (0.24272349, 0.38509803, 0.25739752), (0.22904772, 0.11302649, 0.64249554, 0.50012101)),
        (PAIR, (0.42154578, 0.54198743), (0.72264990, 1.08397485)),
    ],
)
def test_vectors(G: np.ndarray, weights: Any, update: Any) -> None:
    out = AlignedMTL().combine(G)
    assert_close(out.weights, weights, atol=1e-8)
    assert_close(out.update, update, atol=1e-8)


@pytest.mark.parametrize(
    ("scale", "pick"), [("min", np.min), ("rmse", np.mean), ("median", lambda values: np.sort(values)[1])]
)
def test_aligned_gradients_are_orthogonal_and_equally_long(scale: str, pick: Any) -> None:
    """Their mean has squared length lambda / m, for the eigenvalue chosen."""
    G = gradients(1)
    out = AlignedMTL(scale).combine(G).update
    assert out @ out == pytest.approx(pick(np.linalg.eigvalsh(G @ G.T)) / 4, rel=1e-11)


def test_preference_weighs_the_aligned_gradients() -> None:
    """Linear, so twice everything is twice the update, and 1/m each is the default."""
    G = gradients(2)
    mean = AlignedMTL().combine(G).update
    np.testing.assert_allclose(AlignedMTL(preference=(0.5,) * 4).combine(G).update, 2 * mean, rtol=1e-13)


@pytest.mark.parametrize(
    ("h", "length", "status"),
    [(1e-3, 3.3e-4, Status.OPTIMAL), (1e-6, 3.3e-7, Status.OPTIMAL), (0, 0.544, Status.REDUCED)],
)
def test_jump_at_a_loss_of_rank(h: float, length: float, status: Status) -> None:
    out = AlignedMTL().combine(np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, h]]))
    assert np.linalg.norm(out.update) == pytest.approx(length, rel=2e-2)
    assert out.status == status


def test_opposite_gradients_still_move() -> None:
    """Rank one: the aligned mean goes down the longer one, and raises the other loss."""
    out = AlignedMTL().combine(np.array([[1.0, 0], [-2, 0]]))
    np.testing.assert_allclose(out.update, (-0.5, 0), atol=1e-14)
    assert out.status == Status.REDUCED
    assert out.radius == pytest.approx(-1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"scale": "max"}, "`scale` must be"), ({"rtol": 1.0}, "`rtol` must be"), ({"preference": ()}, "`preference`")],
)
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        AlignedMTL(**fields)
