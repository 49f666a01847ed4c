"""Residual-based adaptive points go where the residual is large, in the proportion that was asked for."""

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError
from incenter.pinn import Adaptive, Boundary, Box, Interior, Objective, Periodic, Problem
from incenter.pinn.samplers import Sample
from tests.pinn.spread import assert_fits

LINE = Box(x=(0, 1), t=(0, 1))


def redrawn(term: Any, step: int, score: Any, domain: Any = LINE) -> tuple[Sample, Sample]:
    """The memory, and what becomes of it at a step."""
    memory = term.memory(domain, (0, 0, 0), jnp.float64)
    after = jax.jit(lambda step: term.redraw(domain, (0, step, 0), memory, score))(step)
    return memory, after


def peak(sample: Sample) -> Any:
    return jnp.where(sample.points[:, 0] < 0.25, 3.0, 0.0)


def test_points_are_as_dense_as_the_formula_says() -> None:
    """|r| = 3 on a quarter of the line, mean 3/4: density 4 + 1 there and 0 + 1 elsewhere."""
    term = Interior(200, lambda u: u, sampler=Adaptive(every=10, candidates=200))
    _, after = redrawn(term, 10, peak)
    assert after.points.shape == (200, 2)
    assert_fits(np.histogram(after.points[:, 0], bins=4, range=(0, 1))[0], np.array([5, 1, 1, 1]) / 8)


def test_the_density_with_powers_and_floors() -> None:
    score = jnp.array([0.0, 1.0, 3.0])
    np.testing.assert_allclose(Adaptive().density(score), [1, 1.75, 3.25], rtol=1e-12)
    np.testing.assert_allclose(Adaptive(power=2, floor=0).density(score), [0, 0.3, 2.7], rtol=1e-12)
    np.testing.assert_allclose(Adaptive(power=2, floor=0).density(1e200 * score), [0, 0.3, 2.7], rtol=1e-12)
    np.testing.assert_allclose(Adaptive(power=0).density(score), [2, 2, 2], rtol=1e-12)


def test_without_a_residual_the_points_are_uniform() -> None:
    for score in (jnp.zeros(4), jnp.full(4, jnp.nan), jnp.full(4, jnp.inf)):
        density = Adaptive(floor=0).density(score)
        np.testing.assert_allclose(density / density[0], np.ones(4))


def test_a_candidate_is_taken_at_most_once() -> None:
    chosen = np.asarray(Adaptive().chosen(jnp.array([1e6] + [1e-6] * 399), 100, (0, 100, 0)))
    assert len(set(chosen.tolist())) == 100
    assert 0 in chosen


def test_points_change_only_at_the_steps_that_are_due() -> None:
    term = Interior(50, lambda u: u, sampler=Adaptive(every=10))
    for step, changes in ((0, False), (1, False), (9, False), (10, True), (15, False), (20, True)):
        memory, after = redrawn(term, step, peak)
        assert np.array_equal(memory.points, after.points) != changes


def test_normals_and_partners_go_with_their_points() -> None:
    _, around = redrawn(Boundary(100, lambda u: u, sampler=Adaptive(every=5)), 5, peak)
    np.testing.assert_array_equal(around.normals[:, 0], 2 * around.points[:, 0] - 1)
    assert np.mean(around.points[:, 0] == 0) > 0.6
    _, pairs = redrawn(Periodic(100, lambda left: left, sampler=Adaptive(every=5)), 5, lambda s: s.points[:, 1])
    np.testing.assert_array_equal(pairs.points[:, 1], pairs.partners[:, 1])
    assert np.mean(pairs.points[:, 1]) > 0.55


def test_an_objective_hands_the_memory_on() -> None:
    problem = Problem(
        domain=LINE,
        terms={
            "residual": Interior(400, lambda u: (u.at.x < 0.25) * (5.0 + 0 * u), sampler=Adaptive(every=3)),
            "boundary": Boundary(8, lambda u: u),
        },
    )
    objective = Objective(problem)
    theta, memory = objective.start(0), objective.memory(0)
    draw, shares = jax.jit(objective.draw), []
    for step in range(4):
        batch, memory = draw(theta, memory, 0, step)
        shares.append(float(np.mean(batch[0].points[:, 0] < 0.25)))
    assert shares[0] == shares[1] == shares[2] < 0.35
    assert shares[3] > 0.45


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"every": 0}, "`every` must be a whole number, at least 1; got 0."),
        ({"every": 2.5}, "`every` must be a whole number"),
        ({"candidates": 1}, "`candidates` must be a whole number, at least 2; got 1."),
        ({"power": -1.0}, "`power` must be a finite number, 0 or larger; got -1.0"),
        ({"floor": float("nan")}, "`floor` must be a finite number, 0 or larger; got nan"),
    ],
)
def test_mistakes_are_told_in_one_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(IncenterError, match=re.escape(sentence)):
        Adaptive(**fields)
