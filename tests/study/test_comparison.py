"""Every rule on the same gradients."""

import numpy as np
import pytest

import incenter
from incenter.study.comparison import compare, unit
from incenter.study.examples import Gradients, by_name, toy, worked


def test_the_paper_s_example_against_equal_cosines() -> None:
    answers = {answer.method: answer for answer in compare(worked()).answers}
    best, equal = answers["chebyshev"].cosines, answers["config"].cosines
    assert best is not None
    assert equal is not None
    assert np.allclose(best, [1 / np.sqrt(2), 1 / np.sqrt(2), 2 * np.sqrt(2) / 3], atol=1e-12)
    assert np.allclose(equal, 1 / np.sqrt(3), atol=1e-12)
    assert np.all(best > equal)


def test_no_rule_is_deeper_than_the_center_which_comes_first() -> None:
    comparison = compare(toy())
    assert comparison.answers[0].method == "chebyshev"
    assert all(answer.radius <= comparison.centre.radius + 1e-12 for answer in comparison.answers)
    radii = [answer.radius for answer in comparison.answers if answer.note is None]
    assert radii == sorted(radii, reverse=True) or np.allclose(radii, sorted(radii, reverse=True), atol=1e-8)


def test_every_rule_has_an_answer_or_a_reason() -> None:
    answers = compare(toy()).answers
    assert sorted(answer.method for answer in answers) == incenter.methods.names()
    assert all((answer.note is None) == (answer.status is not None) for answer in answers)


def test_weights_give_the_update() -> None:
    source = toy()
    for answer in compare(source).answers:
        if answer.weights is not None and answer.direction is not None:
            assert np.allclose(answer.weights @ source.gradients, answer.length * answer.direction, atol=1e-12)


def test_a_rule_that_needs_losses_says_so() -> None:
    without = Gradients(toy().gradients, toy().names, "no losses")
    notes = {answer.method: answer.note for answer in compare(without, methods=["bgda", "sum"]).answers}
    assert notes["sum"] is None
    assert notes["bgda"] == "needs the values of the losses: store them as `losses`"


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e300])
def test_unit_vectors_of_any_length(scale: float) -> None:
    direction, length = unit(np.array([3.0, -4.0]) * scale)
    assert np.allclose(direction, [0.6, -0.8])
    assert length == pytest.approx(5 * scale)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_what_has_no_direction_gives_zeros(bad: float) -> None:
    assert unit(np.array([bad, 0.0]))[0].tolist() == [0.0, 0.0]


def test_examples_by_name() -> None:
    assert by_name("toy").names == ("g1", "g2", "g3")
    with pytest.raises(incenter.IncenterError, match=r"no example called 'tow'. There are: toy, worked, cone"):
        by_name("tow")
