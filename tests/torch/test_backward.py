"""What `backward` writes is what the rule gives for the matrix of gradients, and everything else is as in torch."""

import numpy as np
import pytest
import torch

import incenter
from incenter import Status
from incenter.torch import backward
from tests.torch.networks import Tasks, gradients_of, losses_of, points, written

GRAM_RULES = [name for name in incenter.methods.names() if incenter.methods.by_name(name).gram_only]


@pytest.mark.parametrize("memory", ["fast", "low"])
def test_the_update_is_the_rules_own(memory: str) -> None:
    model = Tasks()
    expected = incenter.methods.by_name("chebyshev").combine(
        gradients_of(losses_of(model, points()).values(), model.trunk.parameters())
    )
    record = backward(losses_of(model, points()), model.trunk.parameters(), memory=memory)
    update = written(model.trunk.parameters())
    assert np.abs(update - expected.update).max() <= 1e-12 * np.abs(expected.update).max()
    assert record.weights == pytest.approx(expected.weights, rel=1e-12)
    assert record.radius == pytest.approx(expected.radius, abs=1e-12)
    assert record.status is Status.OPTIMAL
    assert record.names == ("task0", "task1", "task2")


def test_heads_get_the_plain_summed_gradient() -> None:
    model = Tasks()
    heads = list(model.heads.parameters())
    expected = torch.autograd.grad(list(losses_of(model, points()).values()), heads, [torch.tensor(1.0).double()] * 3)
    backward(losses_of(model, points()), model.trunk.parameters())
    for head, gradient in zip(heads, expected, strict=True):
        torch.testing.assert_close(head.grad, gradient, rtol=1e-14, atol=0)
