"""What theory says of a Chebyshev centre: one assertion per theorem.

`gradients` are NumPy arrays with no zero rows and `center` is what `chebyshev_center` gave for them; where a theorem
compares two problems, `solve(gradients, p)` solves both. Judged in extended precision by `tests.oracles`.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from incenter import ChebyshevCenter, Status
from tests.matrices import Floats, dual_exponent, dual_vector, norm
from tests.oracles import Bounds, Long, bounds, long_norm, unit_rows

Solve: TypeAlias = Callable[[Floats, float], ChebyshevCenter]


class Tolerances(NamedTuple):
    gap: float  # of r*: cosines, so absolute
    feasible: float  # from the simplex and the unit sphere: rounding n entries moves a norm by less than one rounding
    claim: float  # by which a claimed gap may be short of the true one: a few roundings
    bits: float  # of answers that theory says are equal: amplified by 1/r, which the assertions divide by


TOLERANCES = {
    np.dtype(np.float64): Tolerances(gap=1e-9, feasible=1e-12, claim=1e-15, bits=1e-12),
    np.dtype(np.float32): Tolerances(gap=1e-5, feasible=1e-6, claim=5e-7, bits=1e-6),
}


def assert_strong_duality(gradients: Floats, center: ChebyshevCenter, p: float) -> None:
    """max min u_i . v = min ||sum a_i u_i||_p: the answer's own two sides meet, and r* and the gap say where."""
    found, allowed = _bounds(gradients, center, p), TOLERANCES[gradients.dtype]
    assert found.gap <= allowed.gap
    assert found.gap <= center.gap + allowed.claim
    assert found.lower - allowed.gap <= center.radius <= found.upper + allowed.gap


def assert_direction_is_recovered(gradients: Floats, center: ChebyshevCenter, p: float) -> None:
    """1 < p < inf: v is the dual vector of w = sum a_i u_i, so w . v = ||w||_p; to within the gap over r."""
    allowed = TOLERANCES[gradients.dtype]
    w = np.asarray(center.weights) @ unit_rows(gradients, p)
    cosine = float(w @ center.direction / long_norm(w, p))
    assert cosine >= 1 - center.gap / center.radius - allowed.feasible


def assert_unit_direction(gradients: Floats, center: ChebyshevCenter, p: float) -> None:
    """||v||_q = 1."""
    assert _bounds(gradients, center, p).off_unit <= TOLERANCES[gradients.dtype].feasible


def assert_weights_on_the_simplex(gradients: Floats, center: ChebyshevCenter, p: float) -> None:
    """a >= 0 and sum a_i = 1, whatever the status."""
    assert _bounds(gradients, center, p).off_simplex <= TOLERANCES[gradients.dtype].feasible


def assert_non_conflicting(gradients: Floats, center: ChebyshevCenter, p: float) -> None:
    """r* > 0 gives u_i . v >= r* - gap > 0 for every loss."""
    found = _bounds(gradients, center, p)
    assert found.least > 0
    assert found.least >= center.radius - center.gap - TOLERANCES[gradients.dtype].claim


def assert_complementary_slackness(gradients: Floats, center: ChebyshevCenter, p: float) -> None:
    """a_i (u_i . v - r*) = 0, and the rows called active are those with u_i . v = r*, every weighted one among them."""
    allowed = TOLERANCES[gradients.dtype]
    excess = unit_rows(gradients, p) @ np.asarray(center.direction) - center.radius
    weights, active = np.asarray(center.weights), np.asarray(center.active)
    assert float(np.max(np.abs(weights * excess))) <= allowed.gap
    assert float(np.max(np.abs(excess[active]), initial=0)) <= allowed.gap
    assert float(np.max(weights[~active], initial=0)) <= allowed.gap / center.radius


def assert_stationary(gradients: Floats, center: ChebyshevCenter, p: float) -> None:
    """r* = 0: the status says so, there is no direction, and the weights show the combination that vanishes."""
    assert center.status is Status.STATIONARY
    assert center.radius == 0
    assert not np.any(np.asarray(center.direction))
    assert _bounds(gradients, center, p).upper <= TOLERANCES[gradients.dtype].gap


def assert_permutation_equivariant(solve: Solve, gradients: Floats, p: float, order: Any) -> None:
    """Exchanging losses exchanges weights and leaves r* and v."""
    assert_same_center(solve(gradients, p), solve(gradients[order], p), gradients.dtype, p)


def assert_scale_invariant(solve: Solve, gradients: Floats, p: float, factors: Floats) -> None:
    """Losses times positive constants: r*, v and a stay. Powers of two round nothing."""
    assert_same_center(solve(gradients, p), solve(gradients * factors[:, None], p), gradients.dtype, p)


def assert_duplicates_change_nothing(solve: Solve, gradients: Floats, p: float, row: int) -> None:
    """A repeated row leaves the hull, so r* and v stay."""
    repeated = np.vstack([gradients, gradients[row]])
    assert_same_center(solve(gradients, p), solve(repeated, p), gradients.dtype, p)


def assert_rotation_equivariant(solve: Solve, gradients: Floats, rotation: Floats) -> None:
    """p = 2: turning the gradients turns v and leaves r*."""
    center = solve(gradients, 2.0)
    turned = solve((gradients @ rotation).astype(gradients.dtype), 2.0)
    back = turned._replace(direction=np.asarray(turned.direction) @ rotation.T)
    assert_same_center(center, back, gradients.dtype, 2.0)


def assert_same_center(one: ChebyshevCenter, other: ChebyshevCenter, dtype: np.dtype[Any], p: float) -> None:
    """Equal r*, and for 1 < p < inf, where v is unique, equal v.

    With a gap g, v# . v' >= 1 - g/r; for p = 2 that is |v - v'|^2 <= 2 g/r, and answers are better than that bound.
    """
    allowed = TOLERANCES[dtype]
    assert one.status is other.status
    assert abs(one.radius - other.radius) <= (allowed.bits if p == 2 else allowed.gap)
    if 1 < p < math.inf and one.radius > 0:
        v, w = np.asarray(one.direction, np.float64), np.asarray(other.direction, np.float64)
        cosine = dual_vector(v, dual_exponent(p)) @ w / norm(w, dual_exponent(p))
        assert cosine >= 1 - (one.gap + other.gap + allowed.bits) / one.radius
        if p == 2:
            assert norm(v - w, 2) <= allowed.bits / one.radius


def _bounds(gradients: Floats, center: ChebyshevCenter, p: float) -> Bounds:
    units: Long = unit_rows(gradients, p)
    return bounds(units, np.asarray(center.weights), np.asarray(center.direction), p)
