"""The finish of a run: L-BFGS on the sum of the losses, at points that stay.

A line search compares values, so the points of the first step of the finish serve for all of it. They are carried where
samplers have their memory, and so are saved and restored with the rest.
"""

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import optax

from incenter.geometry.arrays import Scalar, Vector
from incenter.methods import by_name
from incenter.pinn.configuration import Configuration
from incenter.pinn.loop import Change, Combine, Objective, State
from incenter.pinn.optimizers import call, options_of
from incenter.pinn.rules import combiner


class FixedPoints:
    """An objective whose points are its samplers' memory: the same ones at every step."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objective, name)

    def draw(self, theta: Vector, memory: Any, seed: Any, step: Scalar) -> tuple[Any, Any]:
        return memory, memory


def finish_options() -> dict[str, inspect.Parameter]:
    """What a user may set of the finish."""
    return {name: each for name, each in options_of(optax.lbfgs).items() if name != "linesearch"}


def finisher(configuration: Configuration, objective: Objective) -> tuple[Any, Combine, Change]:
    """The transformation, the rule (the sum) and the change of theta of the finish."""
    lbfgs = call(optax.lbfgs, f"finish {configuration.finish!r}", configuration.finish_options)
    total = _summed(objective)

    def change(update: Vector, state: Any, theta: Vector, loss: Scalar, batch: Any) -> tuple[Vector, Any]:
        def value(at: Vector) -> Scalar:
            return total(at, batch)

        found: tuple[Vector, Any] = lbfgs.update(update, state, theta, value=loss, grad=update, value_fn=value)
        return found

    return lbfgs, combiner(by_name("sum"), objective.traces), change


def finish_state(objective: Objective, transformation: Any, state: State) -> State:
    """Where the finish starts from `state`: its own optimiser, and the points of the step that comes next."""
    theta, _, _, memory = state.moving
    batch, _ = jax.jit(objective.draw)(theta, memory, state.seed, state.step)
    moving = state.moving._replace(optimizer=transformation.init(theta), rule=None, memory=batch)
    return state._replace(moving=moving, good=None)


def _summed(objective: Objective) -> Callable[[Vector, Any], Scalar]:
    """The sum of the losses, with the gradient that the objective already knows how to compute."""

    @jax.custom_vjp
    def total(theta: Vector, batch: Any) -> Scalar:
        return jnp.sum(objective.losses_and_gradients(theta, batch)[0])

    def forward(theta: Vector, batch: Any) -> tuple[Scalar, Vector]:
        losses, G = objective.losses_and_gradients(theta, batch)
        return jnp.sum(losses), jnp.sum(G, axis=0)

    def backward(gradient: Vector, seen: Scalar) -> tuple[Vector, None]:
        return seen * gradient, None

    total.defvjp(forward, backward)
    return total
