"""A rule inside `jinns.solve`."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jinns
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

from incenter.adapters.jinns import get_gradients, with_rule
from incenter.methods import by_name
from incenter.methods.relobralo import ReLoBRaLo
from incenter.methods.sum import Sum

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]  # of jinns' own classes


class Decay(jinns.loss.ODE):  # type: ignore[misc]
    """u' + rate u = 0."""

    def equation(self, t: Any, u: Any, params: Any) -> Any:
        return jax.grad(lambda at: u(at, params)[0])(t) + params.eq_params.rate * u(t, params)


def problem() -> tuple[Any, Any, Any]:
    """Parameters, loss and points; the losses are weighted 1 and 50."""
    key = jax.random.PRNGKey(0)
    layers = ((eqx.nn.Linear, 1, 8), (jnp.tanh,), (eqx.nn.Linear, 8, 1))
    u, network = jinns.nn.PINN_MLP.create(key=key, eqx_list=layers, eq_type="ODE")
    params = jinns.parameters.Params(nn_params=network, eq_params={"rate": jnp.array(2.0)})
    loss = jinns.loss.LossODE(
        u=u,
        dynamic_loss=Decay(),
        initial_condition=(0.0, jnp.array([1.0])),
        loss_weights=jinns.loss.LossWeightsODE(dyn_loss=1.0, initial_condition=50.0),
        params=params,
    )
    data = jinns.data.DataGeneratorODE(key=key, nt=32, tmin=0.0, tmax=1.0, method="grid")
    return params, loss, data


def trained(steps: int, **arguments: Any) -> tuple[Any, Any]:
    params, loss, data = problem()
    found = jinns.solve(
        n_iter=steps, init_params=params, data=data, loss=loss, print_loss_every=steps, verbose=False, **arguments
    )
    return ravel_pytree(found[0])[0], found[5]


def test_the_sum_trains_as_without_the_adapter() -> None:
    plain, _ = trained(20, optimizer=optax.sgd(1e-3))
    found, state = trained(20, **with_rule(optax.sgd(1e-3), problem()[1], Sum()))
    np.testing.assert_allclose(found, plain, rtol=1e-9, atol=1e-12)
    assert int(state[0].step) == 20


def test_a_step_is_the_rules_update() -> None:
    params, loss, data = problem()
    _, batch = data.get_batch()
    _, terms = loss.values_and_grads(params, batch)
    G = jnp.stack([ravel_pytree(term)[0] for term in get_gradients(loss, terms, None)])
    out: Any = by_name("upgrad").combine(G)
    found, state = trained(1, **with_rule(optax.sgd(1e-3), loss, by_name("upgrad")))
    np.testing.assert_allclose((ravel_pytree(params)[0] - found) / 1e-3, out.update, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(state[0].weights, out.weights, rtol=1e-9)


def test_a_rule_with_memory_remembers() -> None:
    _, state = trained(3, **with_rule(optax.sgd(1e-3), problem()[1], ReLoBRaLo()))
    assert int(state[0].rule.step) == 3
