"""Points are recognised as the lines, planes and grids that they are."""

import numpy as np
import pytest

from incenter.study.point_set import PLANES, on_grid, point_set, regular_points

BOX = {"x": (-1.0, 1.0), "y": (0.0, 3.0), "t": (0.0, 2.0)}


def test_an_axis_on_which_all_points_agree_is_left_out() -> None:
    points = np.c_[regular_points({"x": (0, 1), "y": (0, 1)}, 5), np.full(25, 0.5)]
    found = point_set(points, ("x", "y", "t"))
    assert found is not None
    assert found.shown == ("x", "y")
    assert len(found.cuts) == 1
    assert found.columns(found.cuts[0]).tolist() == points[:, :2].tolist()


@pytest.mark.parametrize(("axes", "across"), [(("x", "y", "t"), "t"), (("t", "x", "y"), "t"), (("x", "y", "z"), "z")])
def test_time_or_the_last_axis_is_cut_at_a_few_of_its_values(axes: tuple[str, ...], across: str) -> None:
    points = np.stack(np.meshgrid(*[np.linspace(0, k + 1, 6 + k) for k in range(3)]), -1).reshape(-1, 3)
    found = point_set(points, axes)
    assert found is not None
    assert across not in found.shown
    assert {cut.axis for cut in found.cuts} == {across}
    column = points[:, axes.index(across)]
    assert [cut.value for cut in found.cuts][:: PLANES - 1] == [column.min(), column.max()]
    for cut in found.cuts:
        assert (column[cut.rows] == cut.value).all()
        assert len(cut.rows) == (column == cut.value).sum()


def test_scattered_points_in_three_axes_and_four_axes_cannot_be_drawn() -> None:
    scattered = np.random.default_rng(0).random((500, 3))
    assert point_set(scattered, ("x", "y", "t")) is None
    assert point_set(np.random.default_rng(0).random((500, 4)), ("x", "y", "z", "t")) is None
    assert point_set(np.zeros((5, 2)), ("x", "y")) is None


def test_scattered_nodes_at_a_few_times_are_planes() -> None:
    nodes = np.random.default_rng(0).random((100, 2))
    points = np.concatenate([np.c_[nodes, np.full(100, t)] for t in np.linspace(0, 5, 51)])
    found = point_set(points, ("x", "y", "t"))
    assert found is not None
    assert [cut.value for cut in found.cuts] == pytest.approx([0, 1.7, 3.3, 5])
    assert on_grid(found.columns(found.cuts[0])) is None


def test_a_shuffled_grid_is_put_in_order_and_its_holes_stay_empty() -> None:
    points = regular_points({"x": (-1, 1), "y": (0, 3)}, 21)
    points = np.random.default_rng(0).permutation(points[(points**2).sum(axis=1) <= 4])
    found = on_grid(points)
    assert found is not None
    x, y, where = found
    assert where.shape == (len(y), len(x))
    assert sorted(where[where >= 0]) == list(range(len(points)))
    for j, i in np.argwhere(where >= 0):
        assert points[where[j, i]].tolist() == [x[i], y[j]]


def test_the_points_of_a_box_have_few_times() -> None:
    points = regular_points(BOX, 11)
    assert points.shape == (11 * 11 * PLANES, 3)
    assert points.min(axis=0).tolist() == [-1, 0, 0]
    assert points.max(axis=0).tolist() == [1, 3, 2]
    assert regular_points({"x": (0, 1)}, 7).shape == (7, 1)
