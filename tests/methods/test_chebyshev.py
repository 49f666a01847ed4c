"""The Chebyshev rule: printed updates for every p, the length identity, and who it equals for two losses."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from incenter import IncenterError, Status, chebyshev_center
from incenter.methods import Rule
from incenter.methods.chebyshev import Chebyshev
from incenter.methods.config import ConFIG
from incenter.methods.dcgd_center import DCGDCenter
from incenter.methods.gapo import GAPO
from incenter.methods.harmonic import HARMONIC
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, EDGE, PAIR, TOY, Case, gradients, zero_row_is_reported

INFINITY = float("inf")


@BEHAVIOUR
def test_behaviour_of_another_norm(behaves: Any) -> None:
    behaves(Case(Chebyshev(p=3.0)))


@BEHAVIOUR
def test_behaviour_of_frank_wolfe(behaves: Any) -> None:
    if behaves is not zero_row_is_reported:  # its open gap is reported before that
        behaves(Case(Chebyshev(iterations=20)))


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0, 4.0])
def test_frank_wolfe_comes_closer_with_more_steps_and_says_how_close_it_is(p: float) -> None:
    for seed in range(5):
        G = gradients(seed, count=3)
        exact = Chebyshev(p=p).combine(G)
        found = [Chebyshev(p=p, iterations=steps, tolerance=0.0).combine(G) for steps in (1, 20, 2000)]
        gaps = [each.report["gap"] for each in found]
        assert gaps[0] >= gaps[1] >= gaps[2]
        for each in found:  # r* lies between the bounds
            assert each.report["r*"] - each.report["gap"] - 1e-12 <= exact.report["r*"] <= each.report["r*"] + 1e-12
        assert found[-1].report["gap"] < 5e-3
        length = np.linalg.norm(exact.update)
        assert np.linalg.norm(found[-1].update - exact.update) <= 0.1 * length


def test_frank_wolfe_stops_at_its_tolerance() -> None:
    out = Chebyshev(iterations=10_000, tolerance=1e-2).combine(EDGE)
    assert 1e-3 < out.report["gap"] <= 1e-2
    assert out.status == Status.REDUCED


@pytest.mark.parametrize("p", [1.5, 2.0, 4.0])
def test_frank_wolfe_runs_inside_jit(p: float) -> None:
    rule = Chebyshev(p=p, iterations=20)
    for G in (gradients(0, count=3), np.vstack([gradients(1, count=2), np.zeros((1, 7))])):
        inside = jax.jit(lambda G: rule.combine(G).update)(jnp.asarray(G))
        np.testing.assert_allclose(inside, rule.combine(G).update, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("G", "p", "update"),
    [
        (TOY, 2, (4.56666667, 4.56666667, 0)),
        (EDGE, 2, (1.66666667, 1.66666667, 0)),
        (CONFLICT, 2, (0.54505428, 0.48960758, 2.35341785, 1.67010582)),
        (PAIR, 2, (1.44721360, 2.34164079)),
        (TOY, 1.5, (5.75363946, 5.75363946, 0)),
        (EDGE, 1.5, (2.09986842, 2.09986842, 0)),
        (CONFLICT, 1.5, (0.58258841, 0.62544608, 2.94838941, 2.31748560)),
        (PAIR, 1.5, (1.62795492, 2.80599260)),
        (TOY, 3, (3.62456574, 3.62456574, 0)),
        (EDGE, 3, (1.32283421, 1.32283421, 0)),
        (CONFLICT, 3, (0.43740686, 0.35005531, 1.71637360, 1.20856667)),
        (PAIR, 3, (1.22212202, 1.88211913)),
        (TOY, 4, (3.22912097, 3.22912097, 0)),
        (EDGE, 4, (1.17851130, 1.17851130, 0)),
        (CONFLICT, 4, (0.37470562, 0.28483749, 1.41837344, 1.04497444)),
        (PAIR, 4, (1.10889206, 1.68027264)),
        (TOY, 1, (9.43147573, 9.43147573, 9.43147573)),
        (EDGE, 1, (3.66666667, 3.66666667, 3.66666667)),
        (TOY, INFINITY, (2.28333333, 2.28333333, 0)),
        (EDGE, INFINITY, (0.83333333, 0.83333333, 0)),
        (CONFLICT, INFINITY, (0, 0.16528926, 0.49586777, 1.15702479)),
    ],
)
def test_vectors(G: np.ndarray, p: float, update: Any) -> None:
    np.testing.assert_allclose(Chebyshev(p=p).combine(G).update, update, atol=1e-8)


@pytest.mark.parametrize(
    ("G", "weights"),
    [
        (TOY, (0.91333333, 1.52222222, 0)),
        (EDGE, (1.66666667, 1.66666667, 0)),
        (CONFLICT, (0.78662680, 1.46993882, 0.88347902)),
        (PAIR, (0.87267800, 1.17082039)),
    ],
)
def test_weights_on_the_raw_gradients(G: np.ndarray, weights: Any) -> None:
    np.testing.assert_allclose(np.asarray(Chebyshev().combine(G).weights), weights, atol=1e-8)


@pytest.mark.parametrize("p", [1.0, 1.5, 3.0, INFINITY])
def test_other_norms_have_no_weights(p: float) -> None:
    assert not Chebyshev(p=p).gram_only
    assert Chebyshev(p=p).combine(CONFLICT).weights is None
    with pytest.raises(IncenterError, match="needs the gradients themselves unless p=2"):
        Chebyshev(p=p).weights(CONFLICT @ CONFLICT.T)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, INFINITY])
def test_update_is_the_direction_times_the_summed_inner_products(p: float) -> None:
    """And so (sum_i g_i) . d = ||d||_q^2, which the convergence proof rests on."""
    q = {1.0: INFINITY, INFINITY: 1.0}.get(p) or p / (p - 1)
    for seed in range(10):
        G = gradients(seed)
        out, center = Chebyshev(p=p).combine(G), chebyshev_center(G, p)
        np.testing.assert_allclose(out.update, np.sum(G @ center.direction) * center.direction, rtol=1e-12, atol=1e-14)
        assert G.sum(axis=0) @ out.update == pytest.approx(np.linalg.norm(out.update, q) ** 2, rel=1e-12)
        assert out.report["r*"] == center.radius


@pytest.mark.parametrize("other", [ConFIG(), HARMONIC(), DCGDCenter()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("scales", [(1.0, 1.0), (1e-6, 3.0), (1e9, 1e-3)])
def test_four_rules_are_one_for_two_losses(other: Rule, scales: tuple[float, float]) -> None:
    """Equal updates, length included, to 1e-12; angles from 1 to 175 degrees.

    Nearer to opposite gradients the rules that work on cosines differ by more: one rounding of a weight moves the
    length of the update by a rounding over r*^2.
    """
    rng = np.random.default_rng(0)
    for angle in np.deg2rad(np.linspace(1, 175, 60)):
        pair = np.zeros((2, 6))
        pair[0, 0], pair[1, :2] = 1, (np.cos(angle), np.sin(angle))
        G = pair @ np.linalg.qr(rng.normal(size=(6, 6)))[0] * np.array(scales)[:, None]
        mine, theirs = Chebyshev().combine(G).update, other.combine(G).update
        assert np.linalg.norm(mine - theirs) <= 1e-12 * np.linalg.norm(mine)


def test_gapo_with_exponent_one_has_the_same_direction() -> None:
    for seed in range(10):
        mine, theirs = Chebyshev().combine(gradients(seed)), GAPO(1.0).combine(gradients(seed))
        if mine.status == Status.OPTIMAL:
            unit = theirs.update / np.linalg.norm(theirs.update)
            np.testing.assert_allclose(mine.update / np.linalg.norm(mine.update), unit, atol=1e-12)
            assert np.linalg.norm(theirs.update) == pytest.approx(mine.report["r*"], rel=1e-12)


@pytest.mark.parametrize("convert", [np.asarray, torch.tensor, jnp.asarray], ids=["numpy", "torch", "jax"])
def test_stationary_gives_no_update(convert: Any) -> None:
    out = Chebyshev().combine(convert(np.array([[1.0, 2.0], [-3.0, -6.0]])))
    assert out.status == Status.STATIONARY
    assert not np.asarray(out.update).any()
    assert not np.asarray(out.weights).any()
    assert out.report["r*"] == 0


def test_fields_are_checked() -> None:
    with pytest.raises(IncenterError, match=r"`p` must be in \[1, inf\]; got p=0.5"):
        Chebyshev(p=0.5)
    with pytest.raises(IncenterError, match=r"`length` must be one of projection, .*; got 'unit'"):
        Chebyshev(length="unit")
    with pytest.raises(IncenterError, match="Frank-Wolfe needs 1 < p < inf"):
        Chebyshev(p=1.0, iterations=20)
