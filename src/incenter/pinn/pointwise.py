"""Whether a residual treats each point by itself, so that its points may be taken in portions.

The residual's program (its jaxpr) is read once. Every array in it either does not depend on the points (FREE), or has
the points along its first dimension, row k made from point k alone (ROWS). Entry-by-entry operations keep that, so does
what moves or sums other dimensions, and a table read at indices made from the points. The program for a portion must be
the same one, with the same numbers in it. Anything not known here (a mean over the points, a sort, a cumulative sum)
means no, which costs speed and never correctness.
"""

from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any

import jax
import numpy as np
from jax.extend.core import Literal

Arguments = tuple[Any, ...]


class Kind(Enum):
    """How an array depends on the points."""

    FREE = auto()
    ROWS = auto()


_ENTRYWISE = frozenset(
    """abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil clamp
    convert_element_type copy copy_p cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt integer_pow
    is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not or pow real rem round rsqrt select_n sign
    sin sinh sqrt square sub tan tanh xor""".split()  # noqa: SIM905
)
_SUMMING = frozenset(["argmax", "argmin", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_sum"])
_CALLS = frozenset(["jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "checkpoint", "remat2"])


def is_pointwise(function: Callable[..., Any], whole: Arguments, portion: Arguments) -> bool:
    """Whether `function` does to a portion of the points what it does to them among all.

    The arguments are two sets of arrays with the points as rows, and scalars; the answers have points as rows as well.
    """
    full = jax.make_jaxpr(function)(*whole)
    try:
        part = jax.make_jaxpr(function)(*portion)
    except Exception:  # what the user's function raises when it is made for one number of points only
        return False
    sizes = [np.shape(leaf) for leaf in jax.tree.leaves(whole)]
    kinds = [Kind.ROWS if size else Kind.FREE for size in sizes]
    count = max((size[0] for size in sizes if size), default=0)
    answers = _followed(full.jaxpr, kinds, count)
    same = list(_written(full.jaxpr)) == list(_written(part.jaxpr)) and _equal(full.consts, part.consts)
    return same and answers is not None and all(kind is Kind.ROWS for kind in answers)


def _followed(jaxpr: Any, kinds: list[Kind], count: int) -> list[Kind] | None:
    """The kinds of the outputs of a program, None where it is not understood."""
    known: dict[Any, Kind] = dict.fromkeys(jaxpr.constvars, Kind.FREE)
    known.update(zip(jaxpr.invars, kinds, strict=True))

    def kind_of(atom: Any) -> Kind:
        return Kind.FREE if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        found = [kind_of(atom) for atom in equation.invars]
        inner = _called(equation)
        answers = _followed(inner, found, count) if inner is not None else _after(equation, found, count)
        if answers is None:
            return None
        known.update(zip(equation.outvars, answers, strict=True))
    return [kind_of(atom) for atom in jaxpr.outvars]


def _after(equation: Any, kinds: list[Kind], count: int) -> list[Kind] | None:
    """The kinds of what one operation gives."""
    if Kind.ROWS in kinds:
        return [Kind.ROWS] * len(equation.outvars) if _keeps_rows(equation, kinds) else None
    shape = equation.outvars[0].aval.shape
    repeated = equation.primitive.name == "broadcast_in_dim" and 0 not in equation.params["broadcast_dimensions"]
    has_rows = repeated and len(shape) > 0 and shape[0] == count
    return [Kind.ROWS if has_rows else Kind.FREE] * len(equation.outvars)


def _keeps_rows(equation: Any, kinds: list[Kind]) -> bool:
    """Whether each row of the result comes from the same row of those arguments that have rows."""
    shapes, shape = [atom.aval.shape for atom in equation.invars], equation.outvars[0].aval.shape
    name, settings = equation.primitive.name, equation.params
    if name in _ENTRYWISE:
        return all(one == (shape if kind is Kind.ROWS else ()) for one, kind in zip(shapes, kinds, strict=True))
    if name in _SUMMING:
        return 0 not in settings["axes"]
    match name:
        case "squeeze":
            return 0 not in settings["dimensions"]
        case "slice" | "reshape":
            return len(shape) > 0 and shape[0] == shapes[0][0]
        case "broadcast_in_dim":
            return bool(settings["broadcast_dimensions"][0] == 0 and shape[0] == shapes[0][0])
        case "transpose":
            return bool(settings["permutation"][0] == 0)
        case "concatenate" | "stack":
            along = settings["dimension" if name == "concatenate" else "axis"]
            return along != 0 and Kind.FREE not in kinds
        case "gather":  # a free table, read at indices that have rows
            return kinds == [Kind.FREE, Kind.ROWS] and 0 not in settings["dimension_numbers"].offset_dims
        case "dot_general":
            (summed, _), (batch, _) = settings["dimension_numbers"]
            return kinds == [Kind.ROWS, Kind.FREE] and 0 not in summed and not batch
    return False


def _called(equation: Any) -> Any:
    """The program behind a call, None for an operation."""
    if equation.primitive.name not in _CALLS:
        return None
    inner = next(equation.params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in equation.params)
    return getattr(inner, "jaxpr", inner)


def _written(jaxpr: Any) -> Iterator[tuple[str, ...]]:
    """The operations of a program with the numbers that stand in it, without the shapes."""
    for equation in jaxpr.eqns:
        yield (equation.primitive.name, *(str(atom.val) for atom in equation.invars if isinstance(atom, Literal)))
        inner = _called(equation)
        if inner is not None:
            yield from _written(inner)


def _equal(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(
        np.shape(one) == np.shape(other) and bool(np.all(one == other)) for one, other in zip(some, others, strict=True)
    )
