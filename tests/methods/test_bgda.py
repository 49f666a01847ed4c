"""BGDA: printed vectors, the mirror step against its definition, extreme losses."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from incenter import IncenterError, Status
from incenter.methods.bgda import BGDA
from tests.methods.behaviour import BEHAVIOUR, TOY, Case, assert_close, assert_equal


@BEHAVIOUR
def test_behaviour_of_the_adaptive_variant(behaves: Any) -> None:
    behaves(Case(BGDA(adaptive=True), losses=True))


def test_vectors() -> None:
    one = BGDA().combine(TOY, losses=(1.0, 2.0, 4.0))
    two = BGDA().combine(TOY, losses=(0.5, 2.0, 1.0), state=one.state)
    assert_close(one.weights, (0.28943311, 0.31987306, 0.39069383), rtol=2e-8)
    assert_close(two.weights, (0.27008494, 0.34676125, 0.38315381), rtol=2e-8)


def test_the_closed_form_solves_the_mirror_step() -> None:
    rule, losses = BGDA(rate=0.3, strength=0.7), np.array([1.0, 2.0, 0.5])
    before = rule.combine(TOY, losses=(1.0, 2.0, 4.0))
    pi = np.asarray(before.weights)

    def objective(x: np.ndarray) -> float:
        y = np.exp(x) / np.sum(np.exp(x))
        gradient = losses - rule.strength * (np.log(3 * pi) + 1)
        return float(-rule.rate * gradient @ y + np.sum(y * np.log(y / pi)))

    found = minimize(objective, np.zeros(3), tol=1e-14).x
    expected = np.exp(found) / np.sum(np.exp(found))
    after = rule.combine(TOY, losses=losses, state=before.state).weights
    # the strength's term is taken at pi, as in the closed form: pi^(1 - rate strength)
    assert_close(after, expected, rtol=1e-5)


def test_weights_settle_where_the_pull_balances_the_losses() -> None:
    rule, losses, state = BGDA(rate=0.5, strength=1.0), np.array([1.0, 2.0, 0.5]), None
    for _ in range(100):
        out = rule.combine(TOY, losses=losses, state=state)
        state = out.state
    assert_close(out.weights, np.exp(losses) / np.sum(np.exp(losses)), rtol=1e-12)


def test_a_constant_added_to_all_losses_changes_nothing() -> None:
    a = BGDA().combine(TOY, losses=(-1.0, 2.0, 4.0)).weights
    assert_close(BGDA().combine(TOY, losses=(9.0, 12.0, 14.0)).weights, a, rtol=1e-13)


def test_adaptive_weights_forget_the_unit_of_the_losses() -> None:
    losses = np.array([1.0, 2.0, 4.0])
    a, b = (BGDA(adaptive=True).combine(TOY, losses=scale * losses).weights for scale in (1.0, 1e4))
    assert_close(a, b, rtol=1e-6)


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_losses_give_numbers_and_do_no_lasting_harm(dtype: Any, adaptive: bool) -> None:
    rule, G, state = BGDA(adaptive=adaptive, decay=0.9), jnp.asarray(TOY, dtype=dtype), None
    for values in [(3e38, -3e38, 1.0)] * 2 + [(1.0, 1.0, 1.0)]:
        out = rule.combine(G, losses=np.asarray(values, dtype=dtype), state=state)
        state = out.state
        assert all(np.isfinite(np.asarray(leaf)).all() for leaf in (out.weights, *state))


@pytest.mark.parametrize("convert", [np.asarray, jnp.asarray])
def test_unusable_loss_leaves_the_state(convert: Any) -> None:
    state = BGDA().combine(convert(TOY), losses=(1.0, 2.0, 4.0)).state
    out = BGDA().combine(convert(TOY), losses=(1.0, np.nan, 4.0), state=state)
    assert out.status == Status.NONFINITE
    assert not np.asarray(out.update).any()
    assert_equal(out.state.log_weights, state.log_weights)


def test_losses_are_needed() -> None:
    with pytest.raises(IncenterError, match="BGDA needs `losses`; pass losses="):
        BGDA().combine(TOY)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rate": 0.0}, "`rate` must be positive"),
        ({"rate": 2.0, "strength": 1.0}, "their product at most 1; got rate=2.0, strength=1.0"),
        ({"decay": 1.0}, "`decay` must be in"),
        ({"eps": 0.0}, "`eps` must be positive"),
    ],
)
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        BGDA(**fields)
