"""A problem as what a training loop sees: a flat vector theta in, losses (m,) and their gradients G (m, n) out.

theta holds the network's parameters, then the unknown scalars. Term i with equations e_ij at N points gives

    loss_i = sum_j mean_N e_ij^2          G_i = d loss_i / d theta

Everything is pure and may be compiled. Precision 64 needs `jax.enable_x64` around every call, the constructor included.
"""

from functools import cached_property
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from incenter.geometry.errors import IncenterError
from incenter.pinn.evaluation import Demand, Evaluation
from incenter.pinn.networks import as_recipe
from incenter.pinn.operators import Needs
from incenter.pinn.taylor import Array

Batch = tuple[Any, ...]  # one sample per term
Memory = tuple[Any, ...]  # one per term, None for a sampler without memory


class Objective:
    """The losses of a problem as functions of theta (n,)."""

    def __init__(self, problem: Any, precision: int = 32) -> None:
        if precision not in (32, 64):
            raise IncenterError(f"`precision` must be 32 or 64; got {precision!r}.")
        if precision == 64 and jnp.zeros(0).dtype != jnp.float64:
            raise IncenterError("Precision 64 needs 64-bit JAX; call inside `with jax.enable_x64(True)`.")
        self.problem, self.precision = problem, precision
        self.dtype = jnp.dtype(f"float{precision}")
        self.names: tuple[str, ...] = tuple(problem.terms)
        self.residual_rows: tuple[int, ...] = tuple(problem.residual_rows)
        self._terms = tuple(problem.terms.values())
        self._evaluation = Evaluation(tuple(problem.domain.axes), tuple(problem.outputs))
        self._start_shapes, self._frame = self._built_frame()
        self._demands = tuple(self._demand(k) for k in range(len(self._terms)))

    @cached_property
    def size(self) -> int:
        """n, the number of entries of theta."""
        leaves = jax.tree.leaves(self._start_shapes)
        return sum(int(np.prod(leaf.shape)) for leaf in leaves) + len(self.problem.unknowns)

    def start(self, seed: int) -> Array:
        """theta (n,) at the start of a run."""
        parameters, _ = eqx.partition(self._build(jax.random.key(seed)), eqx.is_inexact_array)
        unknowns = jnp.asarray(list(self.problem.unknowns.values()), self.dtype)
        return jnp.concatenate([ravel_pytree(parameters)[0].astype(self.dtype), unknowns])

    def memory(self, seed: Any) -> Memory:
        """What samplers remember at the start of a run."""
        return tuple(
            term.memory(self.problem.domain, (seed, 0, k), self.dtype) if _is_stateful(term) else None
            for k, term in enumerate(self._terms)
        )

    def draw(self, theta: Array, memory: Memory, seed: Any, step: Any) -> tuple[Batch, Memory]:
        """The points of one step, a function of (seed, step) and, for samplers with memory, of theta."""
        drawn = [self._draw(k, theta, memory[k], seed, step) for k in range(len(self._terms))]
        return tuple(sample for sample, _ in drawn), tuple(kept for _, kept in drawn)

    def losses_and_gradients(self, theta: Array, batch: Batch) -> tuple[Array, Array]:
        """losses (m,), G (m, n)."""
        pairs = [
            jax.value_and_grad(lambda at, k=k: self._loss(k, at, batch[k]))(theta) for k in range(len(self._terms))
        ]
        return jnp.stack([loss for loss, _ in pairs]), jnp.stack([gradient for _, gradient in pairs])

    def traces(self, theta: Array, batch: Batch) -> Array:
        """(m,): for each term the sum over points and equations of |d e / d theta|^2."""
        return jnp.stack([self._trace(k, theta, batch[k]) for k in range(len(self._terms))])

    def predict(self, theta: Array, points: Array) -> Array:
        """The outputs (N, k) at points (N, d)."""
        network, _ = self._unpack(theta)
        jets = network.push(jnp.asarray(points, self.dtype), (Needs(),) * len(self.problem.outputs))
        return jnp.stack([jet.value() for jet in jets], axis=1)

    def unknowns(self, theta: Array) -> dict[str, Array]:
        """The unknown scalars by name."""
        return self._unpack(theta)[1]

    def relative_l2(self, theta: Array) -> Array:
        """|prediction - reference| / |reference| over the reference's outputs and points; nan without a reference."""
        if self.problem.reference is None:
            return jnp.asarray(jnp.nan, self.dtype)
        points, values, columns = self._reference
        difference = self.predict(theta, jnp.asarray(points))[:, columns] - values
        return jnp.sqrt(jnp.sum(difference**2) / jnp.sum(jnp.asarray(values) ** 2))

    @cached_property
    def _reference(self) -> tuple[np.ndarray, np.ndarray, list[int]]:
        reference = self.problem.reference
        columns = [tuple(self.problem.outputs).index(name) for name in reference.outputs]
        kind = np.dtype(self.dtype)
        return np.asarray(reference.points, kind), np.asarray(reference.values, kind), columns

    def _build(self, key: Array) -> Any:
        problem = self.problem
        return as_recipe(problem.network).build(tuple(problem.domain.axes), tuple(problem.outputs), key, self.dtype)

    def _built_frame(self) -> tuple[Any, Any]:
        """The shapes of the parameters, and the network without them."""
        network = eqx.filter_eval_shape(self._build, jax.random.key(0))
        return eqx.partition(network, lambda leaf: hasattr(leaf, "shape") and jnp.issubdtype(leaf.dtype, jnp.inexact))

    def _unpack(self, theta: Array) -> tuple[Any, dict[str, Array]]:
        leaves, tree = jax.tree.flatten(self._start_shapes)
        sizes = [int(np.prod(leaf.shape)) for leaf in leaves]
        starts = np.cumsum([0, *sizes])
        parts = [
            theta[starts[k] : starts[k + 1]].reshape(leaf.shape).astype(leaf.dtype) for k, leaf in enumerate(leaves)
        ]
        network = eqx.combine(jax.tree.unflatten(tree, parts), self._frame)
        return network, {name: theta[starts[-1] + k] for k, name in enumerate(self.problem.unknowns)}

    def _demand(self, k: int) -> Demand:
        term = self._terms[k]
        sample = jax.eval_shape(lambda: term.draw(self.problem.domain, (0, 0, k), self.dtype))
        unknowns = {name: jnp.zeros((), self.dtype) for name in self.problem.unknowns}
        return self._evaluation.discover(term, sample, unknowns)

    def _draw(self, k: int, theta: Array, memory: Any, seed: Any, step: Any) -> tuple[Any, Any]:
        term, domain, key = self._terms[k], self.problem.domain, (seed, step, k)
        if not _is_stateful(term):
            return term.draw(domain, key, self.dtype), None
        sample = term.redraw(domain, key, memory, lambda candidates: self._score(k, theta, candidates))
        return sample, sample

    def _score(self, k: int, theta: Array, sample: Any) -> Array:
        """(N,), the size of the residual at each point."""
        return jnp.sqrt(sum(jnp.square(equation) for equation in self._components(k, theta, sample)))

    def _components(self, k: int, theta: Array, sample: Any) -> tuple[Array, ...]:
        network, unknowns = self._unpack(theta)
        return self._evaluation.components(self._terms[k], self._demands[k], network, unknowns, sample)

    def _loss(self, k: int, theta: Array, sample: Any) -> Array:
        squares = [jnp.mean(jnp.square(equation)) for equation in self._components(k, theta, sample)]
        return jnp.asarray(sum(squares[1:], squares[0]))

    def _trace(self, k: int, theta: Array, sample: Any) -> Array:
        equations, pull = jax.vjp(lambda at: jnp.stack(self._components(k, at, sample)), theta)
        count, points = equations.shape

        def squared(index: Array) -> Array:
            one = jnp.zeros(count * points, self.dtype).at[index].set(1.0).reshape(count, points)
            return jnp.sum(jnp.square(pull(one)[0]))

        return jnp.sum(jax.lax.map(squared, jnp.arange(count * points)))


def _is_stateful(term: Any) -> bool:
    return bool(getattr(term, "stateful", False))
