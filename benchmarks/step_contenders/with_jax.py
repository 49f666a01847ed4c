"""The equations of a problem in JAX."""

from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.step_problems import Floats, Mathematics, Place, Statement


def _lookup(table: Floats, rows: Any, columns: Any) -> Any:
    last = table.shape[0] - 1
    row, column = (jnp.round(at * last).astype(jnp.int32) for at in (rows, columns))
    return jnp.asarray(table)[row, column]


MATHEMATICS = Mathematics(jnp.sin, jnp.cos, jnp.exp, _lookup)


def target(stated: Statement, term: str, axes: tuple[str, ...], points: Any) -> Any:
    """(..., equations): what the outputs should be, where every equation of a term is an output minus its target."""
    at = {axis: points[..., index] for index, axis in enumerate(axes)}
    zero = jnp.zeros(points.shape[:-1])
    return -jnp.stack(stated.terms[term].equations(Place(lambda _: zero, at, MATHEMATICS)), axis=-1)


def wait_for(arrays: Any) -> None:
    """Until they are computed."""
    jax.block_until_ready(arrays)  # type: ignore[no-untyped-call]
