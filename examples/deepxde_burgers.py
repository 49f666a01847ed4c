"""Burgers' equation as DeepXDE's own example states it, with one line more: `attach(model)`.

    DDE_BACKEND=pytorch python examples/deepxde_burgers.py        # or jax

The example's data file is not in DeepXDE's wheel; the error is measured against the formula of Cole and Hopf: after the
last step, and where DeepXDE saw the least training loss, at which it looks every 1,000 steps.
"""

import argparse
import os
from typing import Any

os.environ.setdefault("DDE_BACKEND", "pytorch")

import deepxde as dde
import numpy as np

from incenter.adapters.deepxde import attach
from incenter.pinn.problems.solvers.cole_hopf import cole_hopf


def pde(x: Any, y: Any) -> Any:
    dy_x = dde.grad.jacobian(y, x, i=0, j=0)
    dy_t = dde.grad.jacobian(y, x, i=0, j=1)
    dy_xx = dde.grad.hessian(y, x, i=0, j=0)
    if dde.backend.backend_name == "jax":  # there each of them is a pair of values and function
        y, dy_x, dy_t, dy_xx = y[0], dy_x[0], dy_t[0], dy_xx[0]
    return dy_t + y * dy_x - 0.01 / np.pi * dy_xx


def make_model(seed: int) -> dde.Model:
    dde.config.set_random_seed(seed)
    geometry = dde.geometry.GeometryXTime(dde.geometry.Interval(-1, 1), dde.geometry.TimeDomain(0, 0.99))
    walls = dde.icbc.DirichletBC(geometry, lambda _: 0, lambda _, on_boundary: on_boundary)
    start = dde.icbc.IC(geometry, lambda x: -np.sin(np.pi * x[:, 0:1]), lambda _, on_initial: on_initial)
    data = dde.data.TimePDE(geometry, pde, [walls, start], num_domain=2540, num_boundary=80, num_initial=160)
    return dde.Model(data, dde.nn.FNN([2] + [20] * 3 + [1], "tanh", "Glorot normal"))


def relative_error(model: dde.Model) -> float:
    x, t = np.meshgrid(np.linspace(-1, 1, 256), np.linspace(0, 0.99, 100))
    exact = cole_hopf(x.ravel(), t.ravel())
    predicted = model.predict(np.stack([x.ravel(), t.ravel()], axis=1).astype(np.float32))[:, 0]
    return float(np.linalg.norm(predicted - exact) / np.linalg.norm(exact))


class ErrorAtBest(dde.callbacks.Callback):
    """The error at what DeepXDE calls its best step."""

    error = float("nan")

    def on_epoch_end(self) -> None:
        if self.model.train_state.best_step == self.model.train_state.step:
            self.error = relative_error(self.model)


def train(steps: int, seed: int, plain: bool) -> tuple[float, float]:
    """The errors after the last step and at the best one."""
    model = make_model(seed)
    model.compile("adam", lr=1e-3, verbose=0)
    if not plain:
        attach(model)
    at_best = ErrorAtBest()
    model.train(iterations=steps, display_every=min(steps, 1000), verbose=0, callbacks=[at_best])
    return relative_error(model), at_best.error


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=15000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="DeepXDE as it is, for comparison")
    options = parser.parse_args()
    last, best = train(options.steps, options.seed, options.plain)
    print(f"relative L2 error after the last step: {last:.4f}")
    print(f"relative L2 error at the least training loss: {best:.4f}")
