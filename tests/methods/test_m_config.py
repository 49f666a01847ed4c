"""M-ConFIG: the printed events, its relation to ConFIG and Adam, turns."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.config import ConFIG
from incenter.methods.m_config import MConFIG
from incenter.methods.sum import Sum
from tests.methods.behaviour import LIBRARIES, assert_close, gradients

EVENTS = ((3.0, 0.0), (-1.0, 2.0), (3.0, 0.0), (-2.0, 5.0))
OUTPUTS = ((0, 0), (0.9999999931, 0.9999999957), (0.9999999931, 0.9999999957), (0.9545698559, 0.9703906202))


@pytest.mark.parametrize("compile_", [lambda f: f, jax.jit], ids=["plain", "jit"])
@pytest.mark.parametrize("others", [np.nan, 7.0])
def test_vector(others: float, compile_: Any) -> None:
    combine, state = compile_(MConFIG(turns="cyclic").combine), None
    for k, (event, expected) in enumerate(zip(EVENTS, OUTPUTS, strict=True)):
        G = np.full((2, 2), others)
        G[k % 2] = event
        out = combine(jnp.asarray(G), state=state)
        state = out.state
        assert_close(out.update, expected, rtol=1e-10)
        assert float(out.report["ready"]) == (k > 0)


@pytest.mark.parametrize("convert", LIBRARIES.values(), ids=LIBRARIES)
def test_first_step_is_the_sign_of_config(convert: Any) -> None:
    G = gradients(0)
    assert_close(MConFIG().combine(convert(G)).update, np.sign(ConFIG().combine(G).update), rtol=1e-6)


def test_constant_gradients_give_the_same_update_forever() -> None:
    state, rule, G = None, MConFIG(), gradients(1)
    for _ in range(5):
        out = rule.combine(G, state=state)
        state = out.state
    assert_close(out.update, rule.combine(G).update, rtol=1e-7)


def test_with_the_sum_as_direction_it_is_adam() -> None:
    state, first, second = None, np.zeros(7), np.zeros(7)
    for step in range(6):
        g = gradients(step).sum(axis=0)
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
        adam = first / (1 - 0.9 ** (step + 1)) / (np.sqrt(second / (1 - 0.999 ** (step + 1))) + 1e-8)
        out = MConFIG(direction=Sum()).combine(gradients(step), state=state)
        state = out.state
        assert_close(out.update, adam, rtol=1e-9)


def test_a_nan_out_of_turn_is_not_seen_and_in_turn_is() -> None:
    rule, G = MConFIG(turns="cyclic"), gradients(0)
    G[1, 0] = np.nan
    first = rule.combine(G)
    assert first.status != Status.NONFINITE
    assert rule.combine(G, state=first.state).status == Status.NONFINITE


def test_radius_is_about_the_gradient_whose_turn_it_is() -> None:
    rule, state, G = MConFIG(turns="cyclic"), None, gradients(2, count=2)
    for _ in range(2):
        out = rule.combine(G, state=state)
        state = out.state
    cosine = G[1] @ out.update / np.linalg.norm(G[1]) / np.linalg.norm(out.update)
    assert_close(out.radius, cosine, rtol=1e-12)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"turns": "random"}, "got 'random'"),
        ({"beta_1": 1.0}, r"`beta_1` must be in \[0, 1\); got 1.0"),
        ({"beta_2": -0.1}, "`beta_2`"),
        ({"eps": 0.0}, "`eps` must be positive"),
    ],
)
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        MConFIG(**fields)
