"""The training step of DeepXDE's JAX backend, with a rule in it."""

from typing import Any

import jax
import jax.numpy as jnp
import optax
from deepxde import gradients

from incenter.adapters.deepxde_losses import losses_one_by_one
from incenter.jax import value_and_update
from incenter.methods import Rule


def replace_step(model: Any, rule: Rule, seed: int, attached: Any) -> None:
    """`model.train_step` that gives each loss to `rule`, whose memory goes into `model.opt_state`."""

    def losses(params: Any, inputs: Any, targets: Any) -> list[Any]:
        gradients.clear()  # else derivatives of an earlier trace would be taken for this one's
        compute = model.outputs_losses_train.__wrapped__  # not compiled: what is caught must be of this trace
        return losses_one_by_one(model, lambda: compute(params, inputs, targets)[1])

    update_of = value_and_update(losses, rule)

    @jax.jit
    def step(params: Any, state: Any, inputs: Any, targets: Any) -> tuple[Any, Any, Any]:
        of_optimizer, of_rule, count = state
        key = jnp.stack([jnp.uint32(seed), count])
        _, out = update_of(params, inputs, targets, state=of_rule, key=key)
        change, of_optimizer = model.opt.update(out.update, of_optimizer, params)
        return optax.apply_updates(params, change), (of_optimizer, out.state, count + 1), out._replace(update=None)

    def train_step(params: Any, state: Any, inputs: Any, targets: Any) -> tuple[Any, Any]:
        params, state, attached.last = step(params, state, inputs, targets)
        return params, state

    model.opt_state = (model.opt_state, None, jnp.uint32(0))
    model.train_step = train_step
