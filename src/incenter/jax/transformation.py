"""A rule as an optax transformation: per-loss gradients come in as an extra argument, its update goes on in the chain.

    optimizer = optax.chain(combine_gradients(Chebyshev(), count=3), optax.adam(1e-3))
    updates, state = optimizer.update(gradient, state, params, loss_grads=gradients_of_three_losses)

`gradient` itself is not looked at, only its form: an optimiser that is called with the summed gradient is followed.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree

from incenter.geometry.arrays import Matrix, Scalar, Weights
from incenter.geometry.errors import IncenterError
from incenter.methods import Rule, Update
from incenter.methods.rule import check_rule


class CombineState(NamedTuple):
    """What the rule carries on, and its last answer, ready to be logged."""

    step: Scalar
    rule: Any
    weights: Weights | None  # (m,) on the raw gradients
    radius: Scalar
    status: Scalar


def combine_gradients(rule: Rule, count: int, seed: int = 0) -> optax.GradientTransformationExtraArgs:
    """The transformation, to be put first in `optax.chain`, for `count` losses.

    `update` takes `loss_grads`: gradients like `updates` with a leading axis of length `count` in every leaf, or
    any collection of `count` trees like `updates`; `losses` and `traces`, (count,), for rules that need them. Rules
    that draw at random do so from (seed, step).
    """
    check_rule(rule)

    def init(params: Any) -> CombineState:
        flat = ravel_pytree(params)[0]
        fresh = CombineState(jnp.zeros((), jnp.int32), None, None, jnp.zeros((), flat.dtype), jnp.zeros((), jnp.int32))
        rows, ones = jnp.zeros((count, flat.size), flat.dtype), jnp.ones(count, flat.dtype)
        out = jax.eval_shape(lambda G: _combine(rule, G, fresh, seed, ones, ones), rows)
        zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), out)
        return fresh._replace(rule=zeros.state, weights=zeros.weights, radius=jnp.asarray(zeros.radius))

    def update(
        updates: Any,
        state: CombineState,
        params: Any = None,  # noqa: ARG001  (optax hands it to every link of a chain)
        *,
        loss_grads: Any = None,
        losses: Any = None,
        traces: Any = None,
        **_: Any,
    ) -> tuple[Any, CombineState]:
        out = _combine(rule, rows_of(loss_grads, updates, count), state, seed, losses, traces)
        radius, status = jnp.asarray(out.radius, state.radius.dtype), jnp.asarray(out.status, jnp.int32)
        new = CombineState(state.step + 1, out.state, out.weights, radius, status)
        return ravel_pytree(updates)[1](out.update), new

    return optax.GradientTransformationExtraArgs(init, update)


def rows_of(loss_grads: Any, like: Any, count: int) -> Matrix:
    """`loss_grads` as (count, n)."""
    form: Any = jax.tree.structure(like)

    def is_gradient(part: Any) -> bool:
        found: Any = jax.tree.structure(part)
        return bool(found == form)

    if is_gradient(loss_grads) and all(jnp.shape(leaf)[:1] == (count,) for leaf in jax.tree.leaves(loss_grads)):
        trees = [jax.tree.map(lambda leaf, i=i: leaf[i], loss_grads) for i in range(count)]
    else:
        trees = jax.tree.leaves(loss_grads, is_leaf=is_gradient)
    if len(trees) != count or not all(is_gradient(tree) for tree in trees):
        raise IncenterError(
            f"`loss_grads` must hold {count} gradients of the form of the updates, as trees or along a leading axis of "
            f"every leaf; got shapes {jax.tree.map(jnp.shape, loss_grads)}."
        )
    return jnp.stack([ravel_pytree(tree)[0] for tree in trees])


def _combine(rule: Rule, G: Matrix, state: CombineState, seed: int, losses: Any, traces: Any) -> Update:
    given: dict[str, Any] = {"losses": losses}
    if "key" in rule.needs:
        given["key"] = jnp.stack([jnp.asarray(seed, jnp.uint32), state.step.astype(jnp.uint32)])
    if "traces" in rule.needs:
        given["traces"] = traces
    return rule.combine(G, state=state.rule, **given)
