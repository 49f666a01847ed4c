"""Quadratic losses in place of a problem: everything a training loop needs, and answers that are known.

loss_i = |theta - centre_i|^2 / 2 + noise . theta,      noise another one at each (seed, step)

The noise is a sine: what it costs to compile a real generator is saved in every one of many tests.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

CENTRES = np.array([[1.0, 0.0, 0.2, 0.0], [0.0, 1.0, 0.0, -0.3], [-0.4, 0.1, 1.0, 0.5]])


class Quadratic:
    """An objective whose losses pull theta (n,) towards the rows of `centres` (m, n)."""

    def __init__(self, centres: Any = CENTRES, noise: float = 0.1, precision: int = 64, bad: Any = None) -> None:
        self.centres, self.noise, self.dtype = np.asarray(centres), noise, f"float{precision}"
        self.bad = bad  # (losses, seed, step) -> which losses are NaN
        self.names = tuple(f"loss{k}" for k in range(len(self.centres)))
        self.residual_rows = (0,)
        self.size = self.centres.shape[1]

    def start(self, seed: int) -> Any:
        return jnp.asarray(2.0 + 0.5 * np.sin(seed + np.arange(self.size)), self.dtype)

    def memory(self, seed: int) -> Any:
        return (jnp.zeros(2, self.dtype), None)

    def draw(self, theta: Any, memory: Any, seed: Any, step: Any) -> tuple[Any, Any]:
        phase = (1.7 * step + 0.3 * (seed % 1000) + 2.0 * np.arange(self.size)).astype(self.dtype)
        noise = self.noise * jnp.sin(phase)
        kept = memory[0] + theta[:2].astype(self.dtype) * (step % 3 == 0)
        return (noise, seed, step), (kept, None)

    def losses_and_gradients(self, theta: Any, batch: Any) -> tuple[Any, Any]:
        noise, seed, step = batch
        away = theta - jnp.asarray(self.centres, self.dtype)
        losses, G = 0.5 * jnp.sum(away**2, axis=1), away + noise
        if self.bad is not None:
            losses = jnp.where(self.bad(theta, seed, step), jnp.nan, losses)
            G = G + 0 * losses[:, None]
        return losses, G

    def traces(self, theta: Any, batch: Any) -> Any:
        return 1.0 + jnp.sum((theta - jnp.asarray(self.centres, self.dtype)) ** 2, axis=1)

    def unravel(self, theta: Any) -> Any:
        return {"matrix": theta.reshape(2, -1)}

    def predict(self, theta: Any, points: Any) -> Any:
        return points @ theta[:, None]

    def unknowns(self, theta: Any) -> dict[str, Any]:
        return {"first": theta[0]}

    def relative_l2(self, theta: Any) -> Any:
        mean = jnp.asarray(self.centres.mean(axis=0), self.dtype)
        return jnp.linalg.norm(theta - mean) / jnp.linalg.norm(mean)
