"""ReLoBRaLo: printed vectors, invariances, the draw of the lookback, degenerate losses."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.relobralo import ReLoBRaLo, ReLoBRaLoState
from tests.methods.behaviour import BEHAVIOUR, TOY, Case, assert_close, assert_equal

LOSSES = ((1.0, 2.0, 4.0), (0.5, 2.0, 1.0), (0.4, 1.0, 1.0))


@BEHAVIOUR
@pytest.mark.parametrize("rule", [ReLoBRaLo(saudade=0.5), ReLoBRaLo(lookback="expected")], ids=["random", "expected"])
def test_behaviour(behaves: Any, rule: ReLoBRaLo) -> None:
    behaves(Case(rule, losses=True, key=rule.lookback == "random"))


def after(rules: list[ReLoBRaLo], losses: Any = LOSSES, key: Any = 0) -> Any:
    state = None
    for rule, values in zip(rules, losses, strict=False):
        out = rule.combine(TOY, losses=np.asarray(values), state=state, key=key)
        state = out.state
    return out


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        ((1,), (1, 1, 1)),
        ((1, 1), (0.993763395, 1.022153639, 0.984082966)),
        ((1, 1, 1), (0.994712905, 1.008559274, 0.996727821)),
        ((1, 1, 0), (1.011567003, 1.099504460, 0.888928538)),
    ],
)
def test_vectors(draws: tuple[int, ...], expected: tuple[float, ...]) -> None:
    out = after([ReLoBRaLo(saudade=rho) for rho in draws])
    assert_close(out.weights, expected, rtol=2e-9)


def test_expected_lookback_lies_between_the_draws() -> None:
    expected, *either = (
        after([ReLoBRaLo(saudade=1), ReLoBRaLo(saudade=1), last]).weights
        for last in (ReLoBRaLo(saudade=0.99, lookback="expected"), ReLoBRaLo(saudade=1), ReLoBRaLo(saudade=0))
    )
    assert_close(expected, 0.99 * either[0] + 0.01 * either[1], rtol=1e-13)


def test_weights_sum_to_m_and_forget_the_scale_of_a_loss() -> None:
    scaled = np.asarray(LOSSES) * [1.0, 1e3, 50.0]
    rules = [ReLoBRaLo(eps=1e-14, saudade=0.5)] * 3
    out = after(rules)
    assert_close(np.sum(out.weights), 3, rtol=1e-14)
    assert_close(after(rules, scaled).weights, out.weights, rtol=1e-10)


def test_the_same_key_draws_anew_at_each_step() -> None:
    """With lookback at once in half of the steps, both kinds of steps occur under one key."""
    losses = np.exp(np.random.default_rng(0).normal(size=(40, 3)))
    state, looked_back = None, []
    for values in losses:
        out, sure = (ReLoBRaLo(saudade=s).combine(TOY, losses=values, state=state, key=7) for s in (0.5, 1.0))
        state = out.state
        looked_back.append(not np.array_equal(np.asarray(out.weights), np.asarray(sure.weights)))
    assert 8 < sum(looked_back) < 32


def test_the_rate_of_lookbacks_is_the_probability() -> None:
    state = after([ReLoBRaLo()] * 2).state
    rule = ReLoBRaLo(saudade=0.9)
    G = jnp.asarray(TOY)
    state = jax.tree.map(jnp.asarray, state)
    sure = ReLoBRaLo(saudade=1.0).combine(G, jnp.asarray(LOSSES[2]), state, 0).weights
    weights = jax.vmap(lambda key: rule.combine(G, jnp.asarray(LOSSES[2]), state, key).weights)(jnp.arange(4000))
    share = np.mean(np.abs(np.asarray(weights) - sure).max(axis=1) > 1e-6)
    assert abs(share - 0.1) < 4 * (0.1 * 0.9 / 4000) ** 0.5


def test_zero_losses_give_numbers() -> None:
    out = after([ReLoBRaLo()] * 3, [(0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (0.0, 0.0, 0.0)])
    assert out.status == Status.OPTIMAL
    assert_close(np.sum(out.weights), 3, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_and_tiny_losses_give_numbers(dtype: Any) -> None:
    G, state = jnp.asarray(TOY, dtype=dtype), None
    for values in ((1e30, 1e-30, 1.0), (1e-30, 1e30, 1.0), (1e30, 1e30, 1e30)):
        out = ReLoBRaLo().combine(G, losses=np.asarray(values, dtype=dtype), state=state, key=0)
        state = out.state
        assert np.isfinite(np.asarray(out.weights)).all()


@pytest.mark.parametrize("convert", [np.asarray, jnp.asarray])
def test_unusable_loss_leaves_the_state(convert: Any) -> None:
    state: ReLoBRaLoState = ReLoBRaLo().combine(convert(TOY), losses=LOSSES[0], key=0).state
    out = ReLoBRaLo().combine(convert(TOY), losses=(1.0, np.inf, 1.0), state=state, key=0)
    assert out.status == Status.NONFINITE
    assert not np.asarray(out.update).any()
    assert_equal(out.state.previous, state.previous)
    assert out.state.step == 1


def test_no_key_is_said() -> None:
    with pytest.raises(IncenterError, match=r'has no key; pass key=0 .*or set lookback="expected"'):
        ReLoBRaLo().combine(TOY, losses=LOSSES[0])


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        (None, "ReLoBRaLo needs `losses`; pass losses=, one number per row of G"),
        ((1.0, 2.0), r"must hold one number per row of G, so have shape \(3,\); got shape \(2,\)"),
        ((1.0, -2.0, 1.0), "that are not negative; got -2"),
    ],
)
def test_losses_are_checked(losses: Any, message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        ReLoBRaLo().combine(TOY, losses=losses, key=0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rate": 1.5}, r"`rate` must be in \[0, 1\]; got 1.5"),
        ({"saudade": -0.1}, "`saudade`"),
        ({"temperature": 0.0}, "`temperature` must be positive"),
        ({"eps": 0.0}, "`eps` must be positive"),
        ({"lookback": "never"}, "got 'never'"),
    ],
)
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        ReLoBRaLo(**fields)
