"""Operators: the fewest streams that span what is asked for, and how others are had from them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from incenter.pinn.operators import Operator, Pair, combination, needs_of, operator_of, restricted, union

PAIRS: list[Pair] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
XX: Operator = (((0, 0), 1.0),)
YY: Operator = (((1, 1), 1.0),)
LAPLACIAN: Operator = (((0, 0), 1.0), ((1, 1), 1.0))

coefficients = st.lists(st.integers(-3, 3), min_size=6, max_size=6)


def made(row: list[int]) -> dict[Pair, float]:
    return {pair: float(value) for pair, value in zip(PAIRS, row, strict=True)}


@given(st.lists(coefficients, min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_the_streams_are_a_basis_of_what_is_asked_for(rows: list[list[int]]) -> None:
    asked = [operator_of(made(row)) for row in rows]
    needs = needs_of((), [operator for _, operator in asked if operator])
    assert len(needs.operators) == np.linalg.matrix_rank(np.array(rows))
    assert needs.streams == 1 + len(needs.axes) + len(needs.operators)
    for row, (scale, operator) in zip(rows, asked, strict=True):
        if operator:
            parts = scale * combination(operator, needs.operators)
            again = dict.fromkeys(PAIRS, 0.0)
            for part, basis in zip(parts, needs.operators, strict=True):
                for pair, value in basis:
                    again[pair] += part * value
            assert np.allclose(list(again.values()), row, rtol=0, atol=1e-12)


def test_the_largest_coefficient_is_one() -> None:
    assert operator_of({(1, 1): -4.0, (0, 0): 2.0, (0, 1): 0.0}) == (-4.0, (((0, 0), -0.5), ((1, 1), 1.0)))
    assert operator_of({(0, 0): 0.0}) == (0.0, ())


def test_three_operators_of_which_two_span_the_third() -> None:
    needs = needs_of((2,), (LAPLACIAN, XX, YY))
    assert needs.axes == (0, 1, 2)
    assert needs.operators == (XX, YY)
    assert union([needs_of((0,), (XX,)), needs_of((2,), (LAPLACIAN,))]) == needs_of((0, 1, 2), (XX, LAPLACIAN))


def test_what_a_network_with_fewer_inputs_has_to_carry() -> None:
    seen = restricted(needs_of((2,), (LAPLACIAN, (((2, 2), 1.0),))), (1, 2))
    assert seen.axes == (0, 1)
    assert seen.operators == (XX, YY)
