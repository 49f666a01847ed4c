"""MultiAdam: printed vectors, Adam as its special case, groups, scale invariance."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError
from incenter.methods.multiadam import MultiAdam
from tests.methods.behaviour import BEHAVIOUR, TOY, Case, assert_close, gradients


@BEHAVIOUR
def test_behaviour_in_groups(behaves: Any) -> None:
    behaves(Case(MultiAdam(groups=((0, 2), (1, 3)), beta_1=0.0)))


def test_vectors() -> None:
    one = MultiAdam().combine(TOY)
    two = MultiAdam().combine(2 * TOY, state=one.state)
    assert_close(one.update, (0.666666649, 0.666666662, 0.333333322), rtol=2e-9)
    assert_close(two.update, (0.632562018, 0.632562025, 0.316281007), rtol=2e-9)


def test_one_group_is_adam() -> None:
    rule = MultiAdam(groups=((0, 1, 2, 3),), beta_1=0.9, beta_2=0.999)
    state, first, second = None, np.zeros(7), np.zeros(7)
    for step in range(6):
        g = gradients(step).sum(axis=0)
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
        adam = first / (1 - 0.9 ** (step + 1)) / (np.sqrt(second / (1 - 0.999 ** (step + 1))) + 1e-8)
        out = rule.combine(gradients(step), state=state)
        state = out.state
        assert_close(out.update, adam, rtol=1e-10)


def test_first_step_is_the_mean_of_signs() -> None:
    G = gradients(0)
    assert_close(MultiAdam().combine(G).update, np.sign(G).mean(axis=0), atol=1e-6)


def test_scale_of_a_loss_does_not_matter() -> None:
    scale, a, b = np.array([[1.0], [1e4], [1e-3], [30.0]]), None, None
    rule = MultiAdam(eps=1e-300)
    for step in range(3):
        plain = rule.combine(gradients(step), state=a)
        scaled = rule.combine(scale * gradients(step), state=b)
        a, b = plain.state, scaled.state
        assert_close(scaled.update, plain.update, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("groups", [((0, 1),), ((0, 1), (1, 2, 3)), ((0, 1), (2, 9))])
def test_groups_must_name_every_row_once(groups: Any) -> None:
    with pytest.raises(IncenterError, match="`groups` must name each of the 4 rows of G once"):
        MultiAdam(groups=groups).combine(gradients(0))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"beta_1": 1.0}, r"`beta_1` must be in \[0, 1\); got 1.0"),
        ({"beta_2": -1.0}, "`beta_2`"),
        ({"eps": 0.0}, "`eps` must be positive"),
        ({"groups": ((0,), ())}, "Every group"),
    ],
)
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        MultiAdam(**fields)
