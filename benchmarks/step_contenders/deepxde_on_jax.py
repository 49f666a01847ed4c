"""What differs in DeepXDE's JAX backend: the network, its parameters, and a step."""

from typing import Any

import deepxde as dde
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.step_contenders.with_jax import MATHEMATICS, wait_for
from benchmarks.step_problems import WIDTH, Branch, Statement, all_parameters

__all__ = ["MATHEMATICS", "branches", "fill", "losses", "take_steps"]


class _Branches(dde.nn.NN):  # type: ignore[misc]  # DeepXDE is untyped
    """Networks side by side, each of which sees the leading coordinates only, as many as it has inputs."""

    parts: Any
    widths: Any
    regularization: Any = None
    params: Any = None

    def __call__(self, inputs: Any, training: bool = False) -> Any:
        values = [part(inputs[..., :width]) for part, width in zip(self.parts, self.widths, strict=True)]
        return jnp.concatenate(values, axis=-1)


def _network(branch: Branch) -> Any:
    sizes = [len(branch.inputs), *[WIDTH] * branch.depth, len(branch.outputs)]
    return dde.nn.FNN(sizes, "tanh", "Glorot normal")


def branches(stated: Statement) -> Any:
    networks = [_network(branch) for branch in stated.branches]
    return networks[0] if len(networks) == 1 else _Branches(networks, [len(one.inputs) for one in stated.branches])


def fill(model: Any, stated: Statement) -> None:
    """The common parameters."""
    networks = [
        {f"denses_{index}": {"kernel": jnp.asarray(w), "bias": jnp.asarray(b)} for index, (w, b) in enumerate(layers)}
        for layers in all_parameters(stated)
    ]
    whole = networks[0] if len(networks) == 1 else {f"parts_{i}": network for i, network in enumerate(networks)}
    before: Any = jax.tree.structure(model.params[0]["params"])
    if jax.tree.structure(whole) != before:
        raise RuntimeError(f"DeepXDE's parameters are {before}; mend `fill`.")
    model.params = [{"params": whole}, []]


def losses(model: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    inputs, targets, _ = model.data.train_next_batch()
    return np.asarray(model.outputs_losses_train(model.params, inputs, targets)[1])


def take_steps(model: Any, steps: int) -> None:
    for _ in range(steps):
        inputs, targets, _ = model.data.train_next_batch()
        model.params, model.opt_state = model.train_step(model.params, model.opt_state, inputs, targets)
    wait_for(model.params)
