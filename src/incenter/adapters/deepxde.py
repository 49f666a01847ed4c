"""DeepXDE on PyTorch and on JAX: `attach(model, rule)` after `model.compile(...)`, then `model.train(...)` as always.

Every loss of `model.data`, times its loss weight, is a loss of its own; an L1 regulariser is one more. What the
optimiser of the model trains is what the rule moves, external trainable variables included.
"""

from dataclasses import dataclass
from typing import Any

from incenter.geometry.errors import IncenterError
from incenter.methods import Rule
from incenter.methods.chebyshev import Chebyshev

_CHEBYSHEV = Chebyshev()


@dataclass
class Attached:
    """What `attach` returns: `last.radius`, `last.weights` and `last.status` are those of the last step."""

    last: Any = None
    step: Any = None  # PyTorch: the `incenter.torch.Backward`, whose `state_dict` holds what the rule remembers


def attach(model: Any, rule: Rule = _CHEBYSHEV, seed: int = 0) -> Attached:
    """Let `rule` make the gradient of every step of `model`. Compiling the model again detaches it."""
    if model.train_step is None:
        raise IncenterError("The model has no optimiser yet; call model.compile(...) before attach(model).")
    if model.opt_name in ("L-BFGS", "L-BFGS-B", "NNCG"):
        raise IncenterError(f'{model.opt_name} searches along one summed loss; compile with another, such as "adam".')
    if rule.own_optimizer and model.opt_name != "sgd":
        raise IncenterError(f'The rule {rule.name!r} is an optimiser; compile with "sgd", not {model.opt_name!r}.')
    from deepxde.backend import backend_name

    attached = Attached()
    if backend_name == "pytorch":
        from incenter.adapters.deepxde_on_torch import replace_step

        replace_step(model, rule, seed, attached)
    elif backend_name == "jax":
        from incenter.adapters.deepxde_on_jax import replace_step

        replace_step(model, rule, seed, attached)
    else:
        raise IncenterError(f"attach works on DeepXDE's backends pytorch and jax; got DDE_BACKEND={backend_name}.")
    return attached
