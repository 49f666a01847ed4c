"""DCGD-center: printed vectors, the two groups, opposite and cancelling groups."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.dcgd_center import DCGDCenter
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, EDGE, PAIR, TOY, Case, gradients

WIDE = np.array([[3.0, 0.0], [-1.0, 1.0]])


@BEHAVIOUR
def test_behaviour_with_two_residuals(behaves: Any) -> None:
    behaves(Case(DCGDCenter(residual=(1, 3))))


@pytest.mark.parametrize(
    ("G", "update"),
    [
        (WIDE, (0.64644661, 1.56066017)),
        (PAIR, (1.44721360, 2.34164079)),
        (TOY, (4.70143419, 4.45631761, 0.33778404)),
        (EDGE, (1.92877845, 1.28976880, 0.25795376)),
        (CONFLICT, (1.52567175, 0.02041241, 1.97979590, 2.00020831)),
    ],
)
def test_vectors(G: np.ndarray, update: Any) -> None:
    np.testing.assert_allclose(DCGDCenter().combine(G).update, update, atol=1e-8)


def test_same_cosine_to_both_groups() -> None:
    for seed in range(20):
        G = gradients(seed)
        d = DCGDCenter(residual=(1, 3)).combine(G).update
        groups = np.stack([G[[1, 3]].sum(axis=0), G[[0, 2]].sum(axis=0)])
        cosines = groups @ d / np.linalg.norm(groups, axis=1)
        assert cosines[0] == pytest.approx(cosines[1], rel=1e-10)
        assert G.sum(axis=0) @ d == pytest.approx(d @ d, rel=1e-10)


def test_other_lengths_are_those_of_the_groups() -> None:
    shortest = DCGDCenter(length="minimum").combine(WIDE)
    np.testing.assert_allclose(np.linalg.norm(shortest.update), 2 * 2**0.5 * shortest.radius, rtol=1e-13)


@pytest.mark.parametrize("length", [1.0, 2.0])
def test_opposite_groups_are_stationary(length: float) -> None:
    out = DCGDCenter().combine(np.array([[1.0, 2, 3], [-length, -2 * length, -3 * length]]))
    assert out.status == Status.STATIONARY
    assert not out.update.any()


def test_a_group_that_cancels_is_left_out() -> None:
    out = DCGDCenter().combine(np.array([[1.0, 2, 3], [0.1, 0.2, 0.7], [-0.1, -0.2, -0.7]]))
    assert out.status == Status.REDUCED
    np.testing.assert_allclose(out.update, (1, 2, 3), rtol=1e-14)


def test_residual_is_checked() -> None:
    with pytest.raises(IncenterError, match="distinct rows"):
        DCGDCenter(residual=(0, 0))
    with pytest.raises(IncenterError, match="some but not all of the 4 gradients"):
        DCGDCenter(residual=(4,)).combine(gradients(0))
