"""What every rule must do, over all of them by name: a new one is held to it without being told."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError
from incenter.methods import by_name, names
from tests.methods.behaviour import BEHAVIOUR, Case, gradients, numbers


def case_of(name: str) -> Case:
    """The rule with its defaults, given what it says it needs."""
    rule = by_name(name)
    return Case(rule, losses="losses" in rule.needs, key="key" in rule.needs, traces="traces" in rule.needs)


@BEHAVIOUR
@pytest.mark.parametrize("name", names())
def test_behaviour(behaves: Any, name: str) -> None:
    behaves(case_of(name))


@pytest.mark.parametrize("name", names())
def test_weights_make_the_update(name: str) -> None:
    """`weights` are on the raw gradients: update = weights @ G, wherever a rule is such a combination."""
    for seed, out in enumerate(case_of(name).run(np.asarray)):
        if out.weights is not None:
            np.testing.assert_allclose(out.weights @ gradients(seed), out.update, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", names())
def test_the_gram_matrix_alone_gives_the_same_weights(name: str) -> None:
    """A rule that says it needs no more keeps its word."""
    case, G = case_of(name), gradients(0)
    if case.rule.gram_only:
        rule: Any = case.rule
        expected = case.run(np.asarray, steps=1)[0].weights
        assert expected is not None
        np.testing.assert_allclose(rule.weights(G @ G.T, **case.inputs(0)).weights, expected, rtol=1e-9)


@pytest.mark.parametrize("name", names())
def test_radius_is_the_least_cosine(name: str) -> None:
    for seed, out in enumerate(case_of(name).run(np.asarray)):
        G = gradients(seed)
        if out.update.any():
            cosines = G @ out.update / (np.linalg.norm(G, axis=1) * np.linalg.norm(out.update))
            assert out.radius == pytest.approx(cosines.min(), abs=1e-13)


@pytest.mark.parametrize("name", names())
def test_the_same_call_gives_the_same_bits(name: str) -> None:
    for one, other in zip(case_of(name).run(np.asarray), case_of(name).run(np.asarray), strict=True):
        for a, b in zip(numbers(one), numbers(other), strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize(
    ("G", "sentence"),
    [
        (np.ones(3), r"shape \(m, n\).*got shape \(3,\)"),
        (np.ones((2, 0)), "no parameters"),
        ([["a", "b"]], "no matrix of numbers"),
        ("gradients", "got str"),
        (np.ones((2, 2)) * 1j, "real numbers; got dtype complex128"),
    ],
    ids=["rank", "no parameters", "strings", "a string", "complex"],
)
def test_bad_gradients_get_one_sentence(name: str, G: Any, sentence: str) -> None:
    with pytest.raises(IncenterError, match=sentence):
        case_of(name).rule.combine(G, **case_of(name).inputs(0, count=2))
