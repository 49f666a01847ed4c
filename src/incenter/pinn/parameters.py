"""theta, the flat vector of all that is trained: the arrays of the network one after another, then the unknowns."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from incenter.methods.randomness import as_words
from incenter.pinn.initial import Key
from incenter.pinn.networks import as_recipe
from incenter.pinn.taylor import Array


class Unpacked(NamedTuple):
    """theta in its shapes."""

    network: list[Array]  # the network's trainable arrays
    unknowns: list[Array]  # scalars, in the problem's order


class Parameters:
    """Where what stands in the theta of a problem."""

    def __init__(self, problem: Any, dtype: Any) -> None:
        self._problem, self._dtype = problem, dtype
        built = eqx.filter_eval_shape(self._build, as_words(0))
        shapes, self._frame = eqx.partition(built, _is_trained)
        leaves, self._tree = jax.tree.flatten(shapes)
        self._shapes = [leaf.shape for leaf in leaves]
        sizes = [int(np.prod(shape)) for shape in self._shapes]
        self._ends: list[int] = np.cumsum([0, *sizes]).tolist()
        self.size: int = self._ends[-1] + len(problem.unknowns)

    def start(self, seed: Any) -> Array:
        """theta (n,) at the start of a run."""
        arrays, _ = eqx.partition(self._build(seed), _is_trained)
        unknowns = [jnp.asarray(value, self._dtype) for value in self._problem.unknowns.values()]
        return self.packed(Unpacked(jax.tree.leaves(arrays), unknowns))

    def unpacked(self, theta: Array) -> Unpacked:
        """The arrays behind a theta (n,)."""
        parts = zip(self._ends[:-1], self._ends[1:], self._shapes, strict=True)
        network = [theta[start:end].reshape(shape) for start, end, shape in parts]
        return Unpacked(network, [theta[k] for k in range(self._ends[-1], self.size)])

    def packed(self, unpacked: Unpacked) -> Array:
        """The theta (n,) of such arrays."""
        pieces = [jnp.ravel(array) for array in (*unpacked.network, *unpacked.unknowns)]
        return jnp.concatenate([jnp.zeros(0, self._dtype), *pieces]).astype(self._dtype)

    def network(self, unpacked: Unpacked) -> Any:
        """The network with these arrays."""
        return eqx.combine(jax.tree.unflatten(self._tree, unpacked.network), self._frame)

    def unknowns(self, unpacked: Unpacked) -> dict[str, Array]:
        """The unknown scalars by name."""
        return dict(zip(self._problem.unknowns, unpacked.unknowns, strict=True))

    def _build(self, key: Key) -> Any:
        problem = self._problem
        return as_recipe(problem.network).build(tuple(problem.domain.axes), tuple(problem.outputs), key, self._dtype)


def _is_trained(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and bool(jnp.issubdtype(leaf.dtype, jnp.inexact))
