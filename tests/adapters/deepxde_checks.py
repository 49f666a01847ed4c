"""What the adapter of DeepXDE must do, on the backend that DDE_BACKEND names; run in a process of its own.

The problem is u'' = -C pi^2 sin(pi x) with an unknown C, the ends, and values of the solution for C = 1: three losses
and an external trainable variable.
"""

import importlib
import os
from typing import Any

import deepxde as dde
import numpy as np
import pytest

from incenter import IncenterError
from incenter.adapters.deepxde import Attached, attach
from incenter.methods import Rule, by_name
from incenter.methods.relobralo import ReLoBRaLo
from incenter.methods.sum import Sum

IS_JAX = os.environ["DDE_BACKEND"] == "jax"
RATE = 1e-3
backend: Any = importlib.import_module("jax.numpy" if IS_JAX else "torch")


class Poisson:
    """A compiled model, its unknown, and all that is trained as one vector."""

    def __init__(self, optimizer: Any = "adam", **options: Any) -> None:
        dde.config.set_random_seed(0)
        self.unknown = dde.Variable(0.5)
        line = dde.geometry.Interval(-1, 1)
        x = np.linspace(-0.9, 0.9, 7)[:, None]
        ends = dde.icbc.DirichletBC(line, lambda _: 0, lambda _, on_boundary: on_boundary)
        values = dde.icbc.PointSetBC(x, np.sin(np.pi * x))
        equation = self._equation_on_jax if IS_JAX else self._equation
        data = dde.data.PDE(line, equation, [ends, values], num_domain=20, num_boundary=2, anchors=x)
        self.model = dde.Model(data, dde.nn.FNN([1, 8, 1], "tanh", "Glorot normal"))
        self.options = {"lr": 1e-2, "loss_weights": [1, 100, 10], "external_trainable_variables": self.unknown}
        self.model.compile(optimizer, verbose=0, **{**self.options, **options})

    def trained(self, steps: int) -> Any:
        self.model.train(iterations=steps, display_every=1000, verbose=0)
        if IS_JAX:
            from jax.flatten_util import ravel_pytree

            return np.asarray(ravel_pytree(self.model.params)[0])
        parameters = [*self.model.net.parameters(), self.unknown]
        return np.concatenate([each.detach().numpy().ravel() for each in parameters])

    def _equation(self, x: Any, y: Any) -> Any:
        return dde.grad.hessian(y, x) + self.unknown * np.pi**2 * backend.sin(np.pi * x)

    def _equation_on_jax(self, x: Any, y: Any, unknowns: Any) -> Any:
        values, _ = dde.grad.hessian(y, x)
        return values + unknowns[0] * np.pi**2 * backend.sin(np.pi * x)


def attached(rule: Rule, **options: Any) -> tuple[Poisson, Attached]:
    poisson = Poisson(**options)
    return poisson, attach(poisson.model, rule)


def step_with(rule: Rule | None, loss_weights: list[float], **options: Any) -> Any:
    """The change of all that is trained in one step of plain gradient descent, over minus the rate."""
    poisson = Poisson("sgd", lr=RATE, loss_weights=loss_weights, **options)
    start = poisson.trained(0)
    if rule is not None:
        attach(poisson.model, rule)
    return (start - poisson.trained(1)) / RATE


def test_the_sum_steps_as_without_the_adapter() -> None:
    plain, found = (step_with(rule, [1, 100, 10]) for rule in (None, Sum()))
    assert abs(plain[-1]) > 0.1  # the unknown's
    np.testing.assert_allclose(found, plain, rtol=1e-4, atol=1e-4 * float(np.linalg.norm(plain)))


@pytest.mark.parametrize("name", ["chebyshev", "upgrad", "imtl_g"])
def test_a_step_is_the_rules_update_of_all_gradients(name: str) -> None:
    """The gradients of single losses, the external variable's included, from steps without the adapter."""
    weights = np.diag([1.0, 100.0, 10.0]).tolist()
    G = np.stack([step_with(None, only) for only in weights]).astype(np.float64)
    expected = by_name(name).combine(G).update
    found = step_with(by_name(name), [1.0, 100.0, 10.0])
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3 * float(np.linalg.norm(expected)))


def test_the_rate_decays_as_without_the_adapter() -> None:
    decay = ("exponential", 1, 0.5) if IS_JAX else ("exponential", 0.5)
    plain, with_sum = Poisson("sgd", lr=RATE, decay=decay), Poisson("sgd", lr=RATE, decay=decay)
    attach(with_sum.model, Sum())
    np.testing.assert_allclose(with_sum.trained(5), plain.trained(5), rtol=1e-4, atol=1e-5)


def test_the_last_step_can_be_logged() -> None:
    poisson, of = attached(by_name("chebyshev"))
    poisson.trained(1)
    assert 0 < float(of.last.radius) <= 1
    assert len(of.last.weights) == 3


def test_a_rule_with_memory_remembers() -> None:
    poisson, last = attached(ReLoBRaLo(lookback="expected"))
    poisson.trained(3)
    state = poisson.model.opt_state[1] if IS_JAX else last.step.state_dict()["_extra_state"]["memory"]["numbers"]
    step = state.step if IS_JAX else state["step"]
    assert int(step) == 3


def test_what_cannot_be_gets_one_sentence() -> None:
    bare = dde.Model(Poisson().model.data, dde.nn.FNN([1, 8, 1], "tanh", "Glorot normal"))
    with pytest.raises(IncenterError, match="has no optimiser yet"):
        attach(bare)
    with pytest.raises(IncenterError, match='is an optimiser; compile with "sgd"'):
        attach(Poisson().model, by_name("multiadam"))


@pytest.mark.skipif(IS_JAX, reason="DeepXDE has neither there")
def test_optimisers_of_pytorch_that_do_not_fit_get_one_sentence() -> None:
    with pytest.raises(IncenterError, match="L-BFGS searches along one summed loss"):
        attach(Poisson("L-BFGS", lr=None).model)
    forgetful = Poisson()
    own = backend.optim.Adam(forgetful.model.net.parameters(), lr=1e-3)
    forgetful.model.compile(own, verbose=0, external_trainable_variables=forgetful.unknown)
    with pytest.raises(IncenterError, match="does not train all external_trainable_variables"):
        attach(forgetful.model)
