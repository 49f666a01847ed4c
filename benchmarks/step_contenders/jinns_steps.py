"""jinns: its losses, networks and data generators, and `jinns.solve` under one jit, plain Adam.

Its generators hold the points fixed, in full batches, which is their fastest setting. A boundary loss is jinns' sum
over faces of means, so it is weighted by one over the number of faces. An initial condition on a derivative is none
that jinns knows: Klein-Gordon is stated on the box of space and time, whose upper time face is moved down to the lower
one, so that this has all its points, and the conditions are told apart by face. Equations are differentiated at a
point: in reverse mode, as in jinns' own equations, or in forward mode, whichever is faster.
"""

import warnings
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jinns
import optax
from jinns.data import CubicMeshPDENonStatio, CubicMeshPDEStatio, DataGeneratorObservations
from jinns.loss import BoundaryConditionAbstract, LossPDENonStatio, LossPDEStatio, PDENonStatio, PDEStatio
from jinns.loss import LossWeightsPDENonStatio as WeightsNonStatio
from jinns.loss import LossWeightsPDEStatio as WeightsStatio

from benchmarks.step_contenders.protocol import RATE, Contender, faster
from benchmarks.step_contenders.with_jax import MATHEMATICS, target, wait_for
from benchmarks.step_problems import (
    WIDTH,
    Branch,
    Floats,
    Place,
    Statement,
    all_parameters,
    all_points,
    asked,
    statement,
)

KEY = jax.random.PRNGKey(0)


class Network(eqx.Module):
    """Branches side by side, each of which sees its own coordinates."""

    parts: list[Any]
    seen: tuple[tuple[int, ...], ...] = eqx.field(static=True)

    def __call__(self, point: Any) -> Any:
        return jnp.concatenate([part(point[jnp.array(seen)]) for part, seen in zip(self.parts, self.seen, strict=True)])


class Derivatives:
    """The field at one point."""

    def __init__(self, outputs: tuple[str, ...], axes: tuple[str, ...], u: Any, point: Any, mode: str) -> None:
        self._outputs, self._axes, self._u, self._point = outputs, axes, u, point
        self._along = _forward if mode == "forward" else _reverse

    def __call__(self, name: str) -> Any:
        output, _, along = name.partition("_")
        component = self._outputs.index(output)

        def function(point: Any) -> Any:
            return self._u(point)[component]

        for axis in along:
            function = self._along(function, self._axes.index(axis))
        return function(self._point)


def _forward(function: Any, axis: int) -> Any:
    def derivative(point: Any) -> Any:
        return jax.jvp(function, (point,), (jnp.zeros_like(point).at[axis].set(1.0),))[1]

    return derivative


def _reverse(function: Any, axis: int) -> Any:
    return lambda point: jax.grad(function)(point)[axis]


class Stated(eqx.Module):
    """A term's equations at one point."""

    stated: Statement = eqx.field(static=True)
    axes: tuple[str, ...] = eqx.field(static=True)  # as jinns orders them: time first where it is told of time
    mode: str = eqx.field(static=True)

    def __call__(self, term: str, point: Any, u: Any, params: Any) -> Any:
        field = Derivatives(self.stated.outputs, self.axes, lambda at: u(at, params), point, self.mode)
        at = {axis: point[index] for index, axis in enumerate(self.axes)}
        return jnp.stack(self.stated.terms[term].equations(Place(field, at, MATHEMATICS)))


class Steady(PDEStatio):  # type: ignore[misc]  # jinns is seen as untyped
    equations: Stated = eqx.field(kw_only=True)

    def equation(self, x: Any, u: Any, params: Any) -> Any:
        return self.equations("residual", x, u, params)


class Moving(PDENonStatio):  # type: ignore[misc]
    equations: Stated = eqx.field(kw_only=True)

    def equation(self, t_x: Any, u: Any, params: Any) -> Any:
        return self.equations("residual", t_x, u, params)


class Conditions(BoundaryConditionAbstract):  # type: ignore[misc]
    """On each face the term that `terms` names for it."""

    equations: Stated
    terms: tuple[str, ...] = eqx.field(static=True)

    def equation_u(self, inputs: Any, u: Any, params: Any) -> Any:
        return tuple(self.equations(term, inputs[..., face], u, params) for face, term in enumerate(self.terms))

    def equation_f(self, inputs: Any, params: Any, gridify: bool = False) -> Any:
        stated = self.equations.stated
        return tuple(jnp.zeros(asked(stated, stated.terms[term])[1]) for term in self.terms)


class Jinns:
    """One problem, with the loss, the points and the state of its optimiser."""

    def __init__(self, problem: str, mode: str) -> None:
        self._stated = statement(problem)
        self._by_space = problem in ("helmholtz", "kovasznay", "klein_gordon")  # jinns is not told of time
        axes = self._stated.axes if self._by_space else ("t", *self._stated.space)
        self._equations = Stated(self._stated, axes, mode)
        self._network = _network(self._stated, axes)
        self._params = self._params_of(self._network)
        self._loss = self._make_loss()
        self._data, self._observations = self._points()
        self._optimizer = optax.adam(RATE)
        self._state = self._optimizer.init(self._params)
        self._compiled: dict[int, Any] = {}
        self.setting = "points fixed; modes: "

    def prepare(self, steps: int) -> None:
        """`jinns.solve` is compiled for a number of steps."""
        if steps not in self._compiled:
            solve = partial(self._solve, steps)
            arguments = (self._params, self._state, self._data, self._observations)
            self._compiled[steps] = _compiled(solve, arguments)

    def run(self, steps: int) -> None:
        self.prepare(steps)
        self._params, self._state = self._compiled[steps](self._params, self._state, self._data, self._observations)
        wait_for(self._params)

    def losses(self) -> dict[str, float]:
        points = all_points(self._stated)
        params = self._params_of(_filled(self._network, self._stated))
        _, found = self._loss(params, self._batch({name: self._ordered(block) for name, block in points.items()}))
        losses = {"residual": sum(found.dyn_loss), self._on_faces: found.boundary_loss * self._weight}
        if getattr(found, "initial_condition", None) is not None:
            losses["initial"] = found.initial_condition
        if found.observations is not None:
            losses["observations"] = sum(found.observations)
        return {name: float(value) for name, value in losses.items()}

    @property
    def _on_faces(self) -> str:
        return "boundary+initial" if self._by_space and "initial" in self._stated.terms else "boundary"

    @property
    def _faces(self) -> tuple[str, ...]:
        if self._on_faces == "boundary+initial":
            return "boundary", "boundary", "initial", "initial"
        return ("boundary",) * (2 * len(self._stated.space))

    @property
    def _weight(self) -> float:
        """Each term is a mean over its own faces."""
        return 1 / self._faces.count("boundary")

    def _solve(self, steps: int, params: Any, state: Any, data: Any, observations: Any) -> tuple[Any, Any]:
        found = jinns.solve(
            n_iter=steps,
            init_params=params,
            opt_state=state,
            data=data,
            obs_data=observations,
            loss=self._loss,
            optimizer=self._optimizer,
            print_loss_every=steps,
            verbose=False,
            ahead_of_time=False,
        )
        return found[0], found[5]

    def _params_of(self, network: Network) -> Any:
        self._pinn = jinns.nn.PINN(eq_type="PDEStatio" if self._by_space else "PDENonStatio", eqx_network=network)
        return jinns.parameters.Params(nn_params=self._pinn.init_params, eq_params={})

    def _make_loss(self) -> Any:
        conditions = Conditions(self._equations, self._faces)
        shared = {"u": self._pinn, "boundary_condition": conditions, "params": self._params}
        if self._by_space:
            weights = WeightsStatio(dyn_loss=1.0, boundary_loss=self._weight)
            return LossPDEStatio(dynamic_loss=Steady(equations=self._equations), loss_weights=weights, **shared)
        weights = {"dyn_loss": 1.0, "boundary_loss": self._weight}
        if "initial" in self._stated.terms:
            start = jnp.array([float(self._stated.box["t"][0])])
            shared["initial_condition_fun"] = lambda x: self._target("initial", jnp.concatenate([start, x]))
            weights["initial_condition"] = 1.0
        if "observations" in self._stated.terms:
            shared["obs_slice"] = jnp.s_[:1]
            weights["observations"] = 1.0
        dynamic = Moving(equations=self._equations)
        return LossPDENonStatio(dynamic_loss=dynamic, loss_weights=WeightsNonStatio(**weights), **shared)

    def _points(self) -> tuple[Any, Any]:
        terms, box = self._stated.terms, self._stated.box
        space = self._stated.axes if self._by_space else self._stated.space
        low, high = (tuple(float(box[axis][end]) for axis in space) for end in (0, 1))
        count = terms["residual"].count
        shared = {"key": KEY, "n": count, "dim": len(space), "min_pts": low, "max_pts": high, "method": "uniform"}
        on_faces = sum(terms[name].count for name in set(self._faces))
        if self._by_space:
            data = CubicMeshPDEStatio(nb=on_faces, **shared)
            return _with_lower_face_twice(data) if "t" in space else data, None
        start, end = box["t"]
        initial = terms["initial"].count if "initial" in terms else 1
        data = CubicMeshPDENonStatio(nb=on_faces, ni=initial, tmin=float(start), tmax=float(end), **shared)
        if "observations" not in terms:
            return data, None
        pool = jnp.asarray(self._ordered(all_points(self._stated)["observations"]))
        values = self._target("observations", pool)
        return data, DataGeneratorObservations(key=KEY, observed_pinn_in=pool, observed_values=values)

    def _target(self, term: str, points: Any) -> Any:
        return target(self._stated, term, self._equations.axes, points)

    def _batch(self, points: dict[str, Any]) -> Any:
        """The given points in jinns' shape: faces along the last axis."""
        faces = jnp.concatenate([points[name] for name in dict.fromkeys(self._faces)])
        border = jnp.stack(jnp.split(faces, len(self._faces)), axis=-1)
        domain = jnp.asarray(points["residual"])
        if self._by_space:
            return jinns.data.PDEStatioBatch(domain_batch=domain, border_batch=border)
        observed = None
        if "observations" in points:
            pool = jnp.asarray(points["observations"])
            observed = ({"pinn_in": pool, "val": self._target("observations", pool), "eq_params": None},)
        initial = jnp.asarray(points["initial"][:, 1:]) if "initial" in points else None
        return jinns.data.PDENonStatioBatch(
            domain_batch=domain, border_batch=border, initial_batch=initial, obs_batch_dict=observed
        )

    def _ordered(self, points: Floats) -> Floats:
        return points[:, [self._stated.axes.index(axis) for axis in self._equations.axes]]


def _compiled(solve: Any, arguments: tuple[Any, ...]) -> Any:
    jitted: Any = eqx.filter_jit(solve)
    return jitted.lower(*arguments).compile()


def _with_lower_face_twice(data: Any) -> Any:
    """Faces are x low, x high, t low, t high; the last one becomes another part of t low."""
    border = data.omega_border
    return eqx.tree_at(lambda d: d.omega_border, data, border.at[:, 1, 3].set(border[0, 1, 2]))


def _network(stated: Statement, axes: tuple[str, ...]) -> Network:
    seen = tuple(tuple(axes.index(axis) for axis in branch.inputs) for branch in stated.branches)
    return Network([_mlp(branch) for branch in stated.branches], seen)


def _mlp(branch: Branch) -> Any:
    layers: list[Any] = []
    for ins in [len(branch.inputs), *[WIDTH] * (branch.depth - 1)]:
        layers += [(eqx.nn.Linear, ins, WIDTH), (jnp.tanh,)]
    return jinns.nn.MLP(key=KEY, eqx_list=(*layers, (eqx.nn.Linear, WIDTH, len(branch.outputs))))


def _filled(network: Network, stated: Statement) -> Network:
    """The common parameters."""
    leaves = [
        jnp.asarray(leaf) for branch in all_parameters(stated) for layer in branch for leaf in (layer[0].T, layer[1])
    ]
    filled: Network = eqx.tree_at(_leaves, network, leaves)
    return filled


def _leaves(network: Network) -> list[Any]:
    linear = [layer for part in network.parts for layer in part.layers if isinstance(layer, eqx.nn.Linear)]
    return [leaf for layer in linear for leaf in (layer.weight, layer.bias)]


def build(problem: str, _variant: str) -> Contender:
    warnings.filterwarnings("ignore", message=".*ondition.*", module="jinns")  # no initial condition: on purpose
    return faster({mode: partial(Jinns, problem, mode) for mode in ("forward", "reverse")})
