"""The answers that the samplers claim, against other people's solvers and against extended precision."""

import math
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np
import pytest

from incenter import Status
from tests.matrices import CLEARLY_POSITIVE, NORMS, SAMPLERS, Floats, Sample, draw, dual_exponent, dual_vector, norm
from tests.oracles import bounds, solve, unit_rows

DRAWS = 40
TRUSTED_FROM = 1e-4  # the oracles work on squares: below it they say no more than "small"


def live(sample: Sample) -> Floats:
    rows = sample.gradients
    return rows[np.any(rows != 0, axis=1)]


def is_solvable(sample: Sample) -> bool:
    """Small enough for a linear program in 2 n unknowns, and not bad input."""
    rows = sample.gradients
    return live(sample).shape[0] > 0 and rows.shape[1] <= 2000 and bool(np.all(np.isfinite(rows)))


@pytest.mark.parametrize("kind", SAMPLERS)
def test_a_sample_is_a_function_of_seed_and_index(kind: str) -> None:
    first, again, other = draw(kind, 3, 5), draw(kind, 3, 5), draw(kind, 4, 5)
    assert first.kind == kind
    assert np.array_equal(first.gradients, again.gradients, equal_nan=True)
    assert (first.p, first.radius, first.statuses) == (again.p, again.radius, again.statuses)
    assert (
        first.gradients.size == 0 or not np.array_equal(first.gradients, other.gradients) or not first.gradients.any()
    )


@pytest.mark.parametrize("kind", SAMPLERS)
def test_claimed_radii_lie_between_the_oracles_bounds(kind: str) -> None:
    for index in range(DRAWS):
        sample = draw(kind, 0, index)
        if sample.radius is None or not is_solvable(sample):
            continue
        units = unit_rows(live(sample), sample.p)
        found = bounds(units, *solve(units.astype(np.float64), sample.p), sample.p)
        rounding = 4 * float(np.finfo(sample.dtype).eps) + 1e-14
        slack = rounding + (1e-7 if sample.p in (1, math.inf) else TRUSTED_FROM * rounding)  # HiGHS is feasible to 1e-7
        assert found.lower - slack <= sample.radius <= found.upper + slack, (kind, index, sample.p, found)
        if sample.p == 2 and sample.radius > TRUSTED_FROM:
            assert found.upper - sample.radius <= 1e-7 + rounding, (kind, index, found)


@pytest.mark.parametrize("kind", SAMPLERS)
def test_claimed_directions_are_unit_and_reach_the_radius(kind: str) -> None:
    for index in range(DRAWS):
        sample = draw(kind, 1, index)
        if sample.direction is None or sample.radius is None:
            continue
        eps = float(np.finfo(sample.dtype).eps)
        margins = unit_rows(live(sample), sample.p) @ sample.direction
        assert abs(norm(sample.direction, dual_exponent(sample.p)) - 1) < 1e-13
        assert float(margins.min()) >= sample.radius - 4 * eps, (kind, index)


def test_the_library_has_every_status_and_both_precisions() -> None:
    samples = [draw(kind, 0, index) for kind in SAMPLERS for index in range(DRAWS)]
    wanted = {status for sample in samples for status in sample.statuses}
    assert wanted == {Status.OPTIMAL, Status.STATIONARY, Status.ZERO_ROW, Status.NONFINITE, Status.EMPTY}
    assert {sample.dtype.name for sample in samples} == {"float64", "float32"}
    assert {sample.p for sample in samples} == set(NORMS)
    radii = [sample.radius for sample in samples if sample.radius is not None and sample.radius > 0]
    assert min(radii) < 1e-14
    assert sum(radius > CLEARLY_POSITIVE[np.dtype(np.float64)] for radius in radii) > len(radii) / 2


@pytest.mark.parametrize("p", sorted(set(NORMS)))
def test_the_dual_vector_attains_the_norm(p: float) -> None:
    x = np.random.default_rng(0).standard_normal((5, 30))
    dual = dual_vector(x, p)
    assert np.allclose(norm(dual, dual_exponent(p)), 1, atol=1e-14)
    assert np.allclose(np.sum(dual * x, axis=1), norm(x, p), rtol=1e-14)


@pytest.mark.parametrize("kind", SAMPLERS)
def test_claimed_radii_between_the_corners_against_an_interior_point_solver(kind: str) -> None:
    cvxpy: Any = import_module("cvxpy")  # its stubs know neither pnorm nor sum
    for sample in islice(filter(is_small_and_curved, (draw(kind, 0, index) for index in range(300))), 2):
        units = unit_rows(live(sample), sample.p).astype(np.float64)
        alpha = cvxpy.Variable(len(units), nonneg=True)
        problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.pnorm(units.T @ alpha, sample.p)), [cvxpy.sum(alpha) == 1])
        value = problem.solve(solver="CLARABEL")
        assert sample.radius == pytest.approx(value, abs=1e-6)


def is_small_and_curved(sample: Sample) -> bool:
    return sample.p in (1.5, 3.0) and (sample.radius or 0) > TRUSTED_FROM and sample.gradients.size < 400
