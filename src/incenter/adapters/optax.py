"""optax: a rule as the first link of a chain. The work is done in `incenter.jax`, which the adapter of jinns shares."""

from incenter.jax.transformation import CombineState as CombineState
from incenter.jax.transformation import combine_gradients as combine_gradients
