"""Rules in a JAX training loop: per-loss gradients of a function over pytrees in, an update for any optimiser out.

>>> import incenter.jax, jax.numpy as jnp
>>> def losses_fn(theta):
...     return {"near": jnp.sum((theta - 1) ** 2), "loud": 100 * jnp.sum((theta - jnp.array([1.0, 3.0])) ** 2)}
>>> losses, out = incenter.jax.value_and_update(losses_fn)(jnp.zeros(2))
>>> bool((out.update < 0).all()), sorted(out.weights)
(True, ['loud', 'near'])
"""

from incenter.geometry.errors import IncenterError

try:
    from incenter.jax.transformation import CombineState, combine_gradients
    from incenter.jax.value_and_update import ValueAndUpdate, value_and_update
except ModuleNotFoundError as error:
    raise IncenterError(
        f"incenter.jax needs {error.name}, which is not installed: pip install 'incenter[jax]'"
    ) from error

__all__ = ["CombineState", "ValueAndUpdate", "combine_gradients", "value_and_update"]
