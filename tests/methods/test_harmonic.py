"""HARMONIC: printed vectors, its cone, its jump, and the two-loss theorem it shares with ConFIG and DCGD-center."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.geometry.rows import read_rows
from incenter.methods.harmonic import HARMONIC, unit_rays
from tests.methods.behaviour import CONFLICT, EDGE, PAIR, TOY, assert_close, gradients


@pytest.mark.parametrize(
    ("G", "weights", "update"),
    [
        (TOY, (0.52911392, 0.88185654, 2.64556962), (3.17468354, 5.11476793, 0.78875647)),
        (EDGE, (1, 1, 1), (1.66666667, 1.66666667, 0.33333333)),
        (CONFLICT, (0.80808707, 1.46072751, 0.88459102), (0.59774214, 0.49963255, 2.34531852, 1.69267809)),
        (PAIR, (0.87267800, 1.17082039), (1.44721360, 2.34164079)),
    ],
)
def test_vectors(G: np.ndarray, weights: Any, update: Any) -> None:
    out = HARMONIC().combine(G)
    assert_close(out.weights, weights, atol=1e-8)
    assert_close(out.update, update, atol=1e-8)


def test_rays() -> None:
    rows = read_rows(CONFLICT)
    rays, kept = unit_rays(rows.cosines)
    images = (rays[kept] / rows.norms) @ CONFLICT
    expected = [
        (-0.34760120, 0.43662102, 0.78846126, 0.25858138),
        (0.06295911, -0.59181565, 0.65477476, 0.46589742),
        (0.70296510, 0.50485675, 0.19810835, 0.46012261),
    ]
    distinct = np.unique(images.round(8), axis=0)
    np.testing.assert_allclose(distinct, expected, atol=1e-8)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8])
def test_inside_the_primal_and_the_dual_cone(count: int) -> None:
    for seed in range(3):
        G = gradients(seed, count) + 0.2
        out = HARMONIC().combine(G)
        if out.status == Status.STATIONARY:
            continue
        assert np.min(np.asarray(out.weights)) >= 0
        assert out.radius >= -1e-12


def test_without_conflicts_it_projects_on_the_mean_unit_gradient() -> None:
    G = np.abs(gradients(0))
    v = np.sum(G / np.linalg.norm(G, axis=1, keepdims=True), axis=0)
    np.testing.assert_allclose(HARMONIC().combine(G).update, np.sum(G @ v) * v / (v @ v), rtol=1e-12)


def test_direction_ignores_the_scale_of_a_loss() -> None:
    scaled = HARMONIC().combine(np.array([[1e-6], [1], [1e8]]) * CONFLICT).update
    plain = HARMONIC().combine(CONFLICT).update
    np.testing.assert_allclose(scaled / np.linalg.norm(scaled), plain / np.linalg.norm(plain), rtol=1e-11)


def test_jump_where_a_cosine_crosses_zero() -> None:
    """A slight conflict splits two rays of three into near copies, and they count twice."""
    conflict = TOY + np.array([[0.0, -5e-4, 0], [0, 0, 0], [0, 0, 0]])
    before, after = HARMONIC().combine(TOY), HARMONIC().combine(conflict)
    assert (before.report["rays"], after.report["rays"]) == (3, 5)
    np.testing.assert_allclose(
        before.update / np.linalg.norm(before.update), (0.52289360, 0.84243970, 0.12991396), atol=1e-8
    )
    np.testing.assert_allclose(after.update / np.linalg.norm(after.update), (0.59803, 0.79737, 0.08104), atol=1e-3)


def test_a_repeated_gradient_changes_nothing() -> None:
    out = HARMONIC().combine(np.vstack([CONFLICT, 2 * CONFLICT[1]]))
    plain = HARMONIC().combine(CONFLICT)
    np.testing.assert_allclose(
        out.update / np.linalg.norm(out.update), plain.update / np.linalg.norm(plain.update), rtol=1e-10
    )


def test_opposite_gradients_are_stationary() -> None:
    out = HARMONIC().combine(np.array([[1.0, 2, 3], [-2, -4, -6]]))
    assert out.status == Status.STATIONARY
    assert not out.update.any()


def test_too_many_losses_are_refused() -> None:
    with pytest.raises(IncenterError, match="at most 8 losses; got 9"):
        HARMONIC().combine(gradients(0, 9))
    with pytest.raises(IncenterError, match="at most 5 losses in JAX, where shapes are fixed; got 6"):
        jax.jit(HARMONIC().combine)(jnp.asarray(gradients(0, 6)))
