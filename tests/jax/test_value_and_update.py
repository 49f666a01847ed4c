"""`value_and_update` over pytrees: what the rule gives for the gradients side by side, however losses are returned."""

import io
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from incenter import IncenterError, Status
from incenter.jax import combine_gradients, value_and_update
from incenter.methods import by_name
from incenter.methods.lra import LRA
from incenter.methods.sum import Sum

PARAMS = {"W": jnp.array([[0.3, -0.2], [0.5, 0.1], [-0.4, 0.7]]), "b": (jnp.array([0.1, -0.3]), jnp.array(0.2))}
POINTS = jnp.asarray(np.random.default_rng(0).normal(size=(40, 3)))
INPUTS = {"key": 7, "traces": (1.0, 2.0, 3.0)}


def named(params: Any, x: Any) -> dict[str, Any]:
    """Three losses of different size, not in alphabetical order, with a shared and an unshared part."""
    u = jnp.tanh(x @ params["W"] + params["b"][0])
    return {
        "residual": jnp.mean((u.sum(axis=1) - params["b"][1]) ** 2),
        "boundary": 50 * jnp.mean((u - 0.5) ** 2),
        "initial": jnp.mean((u[:5] + 1) ** 2),
    }


def jacobian(params: Any, x: Any) -> Any:
    """Rows in the order of `named`, by other means."""
    flat, unravel = ravel_pytree(params)
    return jax.jacrev(lambda at: jnp.stack(list(named(unravel(at), x).values())))(flat)


def inputs_of(rule: Any) -> dict[str, Any]:
    return {name: INPUTS[name] for name in rule.needs & INPUTS.keys()}


@pytest.mark.parametrize("name", ["chebyshev", "pcgrad", "ntk", "lra", "multiadam"])
def test_the_update_is_the_rules_own(name: str) -> None:
    rule = by_name(name)
    losses = jnp.stack(list(named(PARAMS, POINTS).values()))
    expected: Any = rule.combine(jacobian(PARAMS, POINTS), losses=losses, **_arrays(inputs_of(rule)))
    found, out = value_and_update(named, rule)(PARAMS, POINTS, **inputs_of(rule))
    assert list(found) == ["residual", "boundary", "initial"]
    np.testing.assert_allclose(ravel_pytree(out.update)[0], expected.update, rtol=1e-10, atol=1e-13)
    assert out.radius == pytest.approx(expected.radius, abs=1e-12)
    if expected.weights is not None and out.weights is not None:
        np.testing.assert_allclose(list(dict(out.weights).values()), expected.weights, rtol=1e-10)


def test_the_weights_by_name_make_the_update() -> None:
    out: Any = value_and_update(named)(PARAMS, POINTS)[1]
    by_hand = jax.grad(lambda at: sum(out.weights[name] * loss for name, loss in named(at, POINTS).items()))(PARAMS)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-14), out.update, by_hand)


def test_a_step_along_the_update_decreases_every_loss() -> None:
    losses, out = jax.jit(value_and_update(named))(PARAMS, POINTS)
    stepped = jax.tree.map(lambda at, along: at - 1e-6 * along, PARAMS, out.update)
    for name, loss in named(stepped, POINTS).items():
        assert loss < losses[name]


def test_the_sum_is_the_gradient_of_the_sum() -> None:
    _, out = value_and_update(named, Sum())(PARAMS, POINTS)
    plain: Any = jax.grad(lambda at: sum(named(at, POINTS).values()))(PARAMS)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15), out.update, plain)


@pytest.mark.parametrize("form", [tuple, list, lambda losses: jnp.stack(list(losses)), lambda losses: {"": [*losses]}])
def test_losses_come_back_in_their_form(form: Any) -> None:
    def losses_fn(params: Any, x: Any) -> Any:
        found = form(named(params, x).values())
        return found[""] if isinstance(found, dict) else found

    expected_losses, expected = value_and_update(named, Sum())(PARAMS, POINTS)
    losses, out = value_and_update(losses_fn, Sum())(PARAMS, POINTS)
    np.testing.assert_allclose(jnp.stack(list(losses)), list(expected_losses.values()), rtol=1e-14)
    np.testing.assert_allclose(ravel_pytree(out.update)[0], ravel_pytree(expected.update)[0], rtol=1e-11, atol=1e-14)
    assert type(losses_fn(PARAMS, POINTS)) is type(losses) is type(out.weights)


def test_rows_are_in_the_order_of_the_dict() -> None:
    """LRA scales the others to the residual's gradient, so it matters which row is the first."""
    one = value_and_update(named, LRA(residual=(0,)))(PARAMS, POINTS)[1]
    turned = value_and_update(lambda *at: dict(reversed(named(*at).items())), LRA(residual=(2,)))(PARAMS, POINTS)[1]
    other = value_and_update(named, LRA(residual=(2,)))(PARAMS, POINTS)[1]
    first, same, different = (ravel_pytree(out.update)[0] for out in (one, turned, other))
    np.testing.assert_allclose(first, same, rtol=1e-12)
    assert jnp.linalg.norm(first - different) > 1e-3 * jnp.linalg.norm(first)


def test_auxiliary_output_is_handed_through() -> None:
    def losses_fn(params: Any, x: Any) -> Any:
        return named(params, x), {"mean": jnp.mean(x)}

    (losses, aux), out = jax.jit(value_and_update(losses_fn, Sum(), has_aux=True))(PARAMS, POINTS)
    assert aux["mean"] == jnp.mean(POINTS)
    expected_losses, expected = value_and_update(named, Sum())(PARAMS, POINTS)
    for name, loss in losses.items():
        np.testing.assert_allclose(loss, expected_losses[name], rtol=1e-14)
    np.testing.assert_allclose(ravel_pytree(out.update)[0], ravel_pytree(expected.update)[0], rtol=1e-11, atol=1e-14)


def test_keyword_arguments_reach_the_function() -> None:
    one = value_and_update(lambda at, x: named(at, x), Sum())(PARAMS, x=POINTS)[1]
    other = value_and_update(named, Sum())(PARAMS, POINTS)[1]
    np.testing.assert_array_equal(ravel_pytree(one.update)[0], ravel_pytree(other.update)[0])


def test_outside_jit_scalars_are_known_and_inside_they_are_arrays() -> None:
    _, out = value_and_update(named)(PARAMS, POINTS)
    _, compiled = jax.jit(value_and_update(named))(PARAMS, POINTS)
    assert out.status is Status.OPTIMAL
    assert isinstance(out.radius, float)
    assert int(compiled.status) == Status.OPTIMAL
    assert compiled.radius == pytest.approx(out.radius, abs=1e-14)


def test_an_unused_parameter_does_not_move() -> None:
    params = {"used": PARAMS, "unused": jnp.ones(3)}
    _, out = value_and_update(lambda at: named(at["used"], POINTS), Sum())(params)
    np.testing.assert_array_equal(out.update["unused"], 0.0)
    expected = value_and_update(named, Sum())(PARAMS, POINTS)[1]
    np.testing.assert_allclose(
        ravel_pytree(out.update["used"])[0], ravel_pytree(expected.update)[0], rtol=1e-11, atol=1e-14
    )


def test_parameters_keep_their_dtypes() -> None:
    params = {"half": jnp.ones(3, jnp.bfloat16), "single": jnp.full(2, 0.5, jnp.float32)}
    _, out = value_and_update(lambda at: (jnp.sum(at["half"] ** 2), jnp.sum(at["single"] ** 2)), Sum())(params)
    assert {name: leaf.dtype for name, leaf in out.update.items()} == {"half": jnp.bfloat16, "single": jnp.float32}


def test_nan_in_a_loss_gives_no_update_and_says_so() -> None:
    _, out = value_and_update(lambda at: (jnp.sum(at**2), jnp.sum(jnp.sqrt(at - 5.0))))(jnp.ones(2))
    np.testing.assert_array_equal(out.update, 0.0)
    assert out.status is Status.NONFINITE


@pytest.mark.parametrize(
    ("losses_fn", "sentence"),
    [
        (lambda _: (), "no losses; return one number per loss"),
        (lambda at: {"a": at["b"][0]}, r"single number; got shapes \[\(2,\)\]"),
        (lambda _: jnp.ones((2, 2)), r"single number; got shapes \[\(2, 2\)\]"),
    ],
)
def test_what_is_no_loss_gets_one_sentence(losses_fn: Any, sentence: str) -> None:
    with pytest.raises(IncenterError, match=sentence):
        value_and_update(losses_fn)(PARAMS)


@pytest.mark.parametrize(
    "take", [lambda rule: value_and_update(lambda w: [w], rule), lambda rule: combine_gradients(rule, 2)]
)
def test_a_name_in_place_of_a_rule_gets_one_sentence(take: Any) -> None:
    with pytest.raises(IncenterError, match=r"the name 'mgda': pass incenter\.methods\.by_name\('mgda'\)"):
        take("mgda")


def test_has_aux_without_aux_gets_one_sentence() -> None:
    with pytest.raises(IncenterError, match=r"must return \(losses, aux\); got dict"):
        value_and_update(named, has_aux=True)(PARAMS, POINTS)


STATEFUL = ["relobralo", "lra", "ntk", "multiadam", pytest.param("m_config", marks=pytest.mark.slow)]


@pytest.mark.parametrize("name", STATEFUL)
def test_a_rule_with_state_survives_save_load_and_continue_bit_for_bit(name: str) -> None:
    rule = by_name(name)
    step = value_and_update(named, rule)

    @jax.jit
    def advance(params: Any, state: Any) -> tuple[Any, Any]:
        inputs = _arrays(inputs_of(rule))
        if "traces" in inputs:
            inputs["traces"] += jnp.sum(params["W"] ** 2)  # else there is nothing to remember
        _, out = step(params, POINTS, state=state, **inputs)
        return jax.tree.map(lambda at, along: at - 1e-2 * along, params, out.update), out.state

    def run(params: Any, state: Any, steps: int) -> tuple[Any, Any]:
        for _ in range(steps):
            params, state = advance(params, state)
        return params, state

    fresh = step.init(PARAMS, POINTS, **_arrays(inputs_of(rule)))
    whole = run(PARAMS, fresh, 25)
    half = run(PARAMS, fresh, 13)
    file = io.BytesIO()
    np.savez(file, *[np.asarray(leaf) for leaf in jax.tree.leaves(half)])
    file.seek(0)
    with np.load(file) as saved:
        leaves = [jnp.asarray(saved[each]) for each in saved.files]
    loaded_params, loaded_state = jax.tree.unflatten(jax.tree.structure(half), leaves)
    continued = run(loaded_params, loaded_state, 12)
    for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(continued), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
    forgetful = run(half[0], fresh, 12)
    assert ravel_pytree(forgetful[0])[0].tobytes() != ravel_pytree(whole[0])[0].tobytes()


@pytest.mark.parametrize("name", STATEFUL)
def test_the_fresh_state_of_zeros_is_no_state(name: str) -> None:
    """And it lets the step be scanned over."""
    rule = by_name(name)
    step, inputs = value_and_update(named, rule), _arrays(inputs_of(rule))

    def scanned(carry: tuple[Any, Any], _: Any) -> tuple[tuple[Any, Any], Any]:
        _, out = step(carry[0], POINTS, state=carry[1], **inputs)
        return (jax.tree.map(lambda at, along: at - 1e-3 * along, carry[0], out.update), out.state), out.radius

    fresh = step.init(PARAMS, POINTS, **inputs)
    (_, _), radii = jax.lax.scan(scanned, (PARAMS, fresh), length=3)
    expected = step(PARAMS, POINTS, state=None, **inputs)[1].radius
    assert radii[0] == pytest.approx(expected, abs=1e-12)


def _arrays(inputs: dict[str, Any]) -> dict[str, Any]:
    return {name: jnp.asarray(value) for name, value in inputs.items()}
