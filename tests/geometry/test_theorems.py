"""The paper's propositions and theorems, on random gradients and on those made to break solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incenter import Status, chebyshev_center
from incenter.methods import by_name
from tests import properties
from tests.matrices import Floats
from tests.properties import assert_stationary

NORMS = (1.0, 1.5, 2.0, 3.0, float("inf"))
SMOOTH = (1.5, 2.0, 3.0)


def gaussian(seed: int, m: int, n: int, lean: float = 0.3) -> Floats:
    """Random gradients of very different lengths that mostly agree."""
    rng = np.random.default_rng(seed)
    rows: Floats = (rng.normal(size=(m, n)) + lean) * 10.0 ** rng.uniform(-3, 3, size=(m, 1))
    return rows


DESCENT = [gaussian(seed, m, n) for seed, (m, n) in enumerate([(2, 3), (3, 40), (5, 12), (8, 40), (13, 200)])]


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("gradients", DESCENT)
def test_strong_duality(gradients: Floats, p: float) -> None:
    properties.assert_strong_duality(gradients, chebyshev_center(gradients, p), p)


@pytest.mark.parametrize("p", SMOOTH)
@pytest.mark.parametrize("gradients", DESCENT)
def test_recovery_of_the_direction(gradients: Floats, p: float) -> None:
    properties.assert_direction_is_recovered(gradients, chebyshev_center(gradients, p), p)


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("gradients", DESCENT)
def test_feasibility_and_slackness(gradients: Floats, p: float) -> None:
    center = chebyshev_center(gradients, p)
    properties.assert_unit_direction(gradients, center, p)
    properties.assert_weights_on_the_simplex(gradients, center, p)
    properties.assert_non_conflicting(gradients, center, p)
    properties.assert_complementary_slackness(gradients, center, p)


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize(("m", "n", "seed"), [(2, 5, 0), (3, 7, 1), (6, 20, 2), (12, 30, 3)])
def test_radius_zero_is_pareto_stationarity(p: float, m: int, n: int, seed: int) -> None:
    """0 in the hull of the gradients gives r* = 0; moved out of it by a margin, r* is that margin or more."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(m))
    inside = rng.normal(size=(m, n))
    inside -= (weights @ inside) / (m * weights[:, None])  # now sum_i weights_i g_i = 0
    assert_stationary(inside, chebyshev_center(inside, p), p)
    moved = inside + np.linalg.norm(inside, axis=1).max() * np.eye(n)[0]
    assert chebyshev_center(moved, p).radius > 1e-3


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("gradients", DESCENT)
def test_symmetries(gradients: Floats, p: float) -> None:
    rng = np.random.default_rng(7)
    m = len(gradients)
    properties.assert_permutation_equivariant(chebyshev_center, gradients, p, rng.permutation(m))
    properties.assert_scale_invariant(chebyshev_center, gradients, p, 2.0 ** rng.integers(-20, 20, size=m))
    properties.assert_duplicates_change_nothing(chebyshev_center, gradients, p, int(rng.integers(m)))


@pytest.mark.parametrize("gradients", DESCENT)
def test_rotating_the_parameters(gradients: Floats) -> None:
    rotation, _ = np.linalg.qr(np.random.default_rng(8).normal(size=(gradients.shape[1], gradients.shape[1])))
    properties.assert_rotation_equivariant(chebyshev_center, gradients, rotation)


@given(seed=st.integers(0, 10**6), m=st.integers(2, 6), extra=st.integers(0, 10))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_dominance_over_config(seed: int, m: int, extra: int) -> None:
    """Where ConFIG's equalities can be met, no gradient has a smaller cosine with v than with ConFIG's direction."""
    gradients = np.random.default_rng(seed).normal(size=(m, m + extra))
    units = gradients / np.linalg.norm(gradients, axis=1)[:, None]
    config = by_name("config").combine(gradients)
    if config.report["residual"] > 1e-9:
        return
    equal = units @ (config.update / np.linalg.norm(config.update))
    ours = units @ chebyshev_center(gradients).direction
    assert np.all(ours >= equal - 1e-9)


@given(seed=st.integers(0, 10**6), log_r=st.floats(-12, 0), p=st.sampled_from(SMOOTH))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_the_radius_is_found_however_small(seed: int, log_r: float, p: float) -> None:
    """Two gradients r v# + t and r v# - t, with t . v = 0: by symmetry r* = r and the direction is v."""
    r = 10.0**log_r
    rng = np.random.default_rng(seed)
    half = rng.normal(size=20)
    along, across = np.append(np.abs(half), np.zeros(20)), np.append(np.zeros(20), half)
    along /= np.linalg.norm(along, p)
    across *= (1 - r**p) ** (1 / p) / np.linalg.norm(across, p)
    center = chebyshev_center(np.stack([r * along + across, r * along - across]), p)
    assert abs(center.radius - r) <= 1e-14
    assert center.gap <= 1e-12


def quadratics(seed: int) -> tuple[Floats, Floats, float]:
    """Three losses (x - c_i)^T A_i (x - c_i) / 2, and the smoothness of their sum in l_2."""
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(3, 6, 6))
    curvatures = roots @ roots.transpose(0, 2, 1) * np.array([1.0, 10.0, 0.1])[:, None, None]
    return curvatures, rng.normal(size=(3, 6)), float(np.linalg.eigvalsh(curvatures.sum(0))[-1])


@pytest.mark.parametrize("epsilon", [0.3, 0.03])
@pytest.mark.parametrize("seed", range(5))
def test_the_convergence_bound(seed: int, epsilon: float) -> None:
    """With step 1/beta: an epsilon-Pareto-stationary point, or min |grad L|^2 <= 2 beta (L_0 - L_*) / (epsilon^2 T)."""
    curvatures, centres, beta = quadratics(seed)
    x, steps = np.random.default_rng(seed + 100).normal(size=6) * 3, 200
    rule = by_name("chebyshev")
    totals, squares = [], []
    for _ in range(steps):
        gradients = np.einsum("kij,kj->ki", curvatures, x - centres)
        totals.append(float(np.einsum("ki,ki->", gradients, x - centres)) / 2)
        squares.append(float(gradients.sum(0) @ gradients.sum(0)))
        update = rule.combine(gradients)
        if update.status is Status.STATIONARY or update.report["r*"] <= epsilon:
            break
        x = x - update.update / beta
    assert np.all(np.diff(totals) <= 1e-12 * totals[0])  # every step descends on the sum
    if len(squares) == steps:
        assert min(squares) <= 2 * beta * (totals[0] - min(totals)) / (epsilon**2 * steps)
    else:
        assert chebyshev_center(gradients).radius <= epsilon
