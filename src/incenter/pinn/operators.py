"""Second-order operators L = sum_ij A_ij d_i d_j with constant coefficients, and what a residual needs of them.

An operator is a tuple of ((i, j), coefficient) with i <= j, sorted; the coefficient of a mixed pair is A_ij + A_ji. A
network carries each operator as one stream, so what counts is how many linearly independent ones are asked for:
u_xx + u_yy alone is one stream, together with u_xx it is two (the third one, u_yy, is then free). `Needs` holds such a
basis; any operator in its span is a combination of the streams.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from incenter.geometry.errors import IncenterError

Pair = tuple[int, int]
Operator = tuple[tuple[Pair, float], ...]

# Coefficients are sums and products of Python floats: below this, relative to the largest, they are rounding.
_ROUNDING = 1e-12


def operator_of(coefficients: dict[Pair, float]) -> tuple[float, Operator]:
    """(scale, operator) with the operator's largest coefficient 1; (0, ()) for the zero operator."""
    scale = max(coefficients.values(), key=abs, default=0.0)
    if scale == 0.0:
        return 0.0, ()
    kept = ((pair, value / scale) for pair, value in sorted(coefficients.items()))
    return scale, tuple((pair, value) for pair, value in kept if abs(value) > _ROUNDING)


def axes_of(operator: Operator) -> set[int]:
    """The axes along which the operator differentiates."""
    return {axis for pair, _ in operator for axis in pair}


class Needs(NamedTuple):
    """Which streams are to be computed beside the value."""

    axes: tuple[int, ...] = ()  # first derivatives, sorted; the operators' axes are among them
    operators: tuple[Operator, ...] = ()  # linearly independent

    @property
    def streams(self) -> int:
        """How many there are, the value included."""
        return 1 + len(self.axes) + len(self.operators)

    def first(self, axis: int) -> int:
        """The position of a first derivative among the streams."""
        return 1 + self.axes.index(axis)

    def second(self, k: int) -> int:
        """The position of the k-th operator among the streams."""
        return 1 + len(self.axes) + k


def needs_of(axes: Iterable[int], operators: Iterable[Operator]) -> Needs:
    """The fewest streams from which all of these can be had; short operators are preferred, as the cheapest."""
    basis: list[Operator] = []
    for operator in sorted(set(operators), key=lambda one: (len(one), one)):
        if operator and _rank([*basis, operator]) > len(basis):
            basis.append(operator)
    along = {axis for operator in basis for axis in axes_of(operator)} | set(axes)
    return Needs(tuple(sorted(along)), tuple(basis))


def union(needs: Iterable[Needs]) -> Needs:
    """What serves all of them."""
    every = list(needs)
    return needs_of(
        (axis for one in every for axis in one.axes), (operator for one in every for operator in one.operators)
    )


def restricted(needs: Needs, columns: tuple[int, ...]) -> Needs:
    """The needs of a network that sees only these columns of the points, in their numbering; the rest is zero."""
    place = {column: k for k, column in enumerate(columns)}
    kept = [_restricted(operator, place) for operator in needs.operators]
    return needs_of((place[axis] for axis in needs.axes if axis in place), (operator for _, operator in kept))


def combination(operator: Operator, basis: tuple[Operator, ...]) -> np.ndarray:
    """c (basis,) with operator = sum_k c_k basis_k."""
    pairs = sorted({pair for one in (*basis, operator) for pair, _ in one})
    columns = np.array([_row(one, pairs) for one in basis]).reshape(len(basis), len(pairs)).T
    target = np.array(_row(operator, pairs))
    found: np.ndarray = np.linalg.lstsq(columns, target, rcond=None)[0]
    found[np.abs(found) <= _ROUNDING * np.max(np.abs(found), initial=0.0)] = 0.0
    if np.max(np.abs(columns @ found - target), initial=0.0) > 1e3 * _ROUNDING:
        raise IncenterError(
            f"The residual asked for the second-order operator {operator} only when it was evaluated, not when it was "
            "examined; let it ask for the same derivatives every time."
        )
    return found


def restricted_operator(operator: Operator, columns: tuple[int, ...]) -> tuple[float, Operator]:
    """The operator as a network with only these input columns sees it, with the scale taken out."""
    return _restricted(operator, {column: k for k, column in enumerate(columns)})


def _restricted(operator: Operator, place: dict[int, int]) -> tuple[float, Operator]:
    kept: dict[Pair, float] = {}
    for (i, j), value in operator:
        if i in place and j in place:
            low, high = sorted((place[i], place[j]))
            kept[low, high] = value
    return operator_of(kept)


def _rank(operators: list[Operator]) -> int:
    pairs = sorted({pair for operator in operators for pair, _ in operator})
    return int(np.linalg.matrix_rank(np.array([_row(operator, pairs) for operator in operators]), tol=1e-9))


def _row(operator: Operator, pairs: list[Pair]) -> list[float]:
    values = dict(operator)
    return [values.get(pair, 0.0) for pair in pairs]
