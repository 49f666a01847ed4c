"""Ours: the compiled loop of `incenter.pinn.run`, as `incenter train` runs it, between its records."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from benchmarks.step_contenders.protocol import RATE, Contender
from benchmarks.step_contenders.with_jax import target, wait_for
from benchmarks.step_problems import Statement, all_parameters, all_points, statement
from incenter.pinn import Objective, problems
from incenter.pinn.configuration import Configuration
from incenter.pinn.modules import Dense
from incenter.pinn.networks import as_recipe
from incenter.pinn.run import Run


class Ours:
    """One problem with one rule, which is a name and perhaps its fields: `mgda iterations=20`."""

    def __init__(self, name: str, rule: str) -> None:
        method, *fields = rule.split()
        self._stated = statement(name)
        self._problem = problems.by_name(name)
        self._objective = Objective(self._problem)
        wanted = Configuration(problem=name, method=method, lr=RATE)
        wanted = wanted.with_settings(fields)
        run = Run(wanted.resolved(self._problem), self._objective, None, None)
        self._loop: Any = run.loop
        self._carry: Any = run.carry
        self._advance: Any = None
        self._done = 0
        self.setting = "points drawn in each step"

    def prepare(self, steps: int) -> None: ...

    def run(self, steps: int) -> None:
        self._done += steps
        if self._advance is None:
            self._advance = self._loop.lower(self._carry, np.int32(0)).compile()  # as `Run` does
        self._carry = self._advance(self._carry, np.int32(self._done))
        wait_for(self._carry)
        if int(self._carry.state.step) != self._done:
            raise RuntimeError(f"the run stopped by itself at step {int(self._carry.state.step)}")

    def losses(self) -> dict[str, float]:
        objective = self._objective
        theta = _common_parameters(self._problem, self._stated)
        drawn, _ = objective.draw(theta, objective.memory(0), 0, 0)
        batch = tuple(
            self._at(name, sample, points)
            for sample, (name, points) in zip(drawn, all_points(self._stated).items(), strict=True)
        )
        losses, _ = jax.jit(objective.losses_and_gradients)(theta, batch)
        return dict(zip(objective.names, np.asarray(losses, dtype=float).tolist(), strict=True))

    def _at(self, name: str, sample: Any, points: Any) -> Any:
        """The sample at other points; observations there are without noise."""
        if sample.points.shape != points.shape:
            raise RuntimeError(f"{name} has {sample.points.shape} points instead of {points.shape}")
        moved = sample._replace(points=jnp.asarray(points))
        if sample.values is None:
            return moved
        values = target(self._stated, name, self._stated.axes, moved.points)
        return moved._replace(values=values.reshape(sample.values.shape).astype(sample.values.dtype))


def _common_parameters(problem: Any, stated: Statement) -> Any:
    recipe = as_recipe(problem.network)
    network = recipe.build(tuple(problem.domain.axes), tuple(problem.outputs), jax.random.key(0), jnp.float32)
    layers = all_parameters(stated)
    leaves = [jnp.asarray(weights) for branch in layers for weights, _ in branch]
    leaves += [jnp.asarray(bias) for branch in layers for _, bias in branch]
    filled = eqx.tree_at(_leaves, network, leaves)
    return ravel_pytree(eqx.filter(filled, eqx.is_inexact_array))[0]


def _leaves(network: Any) -> list[Any]:
    """All weights, then all biases."""
    parts = [part for part in jax.tree.leaves(network, is_leaf=_is_dense) if _is_dense(part)]
    return [weights for part in parts for weights in part.weights] + [b for part in parts for b in part.biases]


def _is_dense(part: Any) -> bool:
    return isinstance(part, Dense)


def build(problem: str, variant: str) -> Contender:
    return Ours(problem, variant)
