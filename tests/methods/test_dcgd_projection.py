"""DCGD-projection: printed vectors, the two groups, opposite and cancelling groups."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.dcgd_projection import DCGDProjection
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, EDGE, PAIR, TOY, Case, gradients

WIDE = np.array([[3.0, 0.0], [-1.0, 1.0]])


@BEHAVIOUR
def test_behaviour_with_two_residuals(behaves: Any) -> None:
    behaves(Case(DCGDProjection(residual=(1, 3))))


@pytest.mark.parametrize(
    ("G", "update"),
    [
        (WIDE, (1.5, 1.5)),
        (WIDE[::-1], (1.5, 1.5)),
        (PAIR, (2, 2)),
        (TOY, TOY.sum(axis=0)),
        (EDGE, EDGE.sum(axis=0)),
        (CONFLICT, (1.5, 0, 2, 2)),
    ],
)
def test_vectors(G: np.ndarray, update: Any) -> None:
    np.testing.assert_allclose(DCGDProjection().combine(G).update, update, atol=1e-8)


def test_never_increases_a_group() -> None:
    for seed in range(30):
        G = gradients(seed) * np.array([[30.0], [1], [1], [1]])
        d = DCGDProjection().combine(G).update
        assert G[0] @ d >= -1e-12
        assert G[1:].sum(axis=0) @ d >= -1e-12 * (d @ d)


@pytest.mark.parametrize("length", [1.0, 2.0])
def test_opposite_groups_are_stationary(length: float) -> None:
    out = DCGDProjection().combine(np.array([[1.0, 2, 3], [-length, -2 * length, -3 * length]]))
    assert out.status == Status.STATIONARY
    assert not out.update.any()


def test_a_group_that_cancels_is_left_out() -> None:
    out = DCGDProjection().combine(np.array([[1.0, 2, 3], [0.1, 0.2, 0.7], [-0.1, -0.2, -0.7]]))
    assert out.status == Status.REDUCED
    np.testing.assert_allclose(out.update, (1, 2, 3), rtol=1e-14)


def test_residual_is_checked() -> None:
    with pytest.raises(IncenterError, match="distinct rows"):
        DCGDProjection(residual=(0, 0))
    with pytest.raises(IncenterError, match="some but not all of the 4 gradients"):
        DCGDProjection(residual=(4,)).combine(gradients(0))
