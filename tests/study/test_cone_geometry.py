"""The picture's geometry: rays and facets of the dual cone, the ball inside it, its section."""

import numpy as np
import pytest

import incenter
from incenter.geometry.arrays import Matrix
from incenter.study.cone_geometry import Cone, dual_cone, plane_basis, section
from incenter.study.examples import cone, toy, worked


def cone_of(gradients: Matrix) -> Cone:
    center = incenter.chebyshev_center(gradients)
    return dual_cone(gradients, center.direction, center.radius)


def random_gradients(seed: int) -> Matrix:
    """Gradients around an axis, so that their cone has an inside."""
    random = np.random.default_rng(seed)
    gradients = random.standard_normal((random.integers(3, 9), 3)) + np.array([0.0, 0.0, 1.5])
    gradients[gradients[:, 2] < 0.1, 2] = 0.1
    return gradients * random.uniform(0.1, 10.0, (len(gradients), 1))


CONES = {"toy": toy().gradients, "worked": worked().gradients, "cone": cone().gradients} | {
    f"seed {seed}": random_gradients(seed) for seed in range(8)
}


@pytest.fixture(params=CONES.values(), ids=list(CONES))
def drawn(request: pytest.FixtureRequest) -> Cone:
    return cone_of(request.param)


def test_rays_are_directions_of_common_descent(drawn: Cone) -> None:
    assert np.allclose(np.linalg.norm(drawn.rays, axis=1), 1)
    assert np.all(drawn.normals @ drawn.rays.T >= -1e-9)


def test_each_ray_lies_in_two_planes(drawn: Cone) -> None:
    touched = np.abs(drawn.normals @ drawn.rays.T) < 1e-9
    assert np.all(touched.sum(axis=0) >= 2)


def test_each_facet_lies_between_its_rays_in_its_gradients_plane(drawn: Cone) -> None:
    assert len(drawn.facets) == len(drawn.rays)
    for facet in drawn.facets:
        ends = drawn.rays[[facet.first, facet.second]]
        assert np.allclose(ends @ drawn.normals[facet.gradient], 0, atol=1e-9)


def test_the_cone_is_what_its_rays_span(drawn: Cone) -> None:
    random = np.random.default_rng(0)
    inside = random.uniform(0, 1, (200, len(drawn.rays))) @ drawn.rays
    assert np.all(inside @ drawn.normals.T >= -1e-9)


def test_the_ball_touches_binding_facets_and_no_others(drawn: Cone) -> None:
    distances = drawn.normals @ drawn.center  # from the center to each gradient's plane
    assert np.allclose(distances[drawn.binding], drawn.radius, atol=1e-9)
    assert np.all(distances[~drawn.binding] > drawn.radius)
    assert drawn.binding.sum() >= 2


def test_the_ball_is_inside_the_cone(drawn: Cone) -> None:
    random = np.random.default_rng(1)
    sphere = random.standard_normal((2000, 3))
    sphere *= drawn.radius / np.linalg.norm(sphere, axis=1)[:, None]
    assert np.all((drawn.center + sphere) @ drawn.normals.T >= -1e-9)


def test_contacts_lie_on_the_ball_in_their_planes_and_at_one_height(drawn: Cone) -> None:
    contacts = drawn.contacts[drawn.binding]
    assert np.allclose(np.linalg.norm(contacts - drawn.center, axis=1), drawn.radius, atol=1e-9)
    assert np.allclose(np.vecdot(contacts, drawn.normals[drawn.binding]), 0, atol=1e-9)
    assert np.allclose(contacts @ drawn.center, drawn.contact_height, atol=1e-9)


def test_in_the_section_the_circle_touches_exactly_the_binding_edges() -> None:
    drawn = cone_of(cone().gradients)
    corners = section(drawn, drawn.contact_height)
    assert np.allclose(corners @ drawn.center, drawn.contact_height)
    across = plane_basis(drawn.center, np.array([0.0, 0.0, 1.0]))
    assert np.allclose(np.vstack([across, drawn.center]) @ np.vstack([across, drawn.center]).T, np.eye(3))
    flat = corners @ across.T
    circle = drawn.radius * np.sqrt(1 - drawn.radius**2)
    for facet in drawn.facets:
        first, second = flat[facet.first], flat[facet.second]
        edge = (second - first) / np.linalg.norm(second - first)
        distance = abs(first[0] * edge[1] - first[1] * edge[0])
        assert (abs(distance - circle) < 1e-9) == drawn.binding[facet.gradient]
        assert distance >= circle - 1e-9


def test_the_example_has_five_facets_of_which_three_bind() -> None:
    drawn = cone_of(cone().gradients)
    assert sorted(facet.gradient for facet in drawn.facets) == [0, 1, 2, 3, 4]
    assert drawn.binding.tolist() == [True, True, True, False, False]
    assert drawn.radius == pytest.approx(0.40, abs=1e-12)


def test_the_toys_cone_has_the_rays_worked_out_by_hand() -> None:
    rays = cone_of(toy().gradients).rays
    a, b, c = toy().gradients[2]
    expected = [[0, 0, 1], np.array([0, c, -b]) / np.hypot(b, c), np.array([c, 0, -a]) / np.hypot(a, c)]
    for ray in expected:
        assert np.min(np.linalg.norm(rays - ray, axis=1)) < 1e-12


def test_two_gradients_are_too_few_for_a_picture() -> None:
    with pytest.raises(incenter.IncenterError, match=r"at least 3 gradients of 3 parameters; got shape \(2, 3\)"):
        dual_cone(toy().gradients[:2], np.array([1.0, 0.0, 0.0]), 0.5)


def test_a_stationary_point_has_no_cone_to_draw() -> None:
    gradients = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0]])
    with pytest.raises(incenter.IncenterError, match="no inside"):
        dual_cone(gradients, np.zeros(3), 0.0)


def test_gradients_in_a_plane_have_no_pointed_cone() -> None:
    gradients = np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0]])
    with pytest.raises(incenter.IncenterError, match="do not span"):
        cone_of(gradients)
