"""The objective: losses and gradients of every problem against nested autodiff, and what else training asks of it."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incenter.geometry.errors import IncenterError
from incenter.pinn import MLP, Boundary, Box, Branches, Data, Initial, Interior, Objective, Periodic, Problem, problems
from incenter.pinn.samplers import Sample
from tests.pinn.nested import loss, plainly, quickly

TOLERANCES = {32: 1e-5, 64: 1e-12}
FEW = 40  # points of a term: what is checked does not depend on their number


def with_few_points(problem: Problem) -> Problem:
    replace: Any = dataclasses.replace
    return dataclasses.replace(problem, terms={name: replace(term, count=FEW) for name, term in problem.terms.items()})


def by_nesting(objective: Objective, theta: jax.Array, batch: Any) -> tuple[np.ndarray, np.ndarray]:
    """losses and gradients, in double precision."""
    terms = objective.problem.terms.values()

    def losses(theta: jax.Array, batch: Any) -> jax.Array:
        at = objective.unravel(theta)
        network, unknowns = objective.parameters.network(at), objective.parameters.unknowns(at)
        pairs = zip(terms, batch, strict=True)
        return jnp.stack([loss(objective.problem, term, network, unknowns, sample) for term, sample in pairs])

    def both(theta: jax.Array, batch: Any) -> tuple[jax.Array, jax.Array]:
        return losses(theta, batch), jax.jacrev(losses)(theta, batch)

    values, gradients = quickly(both)(theta, batch)
    return np.asarray(values), np.asarray(gradients)


def agree(problem: Problem, precisions: tuple[int, ...] = (32, 64)) -> None:
    """At the same parameters and points, which single precision holds exactly."""
    with jax.enable_x64(False):
        narrow = Objective(problem)
        theta = narrow.start(0)
        theta = theta + jnp.asarray(0.03 * np.random.default_rng(0).normal(size=theta.shape), jnp.float32)
        batch, _ = narrow.draw(theta, narrow.memory(0), 0, 1)
    for precision in precisions:
        with jax.enable_x64(precision == 64):
            objective = Objective(problem, precision)
            at, there = jax.tree.map(lambda leaf, to=objective.dtype: jnp.asarray(leaf, to), (theta, batch))
            losses, G = quickly(objective.losses_and_gradients)(at, there)
            assert losses.dtype == G.dtype == objective.dtype
            assert G.shape == (len(problem.terms), objective.size)
        if precision == precisions[0]:
            with jax.enable_x64(True):
                wide = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), (theta, batch))
                values, gradients = by_nesting(Objective(problem, 64), *wide)
        assert (np.abs(np.asarray(losses) - values) <= TOLERANCES[precision] * values).all()
        away = np.linalg.norm(np.asarray(G, np.float64) - gradients, axis=1)
        assert (away <= TOLERANCES[precision] * np.linalg.norm(gradients, axis=1)).all()


@pytest.mark.parametrize("name", problems.names())
def test_every_problem_agrees_with_nested_autodiff(name: str) -> None:
    agree(with_few_points(problems.by_name(name)))


def several() -> Problem:
    """One of each kind of term, two outputs, an unknown, mixed derivatives, normals."""
    draws = np.random.default_rng(0)
    points = draws.uniform(0, 1, (FEW, 3))
    return Problem(
        domain=Box(x=(0, 1), y=(0, 2), t=(0, 1)),
        outputs=("u", "v"),
        unknowns={"nu": 0.7},
        network=Branches(u=MLP(6, 2), v=MLP(5, 1, inputs=("x", "y"))),
        terms={
            "equations": Interior(FEW, lambda u, v, nu: (u.t - nu * v.lap + u * u.xy, v.x + u.y - jnp.sin(u.at.t))),
            "sides": Boundary(FEW, lambda u, v: u.normal + v, on="y"),
            "start": Initial(FEW, lambda u: (u.t, u - u.at.x)),
            "seen": Data(points, draws.normal(size=FEW), lambda v, nu, value: v - nu * value),
        },
    )


def test_every_kind_of_term_agrees_with_nested_autodiff() -> None:
    agree(several())


def test_periodic_terms_agree_with_nested_autodiff() -> None:
    seam = Periodic(FEW, lambda left, right: (left - right, left.x - right.x))
    agree(Problem(domain=Box(x=(-1, 1), t=(0, 1)), network=MLP(6, 2), terms={"seam": seam}))


PIECES = ("u", "u.x", "u.t * v", "u.xx", "v.tt", "u.xt", "u.lap * u", "v.xx * v.x", "jnp.sin(u.at.x) * u.tt", "v.at.t")


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.sampled_from(PIECES)), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(1, 7),
    st.sampled_from(["tanh", "sin", "swish", "gelu"]),
)
@settings(max_examples=25, deadline=None)
def test_random_residuals_of_random_networks(
    parts: list[tuple[int, str]], depth: int, width: int, activation: str
) -> None:
    text = " + ".join(f"{number} * {piece}" for number, piece in parts)
    residual = eval(f"lambda u, v: u - 0.5 + {text}", {"jnp": jnp})
    network = MLP(width, depth, activation)
    agree(
        Problem(
            domain=Box(x=(0, 1), t=(0, 1)), outputs=("u", "v"), network=network, terms={"all": Interior(FEW, residual)}
        ),
        precisions=(64,),
    )


def mean_of(u: Any) -> jax.Array:
    """What makes a residual look at all points at once."""
    return jnp.mean(jnp.asarray(u))


def many(residual: Any) -> Problem:
    """Enough points for several portions, one of them padded."""
    return Problem(domain=Box(x=(-1, 1), t=(0, 1)), network=MLP(6, 2), terms={"all": Interior(2500, residual)})


@pytest.mark.parametrize(("shift", "portions"), [(lambda _: 0.0, 2), (mean_of, 1)])
def test_portions_change_nothing(shift: Any, portions: int) -> None:
    """Taken in portions where the residual allows it, and otherwise in one piece."""
    residual = lambda u: u.t + u * u.x - 0.1 * u.xx - shift(u)  # noqa: E731
    objective = Objective(many(residual), 64)
    assert objective.portions[0].number == portions
    theta = objective.start(0)
    batch, _ = objective.draw(theta, objective.memory(0), 0, 0)
    losses, G = quickly(objective.losses_and_gradients)(theta, batch)
    values, gradients = by_nesting(objective, theta, batch)
    assert np.allclose(losses, values, rtol=1e-12, atol=0)
    assert np.linalg.norm(G - gradients) <= 1e-12 * np.linalg.norm(gradients)


@pytest.mark.parametrize("shift", [lambda _: 0.0, mean_of])
def test_traces_are_those_of_the_jacobian(shift: Any) -> None:
    terms = {
        "residual": Interior(FEW, lambda u: (u.t + u * u.x - u.xx - shift(u), u.x)),
        "boundary": Boundary(7, lambda u: u),
    }
    objective = Objective(Problem(domain=Box(x=(-1, 1), t=(0, 1)), network=MLP(5, 2), terms=terms), 64)
    theta = objective.start(0)
    batch, _ = objective.draw(theta, objective.memory(0), 0, 0)
    expected = []
    for k in range(2):
        jacobian = jax.jacrev(lambda at, k=k: jnp.stack(objective.equations(k, objective.unravel(at), batch[k])))(theta)
        expected.append(float(jnp.sum(jacobian**2)))
    assert np.allclose(objective.traces(theta, batch), expected, rtol=1e-12, atol=0)


def test_theta_is_the_network_and_then_the_unknowns() -> None:
    objective = Objective(several(), 64)
    theta = objective.start(3)
    assert theta.shape == (objective.size,) == ((3 * 6 + 6 + 6 * 6 + 6 + 6 + 1) + (2 * 5 + 5 + 5 + 1) + 1,)
    assert objective.unknowns(theta.at[-1].set(4.5)) == {"nu": 4.5}
    assert float(theta[-1]) == 0.7
    assert np.array_equal(objective.parameters.packed(objective.unravel(theta)), theta)
    assert not np.array_equal(theta, objective.start(4))
    assert objective.names == ("equations", "sides", "start", "seen")
    assert objective.residual_rows == (0,)


def test_predictions_are_the_outputs_at_the_points() -> None:
    objective = Objective(several(), 64)
    theta, points = objective.start(0), np.random.default_rng(0).uniform(0, 1, (3001, 3))
    predicted = np.asarray(objective.predict(theta, points))
    plain = plainly(objective.parameters.network(objective.unravel(theta)))
    assert np.allclose(predicted, jax.vmap(plain)(jnp.asarray(points)), rtol=1e-12, atol=1e-14)
    assert objective.predict(theta, points[:1]).shape == (1, 2)
    assert np.isnan(objective.relative_l2(theta))


def test_relative_error_against_numpy() -> None:
    problem = problems.by_name("kovasznay")
    objective = Objective(problem, 64)
    theta = objective.start(0)
    assert problem.reference is not None
    difference = np.asarray(objective.predict(theta, problem.reference.points)) - problem.reference.values
    expected = np.linalg.norm(difference) / np.linalg.norm(problem.reference.values)
    assert abs(float(objective.relative_l2(theta)) - expected) <= 1e-12 * expected


def test_points_are_a_function_of_seed_and_step() -> None:
    objective = Objective(with_few_points(problems.by_name("burgers")), 64)
    theta, memory = objective.start(0), objective.memory(0)

    def drawn(seed: int, step: int) -> Sample:
        sample: Sample = objective.draw(theta, memory, seed, step)[0][0]
        return sample

    assert np.array_equal(drawn(1, 2).points, drawn(1, 2).points)
    assert not np.array_equal(drawn(1, 2).points, drawn(1, 3).points)
    assert not np.array_equal(drawn(1, 2).points, drawn(2, 2).points)


def test_wrong_precision_gets_one_sentence() -> None:
    problem = many(lambda u: u)
    with pytest.raises(IncenterError, match="must be 32 or 64; got 16"):
        Objective(problem, 16)
    with jax.enable_x64(False), pytest.raises(IncenterError, match="enable_x64"):
        Objective(problem, 64)
