"""The problems as the paper's appendix sets them: losses, points, networks, steps."""

from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter.pinn import Objective, problems

TERMS = {
    "helmholtz": {"residual": 5120, "boundary": 256},
    "kovasznay": {"residual": 5120, "boundary": 256},
    "burgers": {"residual": 2560, "boundary": 256, "initial": 256},
    "heat": {"residual": 2560, "boundary": 256, "initial": 256},
    "klein_gordon": {"residual": 2560, "boundary": 256, "initial": 256},
    "inverse_heat": {"residual": 5120, "boundary": 1024, "observations": 2500},
}
# d-50-50-k is 50 d + 50 + 2550 + 51 k; the inverse problem's two networks have two more layers of 2550.
PARAMETERS = {
    "helmholtz": 2751,
    "kovasznay": 2853,
    "burgers": 2751,
    "heat": 2801,
    "klein_gordon": 2751,
    "inverse_heat": 200 + 3 * 2550 + 51 + 150 + 3 * 2550 + 51,
}


@pytest.mark.parametrize("name", problems.names())
def test_losses_points_network_and_steps(name: str) -> None:
    problem = problems.by_name(name)
    objective = Objective(problem)
    theta = objective.start(0)
    assert theta.shape == (PARAMETERS[name],)
    assert objective.residual_rows == (0,)
    assert problem.settings.steps == (30_000 if name == "inverse_heat" else 50_000)
    batch, _ = objective.draw(theta, objective.memory(0), 0, 0)
    assert {term: len(sample.points) for term, sample in zip(objective.names, batch, strict=True)} == TERMS[name]
    again, _ = objective.draw(theta, objective.memory(0), 0, 1)
    assert not np.array_equal(batch[0].points, again[0].points)


@pytest.mark.parametrize(("name", "faces"), [("helmholtz", 4), ("burgers", 2), ("heat", 4), ("inverse_heat", 4)])
def test_boundary_points_are_spread_evenly_over_the_faces_of_space(name: str, faces: int) -> None:
    problem = problems.by_name(name)
    objective = Objective(problem)
    batch, _ = objective.draw(objective.start(0), objective.memory(0), 3, 5)
    normals = np.asarray(batch[1].normals)
    on_faces = Counter(tuple(row) for row in normals.tolist())
    assert set(on_faces.values()) == {len(normals) // faces}
    if "t" in problem.domain.axes:
        assert not normals[:, problem.domain.axes.index("t")].any()


def test_the_coefficient_does_not_see_time() -> None:
    objective = Objective(problems.by_name("inverse_heat"))
    points = jnp.array([[0.3, -0.2, 0.0], [0.3, -0.2, 0.9]])
    u, a = np.asarray(objective.predict(objective.start(1), points)).T
    assert a[0] == a[1]
    assert u[0] != u[1]


def test_references_have_the_documented_grids() -> None:
    sizes = {name: problems.by_name(name).reference.points.shape for name in problems.names()}
    assert sizes == {
        "helmholtz": (101 * 101, 2),
        "kovasznay": (101 * 101, 2),
        "burgers": (256 * 101, 2),
        "heat": (52 * 52 * 21, 3),
        "klein_gordon": (101 * 101, 2),
        "inverse_heat": (101 * 101, 3),
    }


@pytest.mark.parametrize("operator", ["paper", "divergence"])
def test_gradients_pass_through_the_table_of_the_coefficient(operator: str) -> None:
    objective = Objective(problems.by_name("heat", operator=operator, points=64))
    theta = objective.start(0)

    @jax.jit
    def step(theta: jax.Array) -> tuple[jax.Array, jax.Array]:
        batch, _ = objective.draw(theta, objective.memory(0), 0, 0)
        losses, gradients = objective.losses_and_gradients(theta, batch)
        return losses, gradients

    losses, gradients = step(theta)
    assert np.isfinite(losses).all()
    assert (np.linalg.norm(gradients, axis=1) > 1e-6).all()
