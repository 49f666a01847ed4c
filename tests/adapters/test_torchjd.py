"""TorchJD's structural properties, on matrices of its kinds, in single precision, ten times tighter than its own tests.

What is not claimed (linearity under scaling, strong stationarity) is replaced by what holds.
"""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torchjd.aggregation import GramianWeightedAggregator
from torchjd.autojac import backward, jac_to_grad

from incenter import IncenterError
from incenter.adapters.torchjd import ChebyshevCenter, ChebyshevCenterWeighting
from incenter.methods.chebyshev import Chebyshev
from tests.adapters.torchjd_matrices import NON_WEAK, SCALED, STRICTLY_WEAK, STRONG, TYPICAL

pytestmark = pytest.mark.slow

FROM_GRAMIAN = GramianWeightedAggregator(ChebyshevCenterWeighting())
SMOOTH = [ChebyshevCenter(), ChebyshevCenter(p=1.5), ChebyshevCenter(p=3.0)]
ALL_P = [*SMOOTH, ChebyshevCenter(p=1.0), ChebyshevCenter(p=math.inf), FROM_GRAMIAN]
NON_CONFLICTING, PERMUTATION = 4e-5, 1e-5  # TorchJD: 4e-4, 1e-4
assert len(TYPICAL) + len(SCALED) == 60


@pytest.mark.parametrize("aggregator", ALL_P, ids=repr)
def test_expected_structure(aggregator: Any) -> None:
    for matrix in TYPICAL + SCALED:
        vector = aggregator(matrix)
        assert vector.shape == matrix.shape[1:]
        assert vector.dtype == matrix.dtype
        assert vector.isfinite().all()
        assert not vector.requires_grad


@pytest.mark.parametrize("aggregator", ALL_P, ids=repr)
def test_non_conflicting(aggregator: Any) -> None:
    for matrix in TYPICAL:
        along = matrix @ aggregator(matrix)
        torch.testing.assert_close(along.clamp(min=0).norm(), along.norm(), atol=NON_CONFLICTING, rtol=NON_CONFLICTING)


@pytest.mark.parametrize("aggregator", ALL_P, ids=repr)
def test_permutation_invariant(aggregator: Any) -> None:
    generator = torch.Generator().manual_seed(0)
    for matrix in TYPICAL:
        vector = aggregator(matrix)
        for _ in range(5):
            permuted = aggregator(matrix[torch.randperm(matrix.shape[0], generator=generator)])
            torch.testing.assert_close(permuted, vector, atol=PERMUTATION, rtol=PERMUTATION)


@pytest.mark.parametrize("aggregator", ALL_P, ids=repr)
def test_zero_exactly_where_weakly_stationary(aggregator: Any) -> None:
    """In place of strong stationarity, by which the aggregation may vanish at strongly stationary matrices only.

    Rows of zeros are dropped: the rank 1 case of the strictly weak ones has them, and keeps a direction for the others.
    """
    for matrix in STRONG + STRICTLY_WEAK:
        if matrix.any(dim=1).all():
            # A Gramian in single precision is too coarse to tell r* from 0: there it is small.
            assert aggregator(matrix).norm() <= (1e-2 * matrix.norm() if aggregator is FROM_GRAMIAN else 0.0)
        else:
            live = matrix[matrix.any(dim=1)]
            assert (live @ aggregator(matrix) > 0).all()
    for matrix in NON_WEAK:
        assert aggregator(matrix).norm() > 1e-2  # TorchJD: 5e-3


@pytest.mark.parametrize("aggregator", ALL_P, ids=repr)
def test_scaling_a_row_does_not_turn_the_direction(aggregator: Any) -> None:
    """In place of linearity under scaling. What is linear is the length in a factor that all rows share."""
    generator = torch.Generator().manual_seed(0)
    for matrix in NON_WEAK:
        vector = aggregator(matrix)
        factors = 0.01 + torch.rand(matrix.shape[0], 1, generator=generator)
        turned = torch.nn.functional.cosine_similarity(vector, aggregator(factors * matrix), dim=0)
        assert turned > 1 - 1e-5
        torch.testing.assert_close(aggregator(8 * matrix), 8 * vector, atol=1e-5, rtol=1e-5)


def test_linearity_under_scaling_does_not_hold() -> None:
    """For two rows at a right angle the direction stays in the middle, whatever is made of the rows."""
    rows, aggregator = torch.eye(2), ChebyshevCenter()
    one, other = (aggregator(torch.diag(torch.tensor(scales)) @ rows) for scales in ([1.0, 3.0], [3.0, 1.0]))
    torch.testing.assert_close(one, torch.tensor([2.0, 2.0]))
    torch.testing.assert_close(other, one)
    gone = aggregator(torch.diag(torch.tensor([1.0, 0.0])) @ rows)
    torch.testing.assert_close(gone, torch.tensor([1.0, 0.0]))  # a row of zeros is dropped, not approached


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, math.inf])
def test_the_aggregator_is_the_rule(p: float) -> None:
    for matrix in NON_WEAK:
        expected = Chebyshev(p=p).combine(matrix.double().numpy()).update
        np.testing.assert_allclose(ChebyshevCenter(p=p)(matrix.double()).numpy(), expected, rtol=0, atol=1e-9)


def test_the_weighting_agrees_with_the_aggregator() -> None:
    for matrix in [matrix.double() for matrix in NON_WEAK]:
        weights = ChebyshevCenterWeighting()(matrix @ matrix.T)
        assert (weights >= 0).all()
        torch.testing.assert_close(weights @ matrix, ChebyshevCenter()(matrix), rtol=0, atol=1e-9)


@pytest.mark.parametrize("way", ["aggregator", "weighting", "gramian computed first"])
def test_a_step_through_autojac_decreases_every_loss(way: str) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3)).double()
    x, targets = torch.randn(50, 4).double(), torch.randn(50, 3).double() * torch.tensor([1.0, 100.0, 0.01])

    def losses() -> Any:
        return list(((model(x) - targets) ** 2).mean(dim=0))

    before = losses()
    backward(before)
    aggregator = ChebyshevCenter() if way == "aggregator" else FROM_GRAMIAN
    options = {"optimize_gramian_computation": True} if way == "gramian computed first" else {}
    jac_to_grad(model.parameters(), aggregator, **options)
    with torch.no_grad():
        for parameter in model.parameters():
            assert parameter.grad is not None
            parameter.sub_(parameter.grad, alpha=1e-9)
    for earlier, later in zip(before, losses(), strict=True):
        assert later < earlier


def test_not_a_number_gives_no_update() -> None:
    matrix = torch.tensor([[1.0, torch.nan], [1.0, 2.0]])
    assert torch.equal(ChebyshevCenter()(matrix), torch.zeros(2))
    assert torch.equal(ChebyshevCenterWeighting()(matrix @ matrix.T), torch.zeros(2))


def test_half_precision_stays_half() -> None:
    vector = ChebyshevCenter()(torch.eye(3, dtype=torch.bfloat16))
    torch.testing.assert_close(vector, torch.ones(3, dtype=torch.bfloat16))


def test_it_follows_the_conventions() -> None:
    aggregator, weighting = ChebyshevCenter(p=3.0), ChebyshevCenterWeighting()
    assert repr(aggregator) == "ChebyshevCenter(p=3.0, length='projection')"
    assert str(aggregator) == "ChebyshevCenter"
    assert repr(weighting) == "ChebyshevCenterWeighting(length='projection')"
    aggregator.p, aggregator.length, weighting.length = 4.0, "minimum", "arithmetic"
    assert (aggregator.p, aggregator.length, weighting.length) == (4.0, "minimum", "arithmetic")
    seen = []
    weighting.register_forward_hook(lambda _, __, weights: seen.append(weights))
    weighting(torch.eye(2))
    torch.testing.assert_close(seen[0], torch.ones(2))
    for bad in (0.5, math.nan):
        with pytest.raises(IncenterError, match=r"`p` must be in \[1, inf\]"):
            aggregator.p = bad
    with pytest.raises(IncenterError, match="`length` must be"):
        weighting.length = "long"
    with pytest.raises(ValueError, match="dimension 2"):
        aggregator(torch.ones(3))
