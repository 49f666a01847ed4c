"""`jax.value_and_grad` for several losses: their values, and the update that a rule makes of their gradients."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp

from incenter.geometry.errors import IncenterError
from incenter.jax.per_loss import per_loss
from incenter.methods import Rule, Update
from incenter.methods.chebyshev import Chebyshev
from incenter.methods.rule import check_rule


@dataclass(frozen=True, eq=False)
class ValueAndUpdate:
    """What `value_and_update` returns: pure, so it may be compiled, scanned over, or called as it is."""

    losses_fn: Callable[..., Any]
    rule: Rule
    has_aux: bool
    axis_name: Any

    def __call__(
        self, params: Any, *args: Any, state: Any = None, key: Any = None, traces: Any = None, **kwargs: Any
    ) -> tuple[Any, Update]:
        """Losses, in the form that `losses_fn` gave them, and the rule's answer.

        Of the answer, `update` is a pytree like `params`, and `weights` have the form of the losses. `state` is that of
        the answer before (or `init`'s), `key` a new one for every step where the rule draws, `traces` for `ntk`.
        """
        found = per_loss(lambda at: self._split(self.losses_fn(at, *args, **kwargs)), params, self.axis_name)
        given = {} if traces is None else {"traces": jnp.asarray(traces)}
        values = jnp.stack(found.losses.values)
        out = self.rule.combine(found.gradients, losses=values, state=state, key=key, **given)
        weights = None if out.weights is None else found.losses.in_form(out.weights)
        losses = found.losses.in_form(found.losses.values)
        value = (losses, found.aux) if self.has_aux else losses
        return value, out._replace(update=found.unravel(out.update), weights=weights)

    def init(self, params: Any, *args: Any, **kwargs: Any) -> Any:
        """The fresh state of the rule, for loops whose carry may not change its form; None for most rules.

        It is all zeros, which the rules of this library read as fresh. A rule of your own that does not must be
        started with `state=None`.
        """
        alone = replace(self, axis_name=None)
        shapes = jax.eval_shape(lambda at: alone(at, *args, **kwargs)[1].state, params)
        return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)

    def _split(self, found: Any) -> tuple[Any, Any]:
        if not self.has_aux:
            return found, None
        if not (isinstance(found, tuple) and len(found) == 2):
            raise IncenterError(
                f"With has_aux=True the function must return (losses, aux); got {type(found).__name__}."
            )
        return found


def value_and_update(
    losses_fn: Callable[..., Any], rule: Rule | None = None, *, has_aux: bool = False, axis_name: Any = None
) -> ValueAndUpdate:
    """A function of the arguments of `losses_fn` that gives `(losses, answer of the rule)`.

    `losses_fn(params, *args, **kwargs)` returns its losses as a dict by name, a tuple or list, any pytree of numbers,
    or a vector; with `has_aux`, `(losses, aux)`, and the value is then `(losses, aux)` too. `axis_name`: see
    `per_loss`; under plain `jit`, with the batch sharded over a mesh, there is none to give. The rule is `Chebyshev()`
    unless said otherwise.
    """
    if rule is not None:
        check_rule(rule)
    return ValueAndUpdate(losses_fn, Chebyshev() if rule is None else rule, has_aux, axis_name)
