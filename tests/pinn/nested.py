"""The oracle of derivatives: nested autodiff of the plain network, one point at a time, and losses made from it."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from incenter.pinn.fields import Field
from incenter.pinn.modules import Dense, Features, Gated, Output, Parallel, Plain, Selected
from incenter.pinn.operators import Operator

Array = jax.Array
Plainly = Callable[[Array], Array]  # a point (d,) to the outputs (k,)

SMOOTH: dict[str, Callable[[Array], Array]] = {
    "tanh": jnp.tanh,
    "sin": jnp.sin,
    "swish": lambda z: z / (1 + jnp.exp(-z)),
    "gelu": lambda z: z * (1 + jax.scipy.special.erf(z / jnp.sqrt(2.0).astype(z.dtype))) / 2,
}


def quickly(function: Callable[..., Any]) -> Any:
    """Compiled with little care: these programs run once."""
    return jax.jit(
        function,
        compiler_options={"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True},
    )


def plainly(network: Any) -> Plainly:
    """The network as its definition has it, without any of the machinery that pushes jets."""
    match network:
        case Dense():
            return lambda x: _dense(network, x)
        case Gated():
            return lambda x: _gated(network, x)
        case Features():
            turns = 2 * jnp.pi * jnp.asarray(network.frequencies)
            inner = plainly(network.then)
            return lambda x: inner(
                jnp.concatenate([jnp.cos(x @ turns.astype(x.dtype)), jnp.sin(x @ turns.astype(x.dtype))])
            )
        case Plain():
            return lambda x: jnp.asarray(network.module(x))
        case Selected():
            seen, columns = plainly(network.network), jnp.array(network.columns)
            return lambda x: seen(x[columns])
        case Parallel():
            return lambda x: _parallel(network, x)
        case Output():
            return lambda x: _transformed(network, x)
    raise TypeError(f"no plain form of {type(network).__name__}")


def _dense(network: Dense, x: Array) -> Array:
    for k, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        x = (SMOOTH[network.activation](x) if k else x) @ weight + bias
    return x


def _gated(network: Gated, x: Array) -> Array:
    s = SMOOTH[network.activation]
    u, v = (s(_dense(one, x)) for one in network.encoders)
    state = s(_dense(network.first, x))
    for layer in network.hidden:
        gate = s(_dense(layer, state))
        state = (1 - gate) * u + gate * v
    return _dense(network.last, state)


def _parallel(network: Parallel, x: Array) -> Array:
    parts: dict[int, Array] = {}
    for branch, outputs in zip(network.branches, network.owned, strict=True):
        parts.update(zip(outputs, plainly(branch)(x), strict=True))
    return jnp.stack([parts[k] for k in sorted(parts)])


def _transformed(network: Output, x: Array) -> Array:
    values = dict(zip(network.outputs, plainly(network.network)(x), strict=True)) | dict(
        zip(network.axes, x, strict=True)
    )
    names = network.function.__code__.co_varnames[: network.function.__code__.co_argcount]
    answer = network.function(*(values[name] for name in names))
    return jnp.stack(answer) if isinstance(answer, tuple) else jnp.asarray(answer)[None]


class Nested:
    """A source of fields that differentiates the plain network."""

    def __init__(
        self, network: Any, axes: tuple[str, ...], outputs: tuple[str, ...], points: Array, normals: Array | None
    ) -> None:
        self.axes, self.points, self.normals = axes, points, normals
        self._outputs, self._plain = outputs, plainly(network)

    def value(self, output: str) -> Array:
        value: Array = jax.vmap(self._plain)(self.points)
        return value[:, self._outputs.index(output)]

    def first(self, output: str, axis: int) -> Array:
        slopes: Array = jax.vmap(jax.jacrev(self._plain))(self.points)
        return slopes[:, self._outputs.index(output), axis]

    def second(self, output: str, operator: Operator) -> Array:
        bent: Array = jax.vmap(jax.hessian(self._plain))(self.points)[:, self._outputs.index(output)]
        return jnp.asarray(sum(coefficient * bent[:, i, j] for (i, j), coefficient in operator))


def loss(problem: Any, term: Any, network: Any, unknowns: Mapping[str, Array], sample: Any) -> Array:
    """A term's loss by nested autodiff."""

    def fields(points: Array) -> dict[str, Field]:
        source = Nested(network, tuple(problem.domain.axes), tuple(problem.outputs), points, sample.normals)
        return {name: Field(name, source) for name in problem.outputs}

    names: dict[str, Any] = {**fields(sample.points), **unknowns}
    if term.paired:
        (left,), (right,) = fields(sample.points).values(), fields(sample.partners).values()
        names = {"left": left, "right": right, **unknowns}
    return jnp.asarray(sum(jnp.mean(equation**2) for equation in term.components(names, sample)))
