"""A problem is checked as a whole when it is made, and what is wrong is said in one sentence."""

# ruff: noqa: ARG001, ARG005  (functions are called by the names of their parameters, used or not)
import dataclasses
import re
from collections.abc import Callable
from math import pi
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError
from incenter.pinn import (
    Boundary,
    Box,
    Data,
    Disc,
    Initial,
    Interior,
    Objective,
    Periodic,
    Problem,
    Reference,
    Settings,
)

DOMAIN = Box(x=(-1, 1), t=(0, 1))


def burgers(**fields: Any) -> Problem:
    given: dict[str, Any] = {
        "domain": DOMAIN,
        "terms": {
            "initial": Initial(16, lambda u: u + jnp.sin(pi * u.at.x)),
            "residual": Interior(64, lambda u: u.t + u * u.x - (0.01 / pi) * u.xx),
            "boundary": Boundary(16, lambda u: u, on="x"),
        },
        "reference": Reference(lambda x, t: np.sin(x) + t, x=8, t=5),
    }
    return Problem(**{**given, **fields})


def with_term(term: Any, **fields: Any) -> Problem:
    return burgers(terms={"law": term}, reference=None, **fields)


def test_a_problem_that_reads_like_its_pde() -> None:
    problem = burgers()
    assert tuple(problem.terms) == ("initial", "residual", "boundary")
    assert problem.residual_rows == (1,)
    assert problem.outputs == ("u",)
    assert problem.settings == Settings(steps=50_000, lr=1e-3)
    assert problem.reference.values.shape == (40, 1)
    assert problem.network.width == 50


def test_a_problem_cannot_be_changed_by_the_dict_it_came_from() -> None:
    terms: dict[str, Any] = {"law": Interior(10, lambda u: u.x)}
    unknowns = {"nu": 1}
    problem = burgers(terms=terms, unknowns=unknowns)
    terms["other"], unknowns["mu"] = Interior(10, lambda u: u.t), 3
    assert tuple(problem.terms) == ("law",)
    assert dict(problem.unknowns) == {"nu": 1.0}
    with pytest.raises(TypeError):
        problem.terms["law"] = None  # type: ignore[index]


def test_a_variation_keeps_its_reference() -> None:
    smaller = dataclasses.replace(burgers(), settings=Settings(steps=10))
    assert smaller.settings.steps == 10
    np.testing.assert_array_equal(smaller.reference.values, burgers().reference.values)


def test_nothing_is_computed_when_a_problem_is_made() -> None:
    def costly(x: Any, t: Any) -> Any:
        raise AssertionError("called")

    seen: list[Any] = []

    def residual(u: Any) -> Any:
        seen.append(jnp.asarray(u))
        return u.x

    burgers(reference=Reference(costly, x=8, t=5), terms={"law": Interior(10**9, residual)})
    assert all(isinstance(value, jax.core.Tracer) for value in seen)


def test_every_kind_of_term_passes_the_check_and_trains() -> None:
    cylinder = (Box(x=(-1, 1), y=(-1, 1)) - Disc((0, 0), 0.5)) * Box(t=(0, 1))
    points = np.array([[0.9, 0.9, 0.5], [0.8, -0.8, 0.1]])
    problem = Problem(
        domain=cylinder,
        outputs=("u", "v"),
        unknowns={"nu": 0.5},
        terms={
            "law": Interior(50, lambda u, v, nu: (u.t - nu * u.lap, v.t - nu * v.lap + u.x)),
            "wall": Boundary(20, lambda u, v: (u.normal, v), on=("x", "y")),
            "disc": Boundary(20, lambda u: u.normal - 1, on="disc"),
            "start": Initial(20, lambda u, v: (u, v - v.at.x)),
            "seen": Data(points, np.ones((2, 2)), lambda u, v, value: (u - value[:, 0], v - value[:, 1])),
            "round": Periodic(10, lambda left, right: (left.u - right.u, left.v.x - right.v.x), on="t"),
        },
    )
    objective = Objective(problem, precision=64)
    theta = objective.start(0)

    def step(theta: Any) -> Any:
        batch, _ = objective.draw(theta, objective.memory(0), 0, 0)
        return objective.losses_and_gradients(theta, batch)

    losses, gradients = jax.jit(step)(theta)
    assert np.all(np.isfinite(losses))
    assert np.all(np.linalg.norm(gradients, axis=1) > 0)
    assert np.flatnonzero(np.asarray(gradients[:, -1])).tolist() == [0]  # nu is in the law alone


def branching(u: Any) -> Any:
    return u if u[0] > 0 else -u


BAD: list[tuple[Callable[[], Any], str]] = [
    # The four of everybody's first day.
    (
        lambda: with_term(Interior(9, lambda u: u.z)),
        "Term 'law': `u.z` is no derivative on a domain with the axes x, t",
    ),
    (
        lambda: with_term(Interior(9, lambda u: u.at.y)),
        "Term 'law': `u.at.y` is no coordinate of a domain with the axes x, t",
    ),
    (lambda: with_term(Interior(9, lambda u: u.x[:4])), "Term 'law': equation 0 has shape (4,) at 9 points"),
    (
        lambda: burgers(reference=Reference(lambda x, y: x, x=8, y=8)),
        "has a grid along x, y, and the domain has the axes x, t",
    ),
    (lambda: with_term(Interior(-5, lambda u: u.x)), "must be a whole number, at least 1; got -5."),
    # Names.
    (
        lambda: with_term(Interior(9, lambda v: v.x)),
        "Term 'law': the residual has a parameter 'v', and Interior terms have u; use those, or give it a default.",
    ),
    (
        lambda: with_term(Interior(9, lambda u, x: u.x - x)),
        "parameter 'x', and Interior terms have u; write u.at.x for the coordinate",
    ),
    (
        lambda: with_term(Interior(9, lambda u, mu: mu * u.x), unknowns={"nu": 1.0}),
        "parameter 'mu', and Interior terms have u, nu;",
    ),
    (lambda: with_term(Interior(9, lambda u, value: u - value)), "parameter 'value', and Interior terms have u;"),
    (lambda: with_term(Periodic(9, lambda u: u)), "parameter 'u', and Periodic terms have left, right;"),
    (
        lambda: with_term(
            Periodic(9, lambda left, right: left.v - right.u), outputs=("u", "v", "w"), domain=Box(y=(0, 1))
        ),
        "needs two whole faces across x",
    ),
    (lambda: burgers(outputs=()), "`outputs` must be a tuple of names"),
    (lambda: burgers(outputs="u"), '`outputs` must be a tuple of names, such as ("u",) or ("u", "v", "p"); got \'u\'.'),
    (lambda: burgers(outputs=("u", "u")), "'u' names both an output and an output; rename one of them."),
    (lambda: burgers(outputs=("x",)), "'x' names both an output and an axis; rename one of them."),
    (lambda: burgers(outputs=("left",)), "'left' names both an output and a name that terms give"),
    (lambda: burgers(outputs=("2u",)), "An output must be called by a Python name, such as u; got '2u'."),
    (lambda: burgers(unknowns={"u": 1.0}), "'u' names both an unknown and an output"),
    (lambda: burgers(unknowns={"t": 1.0}), "'t' names both an unknown and an axis"),
    (lambda: burgers(unknowns={"nu": float("nan")}), "The unknown 'nu' must start from a finite number; got nan"),
    (lambda: burgers(unknowns=("nu",)), "`unknowns` must be start values by name"),
    # Terms.
    (lambda: burgers(terms={}), "`terms` must be a dict of at least one loss by name"),
    (lambda: burgers(terms=[Interior(9, lambda u: u)]), "`terms` must be a dict of at least one loss by name"),
    (
        lambda: burgers(terms={"law": lambda u: u.x}),
        "Term 'law' must be an Interior, Boundary, Initial, Periodic or Data; got <function",
    ),
    (
        lambda: burgers(terms={3: Interior(9, lambda u: u)}),
        'The names of terms must be strings, such as "residual"; got 3.',
    ),
    (
        lambda: with_term(Initial(9, lambda u: u), domain=Box(x=(0, 1))),
        "Term 'law': Initial needs a time axis called t",
    ),
    (
        lambda: with_term(Boundary(9, lambda u: u, on="y")),
        "Term 'law': on='y' names no side of Box(x=(-1, 1), t=(0, 1))",
    ),
    (lambda: with_term(Interior(9, lambda u: u.normal)), "Term 'law': `u.normal` needs a boundary"),
    (lambda: with_term(Interior(9, lambda u: u.xxx)), "Term 'law': `u.xxx` is a derivative of order 3"),
    (
        lambda: with_term(Data([[5, 5]], [1], lambda u, value: u - value)),
        "Term 'law': 1 of the 1 points of Data lie outside",
    ),
    # What does not run on JAX arrays.
    (lambda: with_term(Interior(9, lambda u: np.sin(u))), "Term 'law': its residual fails with TypeError"),
    (lambda: with_term(Interior(9, branching)), "so write jnp.sin for np.sin, and jnp.where for if."),
    (lambda: with_term(Interior(9, lambda u: jnp.ones(4) + u)), "Term 'law': its residual fails with"),
    # The rest.
    (
        lambda: burgers(domain=((-1, 1), (0, 1))),
        "`domain` must be a domain, such as Box(x=(-1, 1)); got ((-1, 1), (0, 1)).",
    ),
    (lambda: burgers(reference=np.sin), "`reference` must be a Reference, such as Reference(f, x=100, t=100)"),
    (
        lambda: burgers(outputs=("u", "v"), reference=Reference(points=[[0, 0]], values=[1])),
        "has 1 values per point for 2 outputs (u, v)",
    ),
    (lambda: Settings(steps=0), "`steps` must be a whole number, at least 1; got 0."),
    (lambda: Settings(lr=-1.0), "`lr` must be a positive number; got -1.0"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_mistakes_are_told_in_one_sentence(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(IncenterError, match=re.escape(sentence)) as caught:
        make()
    assert "\n" not in str(caught.value)
