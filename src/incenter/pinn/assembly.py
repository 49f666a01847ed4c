"""A problem as what a training loop sees: a flat vector theta in, losses (m,) and their gradients G (m, n) out.

Term i with equations e_ij at N points gives

    loss_i = sum_j mean_N e_ij^2          G_i = d loss_i / d theta

Everything is pure and may be compiled. On several devices each takes a share of the points of every term whose
equations at a point need no other point; the other terms are computed whole on each of them. Precision 64 needs
`jax.enable_x64` around every call, the constructor included.
"""

from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from incenter.geometry.arrays import is_traced
from incenter.geometry.errors import IncenterError
from incenter.pinn.devices import mesh_of
from incenter.pinn.evaluation import Demand, Evaluation
from incenter.pinn.layers import total
from incenter.pinn.operators import Needs
from incenter.pinn.parameters import Parameters, Unpacked
from incenter.pinn.portions import Portions, mapped, portions_of, summed
from incenter.pinn.taylor import Array

Batch = tuple[Any, ...]  # one sample per term
Memory = tuple[Any, ...]  # one per term, None for a sampler without memory

_JACOBIANS_AT_ONCE = 64  # points whose gradients (n,) are held side by side: megabytes for the networks of this field


class Objective:
    """The losses of a problem as functions of theta (n,)."""

    def __init__(self, problem: Any, precision: int = 32, devices: int = 1) -> None:
        if precision not in (32, 64):
            raise IncenterError(f"`precision` must be 32 or 64; got {precision!r}.")
        if precision == 64 and jnp.zeros(0).dtype != jnp.float64:
            raise IncenterError("Precision 64 needs 64-bit JAX; call inside `with jax.enable_x64(True)`.")
        self.problem, self.precision, self.mesh = problem, precision, mesh_of(devices)
        self.dtype = jnp.dtype(f"float{precision}")
        self.names: tuple[str, ...] = tuple(problem.terms)
        self.residual_rows: tuple[int, ...] = tuple(problem.residual_rows)
        self._terms = tuple(problem.terms.values())
        self._evaluation = Evaluation(tuple(problem.domain.axes), tuple(problem.outputs))
        self.parameters = Parameters(problem, self.dtype)
        self._demands, self.portions = zip(*map(self._examined, range(len(self._terms))), strict=True)

    @property
    def size(self) -> int:
        """n, the number of entries of theta."""
        return self.parameters.size

    def start(self, seed: Any) -> Array:
        """theta (n,) at the start of a run."""
        return self.parameters.start(seed)

    def unravel(self, theta: Array) -> Unpacked:
        """The arrays that theta consists of, for optimisers that treat matrices as such."""
        return self.parameters.unpacked(theta)

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
        at = self.parameters.unpacked(theta)
        pairs = [self._loss_and_gradient(k, at, sample) for k, sample in enumerate(batch)]
        return jnp.stack([loss for loss, _ in pairs]), jnp.stack([gradient for _, gradient in pairs])

    def traces(self, theta: Array, batch: Batch) -> Array:
        """(m,): for each term the sum over points and equations of |d e / d theta|^2."""
        return jnp.stack([self._trace(k, theta, sample) for k, sample in enumerate(batch)])

    def predict(self, theta: Array, points: Any) -> Array:
        """The outputs (N, k) at points (N, d)."""
        network = self.parameters.network(self.parameters.unpacked(theta))

        def values(portion: Array) -> Array:
            jets = network.push(portion, (Needs(),) * len(self.problem.outputs))
            return jnp.stack([jet.value() for jet in jets], axis=1)

        points = jnp.asarray(points, self.dtype)
        # Outside `jit` a loop over portions would be compiled at every call, which takes longer than the cache saves.
        return mapped(values, points) if is_traced(theta) else values(points)

    def unknowns(self, theta: Array) -> dict[str, Array]:
        """The unknown scalars by name."""
        return self.parameters.unknowns(self.parameters.unpacked(theta))

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

    def _examined(self, k: int) -> tuple[Demand, Portions]:
        """What a term needs of the network, and the portions that its points are taken in."""
        term = self._terms[k]
        sample = jax.eval_shape(lambda: term.draw(self.problem.domain, (0, 0, k), self.dtype))
        unknowns = {name: jnp.zeros((), self.dtype) for name in self.problem.unknowns}
        demand = self._evaluation.discover(term, sample, unknowns)
        points = sample.points.shape[0]
        portions = portions_of(points, 1 if self.mesh is None else self.mesh.size)
        if portions.number > 1 and not self._evaluation.takes_portions(term, sample, unknowns, portions.size):
            portions = Portions(1, points)
        return demand, portions

    def _draw(self, k: int, theta: Array, memory: Any, seed: Any, step: Any) -> tuple[Any, Any]:
        term, domain, key = self._terms[k], self.problem.domain, (seed, step, k)
        if not _is_stateful(term):
            return term.draw(domain, key, self.dtype), None
        sample = term.redraw(domain, key, memory, lambda candidates: self._score(k, theta, candidates))
        return sample, sample

    def _score(self, k: int, theta: Array, sample: Any) -> Array:
        """(N,), the size of the residual at each point."""
        equations = self.equations(k, self.parameters.unpacked(theta), sample)
        return jnp.sqrt(total(jnp.square(equation) for equation in equations))

    def equations(self, k: int, at: Unpacked, sample: Any) -> tuple[Array, ...]:
        """The equations of term k at its sample, (N,) each."""
        network, unknowns = self.parameters.network(at), self.parameters.unknowns(at)
        return self._evaluation.components(self._terms[k], self._demands[k], network, unknowns, sample)

    def _loss_and_gradient(self, k: int, at: Unpacked, sample: Any) -> tuple[Array, Array]:
        """A portion's gradient is taken as soon as its loss is: nothing of it is kept for later."""
        points = sample.points.shape[0]

        def loss(at: Unpacked, portion: Any, weights: Array | None) -> Array:
            squares = total(jnp.square(equation) for equation in self.equations(k, at, portion))
            mean: Array = jnp.sum(squares if weights is None else weights * squares) / points
            return mean

        def both(portion: Any, weights: Array | None) -> tuple[Array, Unpacked]:
            return jax.value_and_grad(loss)(at, portion, weights)

        value, gradient = summed(both, sample, points, self.portions[k], self.mesh)
        return value, self.parameters.packed(gradient)

    def _trace(self, k: int, theta: Array, sample: Any) -> Array:
        at = self.parameters.unpacked(theta)

        def of_rows(rows: Any) -> Array:
            """Of a few points; each equation at each of them is differentiated by itself."""
            equations, pull = jax.vjp(lambda at: jnp.stack(self.equations(k, at, rows)), at)
            basis = jnp.eye(equations.size, dtype=self.dtype).reshape(equations.size, *equations.shape)
            squares = jax.lax.map(lambda one: _squared_norm(pull(one)[0]), basis)
            return jnp.sum(squares)

        def of_points(portion: Any, weights: Array | None) -> Array:
            one_by_one = jax.tree.map(lambda leaf: leaf[:, None], portion)
            traces: Array = jax.lax.map(of_rows, one_by_one, batch_size=_JACOBIANS_AT_ONCE)
            return jnp.sum(traces if weights is None else weights * traces)

        if self.portions[k].number == 1 and not self._takes_points_apart(k, sample):
            return of_rows(sample)
        points = sample.points.shape[0]
        portions = Portions(1, points) if self.mesh is None else self.portions[k]
        trace: Array = summed(of_points, sample, points, portions, self.mesh)
        return trace

    def _takes_points_apart(self, k: int, sample: Any) -> bool:
        unknowns = {name: jnp.zeros((), self.dtype) for name in self.problem.unknowns}
        return self._evaluation.takes_portions(self._terms[k], sample, unknowns, 1)


def _squared_norm(tree: Any) -> Array:
    return total(jnp.sum(jnp.square(leaf)) for leaf in jax.tree.leaves(tree))


def _is_stateful(term: Any) -> bool:
    return bool(getattr(term, "stateful", False))
