"""Manufactured solutions satisfy their equations: derivatives by sympy, residuals as the problems state them."""

import numpy as np
import pytest
import sympy
from sympy import Rational, cos, exp, pi, sin, sqrt

from incenter.pinn import problems
from tests.pinn.problems.known import inside, known_field

x, y, t = (sympy.Symbol(name, real=True) for name in "xyt")
ROUNDING = 1e-12  # relative to the largest term of the equation


@pytest.mark.parametrize(("k", "a1", "a2"), [(1.0, 1, 4), (2.5, 3, 1)])
def test_helmholtz(k: float, a1: int, a2: int) -> None:
    u = known_field(sin(a1 * pi * x) * sin(a2 * pi * y), inside(x=(-1, 1), y=(-1, 1)))
    residual = problems.by_name("helmholtz", k=k, a1=a1, a2=a2).terms["residual"].residual(u)
    np.testing.assert_allclose(residual, 0.0, rtol=0, atol=ROUNDING * np.max(np.abs(u.yy)))


def kovasznay_solution(nu: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr, sympy.Expr]:
    lam = 1 / (2 * nu) - sqrt(1 / (4 * nu**2) + 4 * pi**2)
    u = 1 - exp(lam * x) * cos(2 * pi * y)
    v = lam / (2 * pi) * exp(lam * x) * sin(2 * pi * y)
    return u, v, (1 - exp(2 * lam * x)) / 2


def test_kovasznays_flow_satisfies_navier_stokes_symbolically() -> None:
    nu = sympy.Symbol("nu", positive=True)
    u, v, p = kovasznay_solution(nu)
    d = sympy.diff
    for equation in (
        u * d(u, x) + v * d(u, y) + d(p, x) - nu * (d(u, x, 2) + d(u, y, 2)),
        u * d(v, x) + v * d(v, y) + d(p, y) - nu * (d(v, x, 2) + d(v, y, 2)),
        d(u, x) + d(v, y),
    ):
        assert sympy.simplify(equation) == 0


@pytest.mark.parametrize("nu", [Rational(1, 40), Rational(1, 10)])
def test_kovasznay(nu: sympy.Rational) -> None:
    points = inside(x=(-0.5, 1), y=(-0.5, 1.5))
    u, v, p = (known_field(expression, points) for expression in kovasznay_solution(nu))
    problem = problems.by_name("kovasznay", nu=float(nu))
    equations = [*problem.terms["residual"].residual(u, v, p), *problem.terms["boundary"].residual(u, v, p)]
    assert len(equations) == 6
    for equation in equations:
        np.testing.assert_allclose(equation, 0.0, rtol=0, atol=ROUNDING * np.max(np.abs(v.yy)))


def test_klein_gordon() -> None:
    terms = problems.by_name("klein_gordon").terms
    solution = x * cos(5 * pi * t) + (t * x) ** 3
    u = known_field(solution, inside(x=(0, 1), t=(0, 1)))
    for equation in (terms["residual"].residual(u), terms["boundary"].residual(u)):
        np.testing.assert_allclose(equation, 0.0, rtol=0, atol=ROUNDING * np.max(np.abs(u.tt)))
    start = known_field(solution, inside(x=(0, 1), t=(0, 0)))
    for equation in terms["initial"].residual(start):
        np.testing.assert_allclose(equation, 0.0, rtol=0, atol=ROUNDING)


def test_inverse_heat() -> None:
    waves = sin(pi * x) * sin(pi * y)
    points = inside(x=(-1, 1), y=(-1, 1), t=(0, 1))
    u, a = known_field(exp(-t) * waves, points), known_field(2 + waves, points)
    terms = problems.by_name("inverse_heat").terms
    np.testing.assert_allclose(terms["residual"].residual(u, a), 0.0, rtol=0, atol=ROUNDING * np.max(np.abs(u.xx)))
    np.testing.assert_allclose(terms["boundary"].residual(a), 0.0, rtol=0, atol=ROUNDING)


def test_burgers_and_heat_have_the_signs_of_their_equations() -> None:
    """On a formula that solves neither, the residual is what the equation says."""
    formula = exp(x / 3) * sin(2 * t)
    u = known_field(formula, inside(x=(-1, 1), t=(0, 1)))
    expected = u.t + u * u.x - 0.01 / np.pi * u.xx
    np.testing.assert_allclose(problems.by_name("burgers").terms["residual"].residual(u), expected, rtol=1e-12)
    np.testing.assert_allclose(
        problems.by_name("burgers", nu=0.1).terms["residual"].residual(u), u.t + u * u.x - 0.1 * u.xx, rtol=1e-12
    )
