"""Fields are drawn at their points, in colours that what is learnt and its reference share."""

import numpy as np
import pytest
from matplotlib.collections import QuadMesh, TriMesh

from incenter.study.point_set import point_set, regular_points
from incenter.study.solution_figure import Field, solution_figure
from tests.study.readable import assert_readable

PLANE = {"x": (-0.5, 1.0), "y": (-0.5, 1.5)}


def field(points: np.ndarray, name: str = "u", reference: bool = True) -> Field:
    true = np.sin(3 * points[:, 0]) * np.cos(2 * points[:, -1])
    return Field(name, true + 1e-3 * points[:, 0], true if reference else None)


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("reference", [True, False])
@pytest.mark.parametrize(
    "bounds",
    [
        {"x": (0.0, 1.0)}, {"x": (-1.0, 1.0), "t": (0.0, 1.0)}, PLANE, {"x": (0.0, 5.0), "y": (0.0, 1.0)},
        {**PLANE, "t": (0.0, 2.0)},
    ],
    ids=lambda bounds: " ".join(bounds),
)  # fmt: skip
def test_it_can_be_read(bounds: dict[str, tuple[float, float]], reference: bool, outputs: int) -> None:
    points = regular_points(bounds, 21)
    found = point_set(points, tuple(bounds))
    assert found is not None
    fields = [field(points, name, reference) for name in "uvp"[:outputs]]
    assert_readable(solution_figure("burgers, chebyshev, seed 0: relative L2 error 0.00123", found, fields))


def test_a_heat_map_has_time_to_the_right_and_every_value_in_its_place() -> None:
    points = regular_points({"x": (-1.0, 1.0), "t": (0.0, 2.0)}, 11)
    shuffled = np.random.default_rng(0).permutation(points)
    found = point_set(shuffled, ("x", "t"))
    assert found is not None
    axes = solution_figure("", found, [Field("u", shuffled[:, 0] + 10 * shuffled[:, 1], None)]).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("t", "x")
    (mesh,) = axes.findobj(QuadMesh)
    ticks = np.linspace(0, 1, 11)
    assert np.allclose(np.asarray(mesh.get_array()), (2 * ticks - 1)[:, None] + 20 * ticks)


def test_learnt_and_reference_share_their_colours_and_differences_are_about_zero() -> None:
    points = regular_points(PLANE, 9)
    found = point_set(points, ("x", "y"))
    assert found is not None
    u = field(points)
    figure = solution_figure("", found, [u])
    limits = [axes.findobj(QuadMesh)[0].get_clim() for axes in figure.axes[:3]]
    assert u.reference is not None
    assert limits[0] == limits[1] == (u.reference.min(), u.reference.max())
    assert limits[2] == pytest.approx((-1e-3, 1e-3))
    assert [axes.get_title() for axes in figure.axes[:3]] == ["u learnt", "u reference", "u learnt - reference"]


def test_scattered_points_are_triangulated_around_holes() -> None:
    source = np.random.default_rng(0)
    points = source.uniform(-1, 1, (400, 2))

    def inside(places: np.ndarray) -> np.ndarray:
        return (places**2).sum(axis=1) > 0.25  # type: ignore[no-any-return]

    points = points[inside(points)]
    found = point_set(points, ("x", "y"), inside)
    assert found is not None
    figure = solution_figure("", found, [field(points)])
    (mesh,) = figure.axes[0].findobj(TriMesh)
    triangulation = vars(mesh)["_triangulation"]
    assert triangulation.mask.sum() > 5
    assert inside(points[triangulation.get_masked_triangles()].mean(axis=1)).all()
    assert_readable(figure)


def test_a_constant_field_that_is_exact_is_no_trouble() -> None:
    points = regular_points(PLANE, 5)
    found = point_set(points, ("x", "y"))
    assert found is not None
    assert_readable(solution_figure("", found, [Field("a", np.ones(25), np.ones(25))]))
