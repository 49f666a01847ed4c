"""Values and gradients of several losses of one function, a row per loss.

Each loss is differentiated by itself: what the others alone depend on is then no part of its gradient, and inside `jit`
the compiler merges what they share. One vector-Jacobian product after another of the whole function would carry the
zeros of the other losses through all of it.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from incenter.geometry.arrays import Matrix, Scalar, Vector
from incenter.geometry.errors import IncenterError


class Losses(NamedTuple):
    """Losses apart, and the way back to the form they came in: a dict by name, a tuple, any pytree, a vector."""

    values: list[Scalar]
    in_form: Callable[[Any], Any]  # m values in the same form


class PerLoss(NamedTuple):
    losses: Losses
    aux: Any
    gradients: Matrix  # (m, n)
    unravel: Callable[[Vector], Any]  # (n,) -> a pytree like the parameters


def per_loss(losses_fn: Callable[[Any], tuple[Any, Any]], params: Any, axis_name: Any = None) -> PerLoss:
    """Losses, auxiliary output and gradients of `losses_fn(params) -> (losses, aux)`.

    `axis_name` is the mesh axis that the data are split over inside `shard_map`: means over it, of losses and of
    gradients, make each device see what a single one would.
    """
    in_form: list[Callable[[Any], Any]] = []

    def apart(at: Any) -> tuple[list[Scalar], Any]:
        found, aux = losses_fn(at)
        losses = read_losses(found)
        in_form.append(losses.in_form)
        return _mean_over(axis_name, losses.values), aux

    def differentiate(index: int) -> tuple[tuple[list[Scalar], Any], Any]:
        def chosen(at: Any) -> tuple[Scalar, tuple[list[Scalar], Any]]:
            values, aux = apart(at)
            return values[index], (values, aux)

        (_, seen), gradient = jax.value_and_grad(chosen, has_aux=True)(params)
        return seen, gradient

    (values, aux), first = differentiate(0)
    gradients = [first, *(differentiate(index)[1] for index in range(1, len(values)))]
    flat = jnp.stack([ravel_pytree(gradient)[0] for gradient in gradients])
    # Where `shard_map` keeps track of what differs between devices, the mean of the losses has reduced the gradients
    # too, and their mean changes nothing; where it does not, each device still holds its own part.
    return PerLoss(Losses(values, in_form[0]), aux, _mean_over(axis_name, flat), ravel_pytree(first)[1])


def read_losses(found: Any) -> Losses:
    """Losses in the order of a dict's items, of a vector's entries, or of a pytree's leaves."""
    if isinstance(found, Mapping):
        names = list(found)
        losses = Losses(list(found.values()), lambda values: dict(zip(names, values, strict=True)))
    elif len(jnp.shape(found) if hasattr(found, "shape") else ()) == 1:
        losses = Losses(list(found), jnp.stack)
    else:
        values, tree = jax.tree.flatten(found)
        losses = Losses(values, lambda values: jax.tree.unflatten(tree, list(values)))
    _check(losses.values)
    return losses


def _check(values: list[Any]) -> None:
    if not values:
        raise IncenterError("The function gave no losses; return one number per loss.")
    shapes = [jnp.shape(value) for value in values]
    if any(shapes):
        raise IncenterError(
            f"Each loss must be a single number; got shapes {shapes}; take the mean or the sum of each."
        )


def _mean_over(axis_name: Any, tree: Any) -> Any:
    return tree if axis_name is None else jax.lax.pmean(tree, axis_name)  # type: ignore[no-untyped-call]
