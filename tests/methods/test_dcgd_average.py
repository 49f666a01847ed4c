"""DCGD-average: printed vectors, the two groups, opposite and cancelling groups."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.dcgd_average import DCGDAverage
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, EDGE, PAIR, TOY, Case, gradients

WIDE = np.array([[3.0, 0.0], [-1.0, 1.0]])


@BEHAVIOUR
def test_behaviour_with_two_residuals(behaves: Any) -> None:
    behaves(Case(DCGDAverage(residual=(1, 3))))


@pytest.mark.parametrize(
    ("G", "update"),
    [
        (WIDE, (0.75, 1.25)),
        (WIDE[::-1], (0.75, 1.25)),
        (PAIR, (2, 2)),
        (TOY, TOY.sum(axis=0)),
        (EDGE, EDGE.sum(axis=0)),
        (CONFLICT, (1.5, 0, 2, 2)),
    ],
)
def test_vectors(G: np.ndarray, update: Any) -> None:
    np.testing.assert_allclose(DCGDAverage().combine(G).update, update, atol=1e-8)


def test_never_increases_a_group() -> None:
    for seed in range(30):
        G = gradients(seed) * np.array([[30.0], [1], [1], [1]])
        d = DCGDAverage().combine(G).update
        assert G[0] @ d >= -1e-12
        assert G[1:].sum(axis=0) @ d >= -1e-12 * (d @ d)


def test_jump_where_a_conflict_begins() -> None:
    """Where the sum is just orthogonal to the second gradient it gives way to the mean of two projections."""
    before = DCGDAverage().combine(np.array([[1.0, 1.0], [-1.0 - 1e-9, 0.0]])).update
    after = DCGDAverage().combine(np.array([[1.0, 1.0], [-1.0 + 1e-9, 0.0]])).update
    np.testing.assert_allclose(before, (0, 1), atol=1e-8)
    np.testing.assert_allclose(after, (-0.25, 0.75), atol=1e-8)


@pytest.mark.parametrize("length", [1.0, 2.0])
def test_opposite_groups_are_stationary(length: float) -> None:
    out = DCGDAverage().combine(np.array([[1.0, 2, 3], [-length, -2 * length, -3 * length]]))
    assert out.status == Status.STATIONARY
    assert not out.update.any()


def test_a_group_that_cancels_is_left_out() -> None:
    out = DCGDAverage().combine(np.array([[1.0, 2, 3], [0.1, 0.2, 0.7], [-0.1, -0.2, -0.7]]))
    assert out.status == Status.REDUCED
    np.testing.assert_allclose(out.update, (1, 2, 3), rtol=1e-14)


def test_residual_is_checked() -> None:
    with pytest.raises(IncenterError, match="distinct rows"):
        DCGDAverage(residual=(0, 0))
    with pytest.raises(IncenterError, match="some but not all of the 4 gradients"):
        DCGDAverage(residual=(4,)).combine(gradients(0))
