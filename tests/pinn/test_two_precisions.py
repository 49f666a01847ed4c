"""One process trains in single and in double precision in turn, as a worker of a study does: nothing of one is left."""

import pytest

import incenter
from incenter.pinn import problems, train


def _alternately(problem: str, method: str) -> None:
    thetas = [
        train(problem, method=method, lr=1e-4, steps=2, record_every=1, precision=precision).theta
        for precision in (32, 64, 32, 64)
    ]
    for first, again in (thetas[::2], thetas[1::2]):
        assert first.dtype == again.dtype
        assert (first == again).all()


def test_both_precisions_of_the_rule_that_indexes_by_an_array() -> None:
    _alternately("burgers", "harmonic")


@pytest.mark.slow
@pytest.mark.parametrize("problem", problems.names())
def test_both_precisions_of_every_problem(problem: str) -> None:
    _alternately(problem, "sum")


@pytest.mark.slow
@pytest.mark.parametrize("method", [name for name in incenter.methods.names() if name != "harmonic"])
def test_both_precisions_of_every_rule(method: str) -> None:
    _alternately("burgers", method)
