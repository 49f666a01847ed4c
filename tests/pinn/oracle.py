"""Training as a plain Python loop in NumPy: what the compiled one has to agree with."""

from collections.abc import Callable
from typing import Any

import numpy as np

from incenter.methods import Rule

Array = np.ndarray[Any, np.dtype[Any]]


class Adam:
    """The paper's: 0.9, 0.999, 1e-8, corrected for their start at zero."""

    def __init__(self, lr: float) -> None:
        self.lr, self.count = lr, 0
        self.first = self.second = np.zeros(())

    def __call__(self, update: Array) -> Array:
        self.count += 1
        self.first = 0.9 * self.first + 0.1 * update
        self.second = 0.999 * self.second + 0.001 * update**2
        corrected = self.first / (1 - 0.9**self.count), self.second / (1 - 0.999**self.count)
        step: Array = -self.lr * corrected[0] / (np.sqrt(corrected[1]) + 1e-8)
        return step


def descend(
    theta: Array,
    rule: Rule,
    optimizer: Callable[[Array], Array],
    losses_and_gradients: Callable[[Array, int], tuple[Array, Array]],
    steps: int,
    stop_radius: float | None = None,
) -> tuple[Array, int]:
    """theta after `steps` steps, or where the rule's r* is at most `stop_radius`; a non-finite step is left out."""
    state: Any = None
    for step in range(steps):
        losses, G = losses_and_gradients(theta, step)
        if not np.isfinite(losses).all():
            continue
        out = rule.combine(G, losses=losses, state=state, key=step)
        if stop_radius is not None and out.report["r*"] <= stop_radius:
            return theta, step
        state, theta = out.state, theta + optimizer(out.update)
    return theta, steps
