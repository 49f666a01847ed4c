"""Two thousand hard samples judged as the benchmark does, and the theorems on a few of them."""

from typing import Any

import numpy as np
import pytest

from benchmarks.adversarial import ADMITTED, Answer, judge, run_range, shortfalls, totals
from incenter import Status, chebyshev_center
from tests import properties
from tests.matrices import NORMS, SAMPLERS, Sample, draw

KINDS = tuple(SAMPLERS)
CHUNKS, CHUNK = 8, 250
SEED = 1
# One REDUCED in a chunk of 250 is more than 1 in 1,000, and no evidence of it; `shortfalls` starts at the second one.


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_nothing_is_wrong_on_hard_samples(chunk: int) -> None:
    report = run_range(KINDS, SEED, chunk * CHUNK, (chunk + 1) * CHUNK)
    failures = [failure for tally in report.values() for failure in tally.failures]
    assert not shortfalls(totals(report)), f"seed {SEED}:\n" + "\n".join(failures)


def healthy(p: float, count: int = 8) -> list[Sample]:
    """Samples whose conditioning leaves theory's equalities visible in the digits."""
    kinds = ("single", "leaning", "needle_face", "equiangular", "duplicates", "block_repeated", "low_rank")
    stream = (draw(kind, SEED, index) for index in range(400) for kind in kinds)
    chosen = (s for s in stream if s.p == p and s.gradients.shape[1] < 500)
    return [s for s, _ in zip(filter(is_well_inside, chosen), range(count), strict=False)]


def is_well_inside(sample: Sample) -> bool:
    return bool(chebyshev_center(sample.gradients, sample.p).radius > 0.01)


@pytest.mark.parametrize("p", sorted(set(NORMS)))
def test_theorems_of_one_answer(p: float) -> None:
    for sample in healthy(p):
        center = chebyshev_center(sample.gradients, p)
        properties.assert_strong_duality(sample.gradients, center, p)
        properties.assert_unit_direction(sample.gradients, center, p)
        properties.assert_weights_on_the_simplex(sample.gradients, center, p)
        properties.assert_non_conflicting(sample.gradients, center, p)
        properties.assert_complementary_slackness(sample.gradients, center, p)
        if 1 < p < np.inf:
            properties.assert_direction_is_recovered(sample.gradients, center, p)


@pytest.mark.parametrize("p", sorted(set(NORMS)))
def test_theorems_of_two_answers(p: float) -> None:
    rng = np.random.default_rng(0)
    for sample in healthy(p):
        gradients = sample.gradients
        m = len(gradients)
        properties.assert_permutation_equivariant(chebyshev_center, gradients, p, rng.permutation(m))
        properties.assert_scale_invariant(chebyshev_center, gradients, p, np.exp2(rng.integers(-9, 9, m)).astype("f4"))
        properties.assert_duplicates_change_nothing(chebyshev_center, gradients, p, int(rng.integers(m)))


def test_a_rotation_turns_the_direction() -> None:
    rng = np.random.default_rng(0)
    for sample in healthy(2.0):
        n = sample.gradients.shape[1]
        rotation = np.linalg.qr(rng.standard_normal((n, n)))[0]
        properties.assert_rotation_equivariant(chebyshev_center, sample.gradients.astype(np.float64), rotation)


@pytest.mark.parametrize("kind", ["opposite_pair", "many_rows"])
def test_radius_zero_is_called_stationary(kind: str) -> None:
    for index in range(10):
        sample = draw(kind, SEED, index)
        center = chebyshev_center(sample.gradients, sample.p)
        properties.assert_stationary(sample.gradients, center, sample.p)


class TestTheJudge:
    """The benchmark itself can fail: what is wrong on purpose is found."""

    sample = Sample(np.eye(3, 5), 2.0, 3**-0.5, statuses=frozenset({Status.OPTIMAL}))
    right = Answer(
        np.array([1.0, 1, 1, 0, 0]) / 3**0.5, np.full(3, 1 / 3), 3**-0.5, 1e-15, np.zeros(3, bool), Status.OPTIMAL
    )

    def faults(self, **changes: Any) -> str:
        return "; ".join(judge(self.sample, self.right._replace(**changes)).faults)

    def test_the_right_answer_passes(self) -> None:
        assert self.faults() == ""

    def test_poor_weights_are_a_gap(self) -> None:
        found = self.faults(weights=np.array([0.34, 0.33, 0.33]))
        assert "true gap" in found
        assert "claimed gap" in found

    def test_a_wrong_radius(self) -> None:
        assert "radius" in self.faults(radius=0.5773)

    def test_a_direction_of_another_length(self) -> None:
        assert "unit sphere" in self.faults(direction=2 * self.right.direction)

    def test_weights_off_the_simplex(self) -> None:
        assert "simplex" in self.faults(weights=np.full(3, 0.5))

    def test_stationary_where_descent_exists(self) -> None:
        found = self.faults(status=Status.STATIONARY, direction=np.zeros(5), radius=0.0, gap=1.0)
        assert "STATIONARY, but" in found
        assert "expected OPTIMAL" in found

    def test_a_live_row_dropped(self) -> None:
        assert "dropped rows [0]" in self.faults(dropped=np.array([True, False, False]))

    def test_a_direction_that_increases_a_loss(self) -> None:
        uphill = self.right._replace(direction=-self.right.direction, status=Status.REDUCED, gap=2.0)
        assert judge(self.sample, uphill).conflict
        assert not judge(self.sample, self.right).conflict

    def test_owning_up_is_no_fault(self) -> None:
        for status in ADMITTED:
            assert self.faults(status=status, weights=np.array([0.34, 0.33, 0.33]), gap=1e-2) == ""
