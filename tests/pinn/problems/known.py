"""Exact solutions as the fields that a residual sees: derivatives by sympy, values in NumPy, nothing of the engine."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class KnownField(np.ndarray):
    """The array of its values, with derivatives and coordinates as attributes."""


def known_field(expression: sympy.Expr, points: dict[str, Floats]) -> Any:
    """The field of a closed formula in symbols named as the axes."""
    axes = [sympy.Symbol(axis, real=True) for axis in points]

    def values(formula: Any) -> Floats:
        return np.broadcast_to(sympy.lambdify(axes, formula, "numpy")(*points.values()), count).astype(np.float64)

    count = next(iter(points.values())).shape
    field = values(expression).view(KnownField)
    field.at = SimpleNamespace(**points)  # type: ignore[attr-defined]
    for first in axes:
        setattr(field, first.name, values(sympy.diff(expression, first)))
        for second in axes:
            setattr(field, first.name + second.name, values(sympy.diff(expression, first, second)))
    return field


def inside(seed: int = 0, count: int = 500, **axes: tuple[float, float]) -> dict[str, Floats]:
    """Uniform points in a box, as one array for each axis."""
    draws = np.random.default_rng(seed)
    return {axis: draws.uniform(low, high, count) for axis, (low, high) in axes.items()}
