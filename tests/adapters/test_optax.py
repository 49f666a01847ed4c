"""A rule in an optax chain: what comes out is the optimiser fed with the rule's update."""

import io
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from incenter import IncenterError
from incenter.adapters.optax import combine_gradients
from incenter.jax import value_and_update
from incenter.methods import Rule, by_name
from incenter.methods.relobralo import ReLoBRaLo
from incenter.methods.sum import Sum
from incenter.methods.upgrad import UPGrad

PARAMS = {"a": jnp.array([0.5, -1.0]), "b": jnp.array(2.0)}


def losses_fn(params: Any) -> dict[str, Any]:
    return {
        "near": jnp.sum((params["a"] - 1) ** 2) + params["b"] ** 2,
        "loud": 100 * jnp.sum((params["a"] + params["b"]) ** 2),
    }


def gradients(params: Any) -> dict[str, Any]:
    return {name: jax.grad(lambda at, name=name: losses_fn(at)[name])(params) for name in losses_fn(params)}


def stacked(params: Any) -> Any:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *gradients(params).values())


def chain(rule: Rule) -> Any:
    return optax.chain(combine_gradients(rule, count=2), optax.clip_by_global_norm(5.0), optax.adam(1e-2))


def train(rule: Rule, params: Any, state: Any, steps: int, form: Any = gradients) -> tuple[Any, Any]:
    optimizer = chain(rule)

    @jax.jit
    def step(params: Any, state: Any) -> tuple[Any, Any]:
        values = jnp.stack(list(losses_fn(params).values()))
        updates, state = optimizer.update(params, state, params, loss_grads=form(params), losses=values, unknown=1)
        return optax.apply_updates(params, updates), state

    for _ in range(steps):
        params, state = step(params, state)
    return params, state


@pytest.mark.parametrize("form", [gradients, stacked, lambda at: list(gradients(at).values())])
def test_the_optimiser_is_fed_with_the_update(form: Any) -> None:
    rule = UPGrad()
    found, state = train(rule, PARAMS, chain(rule).init(PARAMS), 5, form)
    plain = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(1e-2))
    params, plain_state = PARAMS, plain.init(PARAMS)
    out: Any = None
    for _ in range(5):
        _, out = value_and_update(losses_fn, rule)(params)
        updates, plain_state = plain.update(out.update, plain_state, params)
        params = optax.apply_updates(params, updates)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-11), found, params)
    assert state[0].radius == pytest.approx(out.radius, abs=1e-10)
    np.testing.assert_allclose(state[0].weights, list(out.weights.values()), rtol=1e-9)
    assert int(state[0].step) == 5


@pytest.mark.slow
def test_a_rule_that_draws_gives_the_same_run_for_the_same_seed() -> None:
    rule = by_name("relobralo", saudade=0.5)
    first = combine_gradients(rule, count=2).init(PARAMS)
    assert first.rule is not None
    runs = [train(rule, PARAMS, chain(rule).init(PARAMS), 5)[0] for _ in range(2)]
    jax.tree.map(np.testing.assert_array_equal, *runs)


def test_a_rule_with_state_survives_save_load_and_continue_bit_for_bit() -> None:
    rule = ReLoBRaLo()
    fresh = chain(rule).init(PARAMS)
    whole = train(rule, PARAMS, fresh, 12)
    half = train(rule, PARAMS, fresh, 7)
    file = io.BytesIO()
    np.savez(file, *[np.asarray(leaf) for leaf in jax.tree.leaves(half)])
    file.seek(0)
    with np.load(file) as saved:
        leaves = [jnp.asarray(saved[each]) for each in saved.files]
    loaded: Any = jax.tree.unflatten(jax.tree.structure(half), leaves)
    continued = train(rule, loaded[0], loaded[1], 5)
    for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(continued), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_it_may_be_scanned_over() -> None:
    optimizer = chain(Sum())

    def step(carry: tuple[Any, Any], _: Any) -> tuple[tuple[Any, Any], Any]:
        updates, state = optimizer.update(carry[0], carry[1], carry[0], loss_grads=stacked(carry[0]))
        return (optax.apply_updates(carry[0], updates), state), sum(losses_fn(carry[0]).values())

    _, totals = jax.lax.scan(step, (PARAMS, optimizer.init(PARAMS)), length=20)
    assert totals[-1] < totals[0]


@pytest.mark.parametrize("wrong", [None, {"near": PARAMS}, [PARAMS, PARAMS, PARAMS], {"a": jnp.ones(2), "b": 1.0}])
def test_gradients_that_do_not_fit_get_one_sentence(wrong: Any) -> None:
    optimizer = combine_gradients(Sum(), count=2)
    with pytest.raises(IncenterError, match="`loss_grads` must hold 2 gradients of the form of the updates"):
        optimizer.update(PARAMS, optimizer.init(PARAMS), PARAMS, loss_grads=wrong)
