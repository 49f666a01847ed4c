"""Layers on jets: linear maps, activations, products.

With z the streams in front of an activation s, m_L = sum_ij A_ij z_i z_j, and a bar for the derivative of a loss,

    a_0 = s(z_0)     a_i = s' z_i     a_L = s' z_L + s'' m_L
    z_L~ = s' a_L~   z_i~ = s' a_i~ + s'' sum_L a_L~ dm_L/dz_i
    z_0~ = s' a_0~ + s'' (sum_i a_i~ z_i + sum_L a_L~ z_L) + s''' sum_L a_L~ m_L

(~ is the bar). The second half is written out because the derivation by machine keeps and moves twice as many arrays.
Streams are (features, N): the points are contiguous, which is what a processor's vector units want, and a layer W^T a
needs no transposed copy of a.
"""

from collections.abc import Iterable
from functools import partial

import jax
import jax.numpy as jnp

from incenter.pinn.activations import ACTIVATIONS, Saved
from incenter.pinn.operators import Needs, Operator
from incenter.pinn.taylor import Array, Streams

# Up to so many outputs, sums of scaled rows are faster than a matrix product and melt into what stands around them.
_FEW = 4


def contracted(weight: Array, stream: Array) -> Array:
    """W^T a: (in, out), (in, N) -> (out, N)."""
    if weight.shape[1] <= _FEW:
        return jnp.stack([jnp.sum(weight[:, j, None] * stream, axis=0) for j in range(weight.shape[1])])
    return _product(weight, stream)


def affine(streams: Streams, weight: Array, bias: Array) -> Streams:
    """W^T a for every stream; the bias belongs to the value alone."""
    value, *others = (contracted(weight, stream) for stream in streams)
    return (value + bias[:, None], *others)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def activated(name: str, needs: Needs, z: Streams) -> Streams:
    """The streams of s(z)."""
    return _activated(name, needs, z)[0]


def _activated(name: str, needs: Needs, z: Streams) -> tuple[Streams, tuple[Saved, Streams]]:
    saved = ACTIVATIONS[name].save(z[0])
    value, slope, curvature, _ = ACTIVATIONS[name].orders(saved)
    firsts = [slope * z[needs.first(axis)] for axis in needs.axes]
    seconds = [
        slope * z[needs.second(k)] + curvature * _quadratic(operator, needs, z)
        for k, operator in enumerate(needs.operators)
    ]
    return (value, *firsts, *seconds), (saved, z)


def _activated_back(name: str, needs: Needs, kept: tuple[Saved, Streams], bar: Streams) -> tuple[Streams]:
    saved, z = kept
    _, slope, curvature, third = ACTIVATIONS[name].orders(saved)
    back = [slope * one for one in bar]
    if needs.streams > 1:
        back[0] = back[0] + curvature * total(one * stream for one, stream in zip(bar[1:], z[1:], strict=True))
    for k, operator in enumerate(needs.operators):
        here = bar[needs.second(k)]
        back[0] = back[0] + third * here * _quadratic(operator, needs, z)
        bent = curvature * here
        for (i, j), coefficient in operator:
            at, to = needs.first(i), needs.first(j)
            back[at] = back[at] + coefficient * bent * z[to]
            back[to] = back[to] + coefficient * bent * z[at]
    return (tuple(back),)


activated.defvjp(_activated, _activated_back)


def product(a: Streams, b: Streams, needs: Needs) -> Streams:
    """The streams of the entrywise product."""
    firsts = [a[0] * b[k] + a[k] * b[0] for k in map(needs.first, needs.axes)]
    seconds = []
    for k, operator in enumerate(needs.operators):
        pairs = [(c, needs.first(i), needs.first(j)) for (i, j), c in operator]
        mixed = total(c * (a[i] * b[j] + a[j] * b[i]) for c, i, j in pairs)
        seconds.append(a[0] * b[needs.second(k)] + a[needs.second(k)] * b[0] + mixed)
    return (a[0] * b[0], *firsts, *seconds)


def from_points(
    points: Array, weights: tuple[Array, Array], biases: tuple[Array, Array], name: str, needs: Needs
) -> Streams:
    """The first two linear layers and the activation between, for streams that start from the points themselves.

    There z_i is a row w_i of the first layer, the same at all points, and z_L = 0; so a_i = w_i s' and
    a_L = (sum_ij A_ij w_i w_j) s'', and the factors go into copies of the second layer:  W^T a_i = (diag(w_i) W)^T s'.
    """
    first, second = weights
    ones = jnp.ones((1, points.shape[0]), points.dtype)
    with_bias = jnp.concatenate([first, biases[0][None]])
    value, slope, curvature = ACTIVATIONS[name](_product(with_bias, jnp.concatenate([points.T, ones])))
    streams = [contracted(second, value) + biases[1][:, None]]
    streams += _scaled_products(second, [first[axis] for axis in needs.axes], slope)
    quadratics = [total(c * first[i] * first[j] for (i, j), c in operator) for operator in needs.operators]
    streams += _scaled_products(second, quadratics, curvature)
    return tuple(streams)


@jax.custom_vjp
def settled(streams: Streams) -> Streams:
    """The same streams. On the way back theirs are brought together in one array in memory first.

    Without it XLA computes the residual's derivative again for every entry of the last layer that it meets.
    """
    return streams


def _settled_back(_: None, bar: Streams) -> tuple[Streams]:
    rows = bar[0].shape[0]
    together: Array = jax.lax.optimization_barrier(jnp.concatenate(bar))  # type: ignore[no-untyped-call]
    return (tuple(together[k * rows : (k + 1) * rows] for k in range(len(bar))),)


settled.defvjp(lambda streams: (streams, None), _settled_back)


def total(terms: Iterable[Array]) -> Array:
    """Their sum, without the zero that Python starts from."""
    first, *others = terms
    return jnp.asarray(sum(others, start=first))


def _product(weight: Array, stream: Array) -> Array:
    return jax.lax.dot_general(weight, stream, (((0,), (0,)), ((), ())))


def _quadratic(operator: Operator, needs: Needs, z: Streams) -> Array:
    """m_L = sum_ij A_ij z_i z_j."""
    return total(c * z[needs.first(i)] * z[needs.first(j)] for (i, j), c in operator)


def _scaled_products(weight: Array, rows: list[Array], stream: Array) -> list[Array]:
    """(diag(row) W)^T a for each row, in one product."""
    if not rows:
        return []
    width = weight.shape[1]
    side_by_side = contracted(jnp.concatenate([row[:, None] * weight for row in rows], axis=1), stream)
    return [side_by_side[k * width : (k + 1) * width] for k in range(len(rows))]
