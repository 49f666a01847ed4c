"""jinns: a rule inside `jinns.solve`, by its own hook for optimisers that take extra arguments.

    jinns.solve(..., loss=loss, **with_rule(optax.adam(1e-3), loss))

Every term of the loss, times its loss weight, is a loss of its own.
"""

from typing import Any

import jax
import optax

from incenter.geometry.errors import IncenterError
from incenter.jax import combine_gradients
from incenter.methods import Rule
from incenter.methods.chebyshev import Chebyshev

try:
    from jinns.parameters import Params
except ModuleNotFoundError as error:
    raise IncenterError("This adapter needs jinns, which is not installed: pip install 'jinns>=1.9.2'") from error

_CHEBYSHEV = Chebyshev()


def with_rule(
    optimizer: optax.GradientTransformation, loss: Any, rule: Rule = _CHEBYSHEV, seed: int = 0
) -> dict[str, Any]:
    """The arguments `optimizer` and `extra_optax_args_and_kwargs` of `jinns.solve`.

    The first state in `opt_state` is then a `CombineState`, with the radius and the weights of the last step.
    """
    count = len(jax.tree.leaves(loss.loss_weights))
    return {
        "optimizer": optax.chain(combine_gradients(rule, count, seed), optimizer),
        "extra_optax_args_and_kwargs": {"loss_grads": get_gradients, "losses": get_losses},
    }


# jinns calls these with its own variables of the same names, and asks for the `get_`.
def get_gradients(loss: Any, grad_terms: Any, params_mask: Any) -> list[Any]:
    """The gradient of every weighted term; of the parameters that are trained, where others are not."""
    terms = jax.tree.leaves(grad_terms, is_leaf=lambda part: isinstance(part, Params))
    trained = [term if params_mask is None else term.partition(params_mask)[0] for term in terms]
    weights = jax.tree.leaves(loss.loss_weights)
    return [jax.tree.map(lambda leaf, w=w: w * leaf, term) for w, term in zip(weights, trained, strict=True)]


def get_losses(loss: Any, loss_terms: Any) -> Any:
    """The value of every weighted term."""
    pairs = zip(jax.tree.leaves(loss.loss_weights), jax.tree.leaves(loss_terms), strict=True)
    return jax.numpy.stack([weight * value for weight, value in pairs])
