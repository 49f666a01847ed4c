"""DeepXDE on PyTorch or on JAX (as DDE_BACKEND says): `deepxde.data.PDE` and `Model.train_step`, plain Adam.

Every condition is an equation of the `pde` function that takes its own rows, because DeepXDE's conditions on JAX know
neither derivatives nor several outputs. The points are fixed: drawing them anew in every step (PDEPointResampler) would
cost DeepXDE more, and so would the loop around its steps. Reverse mode is its default. On JAX forward mode is often
faster, so that both are shown; on PyTorch it is slower by two times and more.
"""

import os
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import deepxde as dde
import numpy as np

from benchmarks.step_contenders.protocol import RATE, Contender, by_term
from benchmarks.step_problems import Place, Statement, all_points, statement

IS_JAX = os.environ["DDE_BACKEND"] == "jax"

if IS_JAX:
    from benchmarks.step_contenders.deepxde_on_jax import MATHEMATICS, branches, fill, losses, take_steps
else:
    from benchmarks.step_contenders.deepxde_on_torch import MATHEMATICS, branches, fill, losses, take_steps


class Derivatives:
    """The field, by `dde.grad`; what JAX and forward mode wrap in a pair is unwrapped."""

    def __init__(self, stated: Statement, inputs: Any, outputs: Any) -> None:
        self._stated, self._inputs, self._outputs = stated, inputs, outputs

    def __call__(self, name: str) -> Any:
        output, _, along = name.partition("_")
        component = self._stated.outputs.index(output)
        axes = [self._stated.axes.index(axis) for axis in along]
        if not axes:
            return _values(self._outputs)[:, component : component + 1]
        if len(axes) == 1:
            return _values(dde.grad.jacobian(self._outputs, self._inputs, i=component, j=axes[0]))
        i, j = axes
        return _values(dde.grad.hessian(self._outputs, self._inputs, component=component, i=i, j=j))


def _some_rows(field: Derivatives, rows: slice, name: str) -> Any:
    return field(name)[rows]


def _values(found: Any) -> Any:
    return found[0] if isinstance(found, tuple) else found


class DeepXDE:
    """One problem as a `deepxde.Model`."""

    def __init__(self, problem: str, autodiff: str) -> None:
        self._stated, self._autodiff = statement(problem), autodiff
        points = list(all_points(self._stated).values())
        ends = [0, *accumulate(len(block) for block in points)]
        self._rows = [slice(*pair) for pair in pairwise(ends)]
        self._sizes: list[int] = []
        dde.config.set_default_autodiff(autodiff)
        low, high = zip(*self._stated.box.values(), strict=True)
        box = dde.geometry.Hypercube(np.array(low, dtype=float), np.array(high, dtype=float))
        data = dde.data.PDE(box, self._equations, [], num_domain=0, anchors=np.concatenate(points))
        self._model = dde.Model(data, branches(self._stated))
        self._model.compile("adam", lr=RATE, verbose=0)
        self.setting = f"points fixed, {autodiff} mode"

    def prepare(self, steps: int) -> None: ...

    def run(self, steps: int) -> None:
        dde.config.set_default_autodiff(self._autodiff)
        take_steps(self._model, steps)

    def losses(self) -> dict[str, float]:
        fill(self._model, self._stated)
        dde.config.set_default_autodiff(self._autodiff)
        return by_term(tuple(self._stated.terms), tuple(self._sizes), losses(self._model))

    def _equations(self, inputs: Any, outputs: Any) -> list[Any]:
        dde.grad.clear()  # under JAX nobody else does, and the cache would hand out tracers of another trace
        field = Derivatives(self._stated, inputs, outputs)
        parts: list[Any] = []
        self._sizes = []
        for term, rows in zip(self._stated.terms.values(), self._rows, strict=True):
            at = {axis: inputs[rows, index : index + 1] for index, axis in enumerate(self._stated.axes)}
            found = term.equations(Place(partial(_some_rows, field, rows), at, MATHEMATICS))
            self._sizes.append(len(found))
            parts += found
        return parts


def build(problem: str, variant: str) -> Contender:
    return DeepXDE(problem, variant)
