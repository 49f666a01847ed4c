"""Domains: points uniform over the set, boundary points uniform over its boundary, normals that point outwards."""

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError
from incenter.pinn import Box, Disc, Domain
from incenter.pinn.boundary import edge
from incenter.pinn.domain import share_of
from incenter.pinn.samplers import along, inside, uniform
from tests.pinn.spread import assert_fits, refused

SQUARE = Box(x=(-1, 1), y=(-1, 1))
HOLED = SQUARE - Disc(center=(0.3, 0), radius=0.5)
L_SHAPE = Box(x=(0, 1), y=(0, 1)) - Box(x=(0.5, 1), y=(0.5, 1))
TWO_DISCS = Disc((0, 0), 1) | Disc((1, 0), 0.8)
BRICKS = Box(x=(0, 1), y=(0, 1)) | Box(x=(0.5, 2), y=(0, 1))
NESTED = (HOLED | Disc((1, 1), 0.4)) - Box(x=(-1, -0.5), y=(-1, -0.5))
ROUND = Box(x=(-1, 1), y=(-0.5, 0.5)) | Disc((1, 0), 0.5) | Disc((-1, 0), 0.5)
PLANE = {
    "square": SQUARE,
    "disc": Disc((0.5, -2), 1.5),
    "holed": HOLED,
    "L": L_SHAPE,
    "two discs": TWO_DISCS,
    "bricks": BRICKS,
    "nested": NESTED,
    "stadium": ROUND,
}


def _disc(x: np.ndarray, y: np.ndarray, center: tuple[float, float], radius: float) -> np.ndarray:
    return (x - center[0]) ** 2 + (y - center[1]) ** 2 <= radius**2


def _box(x: np.ndarray, y: np.ndarray, a: float, b: float, c: float, d: float) -> np.ndarray:
    return (a <= x) & (x <= b) & (c <= y) & (y <= d)


# The same sets as plain inequalities.
INEQUALITIES: dict[str, Callable[[Any, Any], Any]] = {
    "square": lambda x, y: _box(x, y, -1, 1, -1, 1),
    "disc": lambda x, y: _disc(x, y, (0.5, -2), 1.5),
    "holed": lambda x, y: _box(x, y, -1, 1, -1, 1) & ~_disc(x, y, (0.3, 0), 0.5),
    "L": lambda x, y: _box(x, y, 0, 1, 0, 1) & ~_box(x, y, 0.5, 1, 0.5, 1),
    "two discs": lambda x, y: _disc(x, y, (0, 0), 1) | _disc(x, y, (1, 0), 0.8),
    "bricks": lambda x, y: _box(x, y, 0, 2, 0, 1),
    "nested": lambda x, y: (
        ((_box(x, y, -1, 1, -1, 1) & ~_disc(x, y, (0.3, 0), 0.5)) | _disc(x, y, (1, 1), 0.4))
        & ~_box(x, y, -1, -0.5, -1, -0.5)
    ),
    "stadium": lambda x, y: _box(x, y, -1, 1, -0.5, 0.5) | _disc(x, y, (1, 0), 0.5) | _disc(x, y, (-1, 0), 0.5),
}

LENS = np.arccos((1 + 1 - 0.64) / 2), np.arccos((1 + 0.64 - 1) / 1.6)  # half angles of the lens of TWO_DISCS
LENGTHS = {
    "square": 8.0,
    "disc": 3 * np.pi,
    "holed": 8 + np.pi,
    "L": 4.0,
    "two discs": 2 * (np.pi - LENS[0]) + 0.8 * 2 * (np.pi - LENS[1]),
    "bricks": 6.0,
    "nested": 8 - 0.8 + 0.4 * 1.5 * np.pi + np.pi,
    "stadium": 4 + np.pi,
}


def drawn(domain: Domain, count: int, step: int = 0, dtype: Any = jnp.float64) -> np.ndarray:
    draw = jax.jit(lambda step: inside(domain, count, uniform, (1, step, 0), dtype).points)
    return np.asarray(draw(step))


def drawn_boundary(
    domain: Domain, count: int, on: Any = None, step: int = 0, dtype: Any = jnp.float64
) -> tuple[np.ndarray, np.ndarray]:
    sample = jax.jit(lambda step: along(edge(domain, on), count, uniform, (1, step, 0), dtype))(step)
    return np.asarray(sample.points), np.asarray(sample.normals)


@pytest.mark.parametrize("name", PLANE)
def test_the_interior_is_uniform_and_an_overlap_counts_once(name: str) -> None:
    domain, holds, cells, fine = PLANE[name], INEQUALITIES[name], 6, 120
    points = drawn(domain, 20_000)
    assert points.shape == (20_000, 2)
    assert np.all(holds(*points.T))
    lines = [start + (end - start) * (np.arange(cells * fine) + 0.5) / (cells * fine) for start, end in domain.bounds]
    areas = holds(*np.meshgrid(*lines, indexing="ij")).reshape(cells, fine, cells, fine).mean(axis=(1, 3))
    areas[areas < 0.01] = 0.0
    counts = np.histogramdd(points, bins=cells, range=list(domain.bounds))[0]
    assert_fits(np.where(areas > 0, counts, 0), areas)


def test_the_chi_square_test_sees_an_overlap_that_counts_twice() -> None:
    twice = np.concatenate([drawn(Box(x=(0, 1), y=(0, 1)), 5000), drawn(Box(x=(0.5, 1.5), y=(0, 1)), 5000, step=1)])
    counts = np.histogram(twice[:, 0], bins=6, range=(0, 1.5))[0]
    assert refused(counts, np.full(6, 1 / 6))
    once = drawn(Box(x=(0, 1), y=(0, 1)) | Box(x=(0.5, 1.5), y=(0, 1)), 10_000)
    assert_fits(np.histogram(once[:, 0], bins=6, range=(0, 1.5))[0], np.full(6, 1 / 6))


def test_a_disc_is_uniform_in_rings_and_sectors() -> None:
    x, y = ((drawn(Disc((3, -1), 2), 20_000) - [3, -1]) / 2).T
    counts = np.histogram2d(x**2 + y**2, np.arctan2(y, x), bins=8, range=((0, 1), (-np.pi, np.pi)))[0]
    assert_fits(counts, np.full((8, 8), 1 / 64))


def test_contains_is_what_the_inequalities_say() -> None:
    points = np.random.default_rng(0).uniform(-4, 4, (5000, 2))
    for name, domain in PLANE.items():
        np.testing.assert_array_equal(domain.contains(points), INEQUALITIES[name](*points.T))


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("name", PLANE)
def test_normals_are_units_and_point_outwards(name: str, dtype: Any) -> None:
    domain, small = PLANE[name], 1e-3
    points, normals = drawn_boundary(domain, 4000, dtype=dtype)
    assert points.shape == normals.shape == (4000, 2)
    assert points.dtype == normals.dtype == dtype
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=4 * np.finfo(points.dtype).eps)
    points, normals = points.astype(np.float64), normals.astype(np.float64)
    away = domain.contains(points - small * normals) & ~domain.contains(points + small * normals)
    assert np.mean(~away) < 20 * small / LENGTHS[name]  # corners, one step to each side
    almost = 1e-6  # the points lie on the boundary itself
    on = domain.contains(points - almost * normals) & ~domain.contains(points + almost * normals)
    assert np.mean(~on) < 20 * small / LENGTHS[name]


@pytest.mark.parametrize("name", PLANE)
def test_the_boundary_has_its_length(name: str) -> None:
    part = edge(PLANE[name], None)
    measured = sum(piece.measure * share_of(piece.place, 1).fraction for piece in part.pieces)
    assert measured == pytest.approx(LENGTHS[name], rel=2e-3)


def test_a_difference_spreads_its_boundary_by_length() -> None:
    points, normals = drawn_boundary(L_SHAPE, 8000)
    middle = (points == 0.5) & (np.abs(normals) == 1)
    sides = [
        points[:, 0] == 0,
        points[:, 1] == 0,
        points[:, 0] == 1,
        points[:, 1] == 1,
        middle[:, 0],
        middle[:, 1],
    ]
    counts = np.array([np.sum(side) for side in sides])
    assert counts.sum() == 8000
    assert_fits(counts, np.array([1, 1, 0.5, 0.5, 0.5, 0.5]))
    np.testing.assert_array_equal(normals[sides[4]], np.tile([1.0, 0.0], (counts[4], 1)))


def test_the_edge_shared_by_two_parts_counts_once() -> None:
    """The upper edges of the bricks lie on one another for 0.5 < x < 1, and their inner walls are no boundary."""
    points, _ = drawn_boundary(BRICKS, 8000)
    assert np.all((points[:, 1] % 1 == 0) | np.isin(points[:, 0], [0, 2]))
    top = points[(points[:, 1] == 1), 0]
    assert_fits(np.histogram(top, bins=8, range=(0, 2))[0], np.full(8, 1 / 8))


def test_a_hole_that_is_filled_again_has_no_boundary() -> None:
    filled = (SQUARE - Disc((0, 0), 0.5)) | Disc((0, 0), 0.5)
    points, _ = drawn_boundary(filled, 1000)
    assert np.all(np.abs(points).max(axis=1) == 1)


def test_the_normal_on_a_subtracted_disc_points_into_it() -> None:
    points, normals = drawn_boundary(HOLED, 4000, on="disc")
    np.testing.assert_allclose(normals, ([0.3, 0] - points) / 0.5, atol=1e-12)
    angle = np.arctan2(*normals.T)
    assert_fits(np.histogram(angle, bins=16, range=(-np.pi, np.pi))[0], np.full(16, 1 / 16))


def test_boundary_points_of_a_box_are_dealt_evenly_to_its_faces() -> None:
    for domain in (Box(x=(-1, 1), y=(0, 5)), Box(x=(-1, 1), y=(0, 5), t=(0, 3))):
        points, normals = drawn_boundary(domain, 256)
        faces = [(points[:, 0] == -1), (points[:, 0] == 1), (points[:, 1] == 0), (points[:, 1] == 5)]
        assert [int(face.sum()) for face in faces] == [64, 64, 64, 64]
        outward = np.sign(points - [0, 2.5, 9][: points.shape[1]])
        assert np.all(np.sum(normals * outward, axis=1) == 1)
    points, _ = drawn_boundary(SQUARE, 10)
    assert sorted(int(np.sum(points[:, k] == end)) for k in (0, 1) for end in (-1, 1)) == [2, 2, 3, 3]


def test_a_face_is_uniform_and_time_with_it() -> None:
    points, _ = drawn_boundary(Box(x=(-1, 1), t=(0, 2)), 10_000, on="x")
    assert_fits(np.histogram(points[:5000, 1], bins=20, range=(0, 2))[0], np.full(20, 0.05))


def test_the_boundary_leaves_time_alone_unless_asked() -> None:
    domain = Box(x=(0, 1), t=(0, 2))
    points, _ = drawn_boundary(domain, 100)
    assert np.all(np.isin(points[:, 0], [0, 1]))
    last, normals = drawn_boundary(domain, 100, on="t+")
    assert np.all(last[:, 1] == 2)
    assert np.all(normals == [0, 1])


def test_sides_are_named() -> None:
    domain = Box(x=(0, 1), y=(2, 3), t=(0, 2))
    for on, axis, values in (("x", 0, [0, 1]), ("x-", 0, [0]), ("y+", 1, [3]), (("y-", "t-"), 1, None)):
        points, _ = drawn_boundary(domain, 60, on=on)
        if values is None:
            assert np.all((points[:, 1] == 2) | (points[:, 2] == 0))
        else:
            assert set(points[:, axis]) == set(values)


def test_the_side_of_a_subtracted_box_is_named_after_its_normal() -> None:
    points, normals = drawn_boundary(L_SHAPE, 100, on="x+")
    assert set(points[:, 0]) == {0.5, 1.0}
    assert np.all(normals == [1, 0])


def test_products_pair_independent_points() -> None:
    domain = HOLED * Box(t=(0, 2))
    assert domain.axes == ("x", "y", "t")
    assert domain.bounds == ((-1, 1), (-1, 1), (0, 2))
    points = drawn(domain, 20_000)
    assert np.all(domain.contains(points))
    plane = np.histogram2d(points[:, 0] > 0.3, points[:, 2], bins=(2, 10), range=((0, 1), (0, 2)))[0]
    left, right = 2 * 1.3 - np.pi / 8, 2 * 0.7 - np.pi / 8
    assert_fits(plane, np.outer([left, right], np.ones(10)))
    around, normals = drawn_boundary(domain, 4000)
    assert np.all(normals[:, 2] == 0)
    share = np.mean(np.hypot(around[:, 0] - 0.3, around[:, 1]) < 0.5 + 1e-9)
    assert share == pytest.approx(np.pi / (8 + np.pi), abs=5 * 0.5 / 4000**0.5)


def test_a_cylinder_has_a_mantle_and_two_lids() -> None:
    points, normals = drawn_boundary(Disc((0, 0), 1) * Box(z=(0, 2)), 8000)
    lids = [normals[:, 2] == -1, normals[:, 2] == 1, normals[:, 2] == 0]
    assert_fits(np.array([lid.sum() for lid in lids]), np.array([1.0, 1.0, 4.0]))
    assert np.all(points[lids[1], 2] == 2)
    assert_fits(np.histogram(np.sum(points[lids[0], :2] ** 2, axis=1), bins=5, range=(0, 1))[0], np.full(5, 0.2))


def test_a_product_of_boxes_is_a_box() -> None:
    assert Box(x=(0, 1)) * Box(t=(0, 2)) == Box(x=(0, 1), t=(0, 2))
    assert repr(Box(x=(-1, 1), t=(0, 0.5))) == "Box(x=(-1, 1), t=(0, 0.5))"


def test_faces_are_met_exactly_in_single_precision() -> None:
    domain = Box(x=(-0.1, 0.2), y=(0.3, 0.7))
    points, _ = drawn_boundary(domain, 400, dtype=jnp.float32)
    ends = np.array([-0.1, 0.2], np.float32), np.array([0.3, 0.7], np.float32)
    assert np.all(np.isin(points[:, 0], ends[0]) | np.isin(points[:, 1], ends[1]))
    assert np.all(np.asarray(domain.contains(jnp.asarray(points))))
    assert np.all(np.asarray(domain.contains(jnp.asarray(drawn(domain, 50_000, dtype=jnp.float32)))))


def test_a_domain_far_from_the_origin_keeps_its_boundary_in_single_precision() -> None:
    domain = Box(x=(1000, 1001), y=(0, 1)) - Disc((1000.5, 0.5), 0.25)
    points, normals = drawn_boundary(domain, 4000, dtype=jnp.float32)
    on_disc = np.abs(normals).max(axis=1) < 1
    assert np.mean(on_disc) == pytest.approx(0.5 * np.pi / (4 + 0.5 * np.pi), abs=0.04)
    assert np.abs(np.hypot(*(points[on_disc] - [1000.5, 0.5]).T) - 0.25).max() < 1e-4


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: Box(), "at least one axis"),
    (lambda: Box(x=(1, -1)), "start below its end; got (1, -1); write x=(-1, 1)."),
    (lambda: Box(x=(1, 1)), "start below its end"),
    (lambda: Box(x=(0, float("nan"))), "must be finite numbers"),
    (lambda: Box(t=(0, float("inf"))), "The ends of axis t must be finite numbers; got (0, inf)"),
    (lambda: Box(x=3), "must be a pair (start, end); got 3"),  # type: ignore[arg-type]
    (lambda: Box(x=("a", 1)), "must be finite numbers"),  # type: ignore[arg-type]
    (lambda: Box(lap=(0, 1)), "'lap' cannot name an axis"),
    (lambda: Box(x=(0, 1), xx=(0, 1)), "'xx' cannot name an axis, because u.xx is a second derivative"),
    (lambda: Disc((0, 0), -1), "`radius` must be a positive number; got -1"),
    (lambda: Disc((0, 0, 0), 1), "`center` must be two finite numbers"),  # type: ignore[arg-type]
    (lambda: Disc((0, float("nan")), 1), "`center` must be two finite numbers"),
    (lambda: SQUARE | Box(x=(0, 1), t=(0, 1)), "joins the axes (x, y) to (x, t)"),
    (lambda: SQUARE - Box(y=(0, 1), x=(0, 1)), "joins the axes (x, y) to (y, x)"),
    (lambda: SQUARE - Box(x=(-2, 2), y=(-2, 2)), "leaves nothing; subtract a domain that covers less of it."),
    (lambda: SQUARE - Disc((0, 0), 3), "leaves nothing"),
    (lambda: SQUARE - Box(x=(-1, 0.9995), y=(-2, 2)), "leaves only 0.0004 of the first part"),
    (lambda: SQUARE * Box(x=(0, 1)), "has the axis x twice"),
    (lambda: SQUARE * 3, "A domain * takes another domain, such as Box(t=(0, 1)); got 3."),  # type: ignore[operator]
    (lambda: SQUARE | None, "A domain | takes another domain"),  # type: ignore[operator]
    (
        lambda: edge(SQUARE, "z"),
        "on='z' names no side of Box(x=(-1, 1), y=(-1, 1)); its sides are x, x+, x-, y, y+, y-.",
    ),
    (lambda: edge(Box(t=(0, 1)), None), "has no boundary but the ends of t"),
    (lambda: edge(Disc((0, 0), 0.9) | SQUARE, "disc"), "Nothing of the sides 'disc'"),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
def test_mistakes_are_told_in_one_sentence(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(IncenterError, match=re.escape(sentence)) as caught:
        make()
    assert "\n" not in str(caught.value)
