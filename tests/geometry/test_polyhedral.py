"""The linear programs for p = 1 and inf: both sides of the radius, the choice among directions, large inputs."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from incenter.geometry import polyhedral
from incenter.geometry.polyhedral import PolyhedralAnswer, solve_polyhedral
from tests.matrices import SAMPLERS, Floats
from tests.oracles import bounds, unit_rows

POLYHEDRAL = (1.0, math.inf)
KINDS = sorted(SAMPLERS.keys() - {"empty", "all_zero", "nonfinite_row", "zero_row", "subnormal", "scales"})
both = pytest.mark.parametrize("p", POLYHEDRAL)


def units(gradients: Floats, p: float) -> NDArray[np.float64]:
    return np.asarray(unit_rows(gradients, p), dtype=np.float64)


def radius(answer: PolyhedralAnswer, gradients: Floats, p: float) -> float:
    """r*, after checking that the answer proves it from both sides."""
    proved = bounds(unit_rows(gradients, p), answer.weights, answer.direction, p)
    assert answer.solved
    assert proved.gap <= 1e-9
    assert proved.off_simplex <= 1e-14
    assert not answer.direction.any() or proved.off_unit <= 1e-14
    return proved.upper


def draw(kind: str, seed: int, p: float) -> Floats:
    """Gradients of a kind, without rows that the solver is never given, and each scaled to size about 1."""
    G = SAMPLERS[kind](np.random.default_rng(seed), p).gradients
    G = G if G.dtype.char in "fd" else G.astype(np.float64)
    G = G[np.isfinite(G).all(axis=1) & G.any(axis=1)]
    return np.asarray(np.ldexp(G, -np.frexp(np.abs(G).max(axis=1))[1][:, None]))


def small(kind: str, seed: int, p: float) -> Floats:
    """The first rows, and of the columns those of the largest entries."""
    G = draw(kind, seed, p)[:12]
    largest = np.argsort(-np.abs(G).max(axis=0), kind="stable")[:60]
    return G[:, np.sort(largest)]


TOY = [[5, 0, 0], [0, 3, 0], [1 / 5, 14 / 15, 2 * math.sqrt(5) / 15]]
EDGE = [[1, 0, 0], [0, 1, 0], [2 / 3, 2 / 3, 1 / 3]]
CONFLICT = [[2, 1, 0, 1], [-1, 1, 1, 0], [0.5, -2, 1, 1]]


@pytest.mark.parametrize(
    ("rows", "p", "expected", "direction"),
    [
        (TOY, 1, 1, [1, 1, 1]),
        (EDGE, 1, 1, [1, 1, 1]),
        (CONFLICT, 1, 4 / 11, [4 / 33, 7 / 33, 1, 1]),
        (TOY, math.inf, 1 / 2, [1 / 2, 1 / 2, 0]),
        (EDGE, math.inf, 1 / 2, [1 / 2, 1 / 2, 0]),
        (CONFLICT, math.inf, 4 / 11, [0, 1 / 11, 3 / 11, 7 / 11]),
        ([[-3.0]], 1, 1, [-1]),
        ([[-3.0]], math.inf, 1, [-1]),
        ([[1, 2, 0]], 1, 1, [1, 1, 0]),
        ([[2, -2, 1]], math.inf, 1, [1 / 2, -1 / 2, 0]),
        ([[1, 2], [-1, -2]], 1, 0, [0, 0]),
        ([[1, 2], [-1, -2]], math.inf, 0, [0, 0]),
        ([[1], [-2]], 1, 0, [0]),
        (np.eye(4), 1, 1, [1, 1, 1, 1]),
        (np.eye(4), math.inf, 1 / 4, [1 / 4, 1 / 4, 1 / 4, 1 / 4]),
    ],
)
def test_known_answers(rows: list[list[float]], p: float, expected: float, direction: list[float]) -> None:
    G = np.array(rows, dtype=np.float64)
    answer = solve_polyhedral(G, p)
    assert radius(answer, G, p) == pytest.approx(expected, abs=1e-13)
    np.testing.assert_allclose(answer.direction, direction, atol=1e-12)


@both
def test_columns_that_are_next_to_nothing(p: float) -> None:
    G = np.array([[1.0, 1e-300, 5e-324], [0.5, 5e-324, -1e-310], [1e-310, 1.0, 1e-308]])
    with_them, without = solve_polyhedral(G, p), solve_polyhedral(np.where(np.abs(G) < 1e-200, 0.0, G), p)
    assert radius(with_them, G, p) == pytest.approx(radius(without, G, p), abs=1e-12)


def test_known_weights() -> None:
    G = np.array(CONFLICT)
    np.testing.assert_allclose(solve_polyhedral(G, 1).weights, np.array([2, 4.5, 4.5]) / 11, atol=1e-13)
    np.testing.assert_allclose(solve_polyhedral(G, math.inf).weights, np.array([6, 3, 2]) / 11, atol=1e-13)


@both
@pytest.mark.parametrize("kind", KINDS)
def test_both_sides_of_the_radius_meet(kind: str, p: float) -> None:
    for seed in range(3):
        G = draw(kind, seed, p)
        radius(solve_polyhedral(G, p), G, p)


def least_norm_of_hull(U: Floats, p: float) -> float:
    """min ||sum a_i u_i||_p as its own linear program, with a bound t_j (p = 1) or t (p = inf) on every |w_j|."""
    m, n = U.shape
    t = -np.eye(n) if p == 1 else -np.ones((n, 1))
    k = t.shape[1]
    answer = linprog(
        np.append(np.zeros(m), np.ones(k)),
        A_ub=np.block([[U.T, t], [-U.T, t]]),
        b_ub=np.zeros(2 * n),
        A_eq=np.append(np.ones(m), np.zeros(k))[None],
        b_eq=np.ones(1),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert answer.fun is not None
    return float(answer.fun)


@both
@pytest.mark.parametrize("kind", ["gaussian", "integer_ties", "sign_ties", "one_hot", "duplicates", "klee_minty"])
def test_radius_is_that_of_the_other_program(kind: str, p: float) -> None:
    for seed in range(6):
        G = small(kind, seed, p)
        assert radius(solve_polyhedral(G, p), G, p) == pytest.approx(least_norm_of_hull(units(G, p), p), abs=1e-9)


@both
@pytest.mark.parametrize(
    "kind", ["needle", "needle_face", "integer_ties", "opposite_pair", "near_opposite", "rank_one"]
)
def test_planted_radius(kind: str, p: float) -> None:
    for seed in range(8):
        sample = SAMPLERS[kind](np.random.default_rng(seed), p)
        G = sample.gradients
        if sample.radius is None or G.dtype != np.float64:
            continue
        assert radius(solve_polyhedral(G, p), G, p) == pytest.approx(sample.radius, abs=1e-9)


def smallest_on_face(U: Floats, p: float, least: float, objective: Floats) -> float:
    """min objective.v over the v of the dual ball with u_i.v >= least; v = v+ - v-."""
    m, n = U.shape
    ball = np.ones((1, 2 * n)) if p > 1 else np.zeros((1, 2 * n))
    answer = linprog(
        np.concatenate([objective, -objective]),
        A_ub=np.vstack([np.hstack([-U, U]), ball]),
        b_ub=np.append(np.full(m, -least), 1.0),
        bounds=(0, 1),
        method="highs",
    )
    assert answer.fun is not None
    return float(answer.fun)


@both
@pytest.mark.parametrize("kind", ["gaussian", "integer_ties", "sign_ties", "one_hot", "duplicates", "sparse"])
def test_no_optimal_direction_is_shorter(kind: str, p: float) -> None:
    """v is the point of least norm of a convex set iff v.v' >= v.v for all its v'. The solver's feasibility is 1e-7."""
    for seed in range(6):
        G = small(kind, seed, p)
        U = units(G, p)
        v = solve_polyhedral(G, p).direction
        if not v.any():
            continue
        assert smallest_on_face(U, p, float(np.min(U @ v)), v) >= v @ v - 1e-6


@both
@pytest.mark.parametrize("kind", ["gaussian", "integer_ties", "sign_ties", "one_hot", "duplicates", "heavy_tailed"])
def test_direction_ignores_order_and_scale_of_the_rows(kind: str, p: float) -> None:
    for seed in range(6):
        G = small(kind, seed, p).astype(np.float64)
        rng = np.random.default_rng(seed)
        v = solve_polyhedral(G, p).direction
        np.testing.assert_array_equal(v, solve_polyhedral(G, p).direction)
        scales = np.ldexp(1.0, rng.integers(-20, 20, len(G)))[:, None]
        np.testing.assert_array_equal(v, solve_polyhedral(G * scales, p).direction)
        np.testing.assert_allclose(solve_polyhedral(rng.permutation(G), p).direction, v, atol=1e-9)


@both
@pytest.mark.parametrize("kind", ["gaussian", "heavy_tailed", "sign_ties", "needle"])
def test_rounds_over_few_columns_agree_with_the_whole_program(
    kind: str, p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(4):
        G = small(kind, seed, p)
        whole = radius(solve_polyhedral(G, p), G, p)
        with monkeypatch.context() as few:
            few.setattr(polyhedral, "FIRST_COLUMNS", 2)
            few.setattr(polyhedral, "FIRST_COLUMNS_PER_ROW", 0)
            few.setattr(polyhedral, "MORE_COLUMNS", 3)
            few.setattr(polyhedral, "MORE_COLUMNS_PER_ROW", 0)
            assert radius(solve_polyhedral(G, p), G, p) == pytest.approx(whole, abs=1e-9)


def gaussian(rng: np.random.Generator, m: int, n: int) -> Floats:
    return rng.standard_normal((m, n)) + 0.3 * rng.standard_normal(n)


def heavy_tailed(rng: np.random.Generator, m: int, n: int) -> Floats:
    return gaussian(rng, m, n) * np.exp(3 * rng.standard_normal(n))


def nearly_stationary(rng: np.random.Generator, m: int, n: int) -> Floats:
    G = rng.standard_normal((m, n))
    return np.asarray(G - G.mean(axis=0) + 1e-4 * rng.standard_normal(n))


@both
@pytest.mark.parametrize("sample", [gaussian, heavy_tailed, nearly_stationary])
@pytest.mark.parametrize(("m", "n"), [(4, 20_000), (16, 3_000)])
def test_many_columns(sample: Callable[[np.random.Generator, int, int], Floats], m: int, n: int, p: float) -> None:
    G = sample(np.random.default_rng(0), m, n)
    answer = solve_polyhedral(G, p)
    radius(answer, G, p)
    reordered = solve_polyhedral(G[::-1], p)
    np.testing.assert_allclose(reordered.direction, answer.direction, atol=1e-9)


def test_all_losses_far_from_the_first_columns() -> None:
    """All that matters sits in columns which the first choice leaves out: the largest w_j, of one sign at the start."""
    rng = np.random.default_rng(0)
    G = np.hstack([1e-3 * rng.standard_normal((3, 5_000)), 1 + 5 * rng.standard_normal((3, 40))])
    for p in POLYHEDRAL:
        radius(solve_polyhedral(G, p), G, p)


@both
def test_a_failing_solver_is_owned_up_to(p: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polyhedral, "METHODS", ())
    answer = solve_polyhedral(np.array(CONFLICT), p)
    assert not answer.solved
    assert np.min(np.array(CONFLICT) @ answer.direction) > 0  # the centre for p = 2 helps out
    np.testing.assert_allclose(np.sum(answer.weights), 1)


@both
@pytest.mark.slow
@pytest.mark.parametrize("sample", [gaussian, heavy_tailed])
def test_a_million_columns(sample: Callable[[np.random.Generator, int, int], Floats], p: float) -> None:
    G = sample(np.random.default_rng(0), 4, 1_000_000).astype(np.float32)
    radius(solve_polyhedral(G, p), G, p)


@both
@pytest.mark.slow
@pytest.mark.parametrize("sample", [gaussian, heavy_tailed, nearly_stationary])
def test_many_rows_and_columns(sample: Callable[[np.random.Generator, int, int], Floats], p: float) -> None:
    G = sample(np.random.default_rng(0), 64, 10_000)
    radius(solve_polyhedral(G, p), G, p)
