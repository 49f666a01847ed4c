"""The panels of the geometry's picture: the ball in the cone, its section, the rules' directions, their cosines."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from incenter.geometry.arrays import Matrix, Vector
from incenter.study.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION
from incenter.study.comparison import unit, unit_rows
from incenter.study.cone_geometry import Cone, plane_basis, section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from incenter.study.camera import Camera, Scene

#: Which rules panel (c) shows: name, label, colour, and where the label goes from the arrow's tip, in points.
SHOWN = (
    ("chebyshev", "Chebyshev", BLUE, (44, -4)),
    ("harmonic", "HARMONIC", GREEN, (44, 3)),
    ("config", "ConFIG", ORANGE, (30, -8)),
    ("mgda", "MGDA", PURPLE, (-14, 15)),
    ("imtl_g", "IMTL-G", VERMILLION, (6, 14)),
)
_LABELS = {name: label for name, label, _, _ in SHOWN}
_COLORS = {name: color for name, _, color, _ in SHOWN}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_AXES = (r"$\theta_1$", r"$\theta_2$", r"$\theta_3$")
_RIM = 1.22  # height of the cone's cut above its apex, in units of the center's


def draw_ball_in_cone(axes: "Axes", cone: Cone, names: tuple[str, ...], camera: "Camera") -> None:
    """The cone cut off above the ball, far facets first, then the ball, then near facets."""
    from incenter.study.camera import Scene

    scene = Scene(axes, camera)
    rim = section(cone, _RIM + cone.radius**2)
    _facets_of(scene, cone, rim, near=False)
    scene.ball(cone.center, cone.radius, BLUE)
    _facets_of(scene, cone, rim, near=True)
    for corner in rim:
        scene.line([np.zeros(3), corner], color=GREY, linewidth=1.0, zorder=5)
    scene.line(_closed(rim), color=GREY, linewidth=1.0, zorder=5)
    _section_of(scene, cone)
    _contacts_of(scene, cone, names)
    scene.arrow(np.zeros(3), cone.center, width=2.4, head=15, color=BLUE, zorder=9)
    scene.label(r"$v^\star$", cone.center, (-4, 14), color=BLUE, fontsize=15)
    scene.label(rf"$r^\star = {cone.radius:.2f}$", _middle_of_longest_radius(scene, cone), (22, 11), color=VERMILLION)
    scene.label("0", np.zeros(3), (0, -11), color=GREY)
    _frame(axes, scene, np.vstack([rim, np.zeros((1, 3))]), 0.10)
    left, low = axes.get_xlim()[0], axes.get_ylim()[0]
    axes.set_xlim(left - 0.25, None)
    scene.tripod((left - 0.05, low + 0.20), 0.20, _AXES)


def _facets_of(scene: "Scene", cone: Cone, corners: Matrix, near: bool) -> None:
    for facet in cone.facets:
        if (-cone.normals[facet.gradient] @ scene.camera.toward > 0) == near:
            color = ORANGE if cone.binding[facet.gradient] else "#bdbdbd"
            triangle = np.stack([np.zeros(3), corners[facet.first], corners[facet.second]])
            alpha = 0.16 if near else 0.42
            scene.polygon(triangle, facecolor=color, edgecolor="none", alpha=alpha, zorder=4 if near else 1)


def _section_of(scene: "Scene", cone: Cone) -> None:
    """The plane of contact, as panel (b) shows it: the cone's outline in it, and the circle that the ball leaves."""
    height = cone.contact_height
    scene.line(_closed(section(cone, height)), color="0.25", linewidth=1.0, linestyle=(0, (4, 3)), zorder=6)
    scene.line(_contact_circle(cone), color=BLUE, linewidth=1.2, linestyle=(0, (4, 2)), zorder=6)


def _contact_circle(cone: Cone) -> Matrix:
    across = plane_basis(cone.center, np.eye(3)[np.argmin(np.abs(cone.center))])
    turn = np.linspace(0, 2 * np.pi, 181)
    radius = cone.radius * np.sqrt(1 - cone.radius**2)
    return cone.contact_height * cone.center + radius * (
        np.outer(np.cos(turn), across[0]) + np.outer(np.sin(turn), across[1])
    )


def _contacts_of(scene: "Scene", cone: Cone, names: tuple[str, ...]) -> None:
    middle = scene.camera.see(cone.center)
    for i in np.flatnonzero(cone.binding):
        contact = cone.contacts[i]
        scene.line([cone.center, contact], color=VERMILLION, linewidth=1.4, zorder=7)
        scene.dot(contact, color=VERMILLION, markersize=6, zorder=8)
        away, _ = unit(scene.camera.see(contact) - middle)
        scene.label(
            _pretty(names[i]), contact, (float(14 * away[0]), float(14 * away[1])), color=VERMILLION, fontsize=13
        )


def _middle_of_longest_radius(scene: "Scene", cone: Cone) -> Vector:
    """Half way to the point of contact that is seen farthest from the center, where a label has room."""
    contacts = cone.contacts[cone.binding]
    seen = np.linalg.norm(scene.camera.see(contacts - cone.center), axis=1)
    middle: Vector = (cone.center + contacts[np.argmax(seen)]) / 2
    return middle


def draw_section(axes: "Axes", cone: Cone, names: tuple[str, ...]) -> None:
    """The plane of contact from above: binding facets are tangent to the circle, the others stay away from it."""
    from matplotlib.patches import Circle, Polygon

    from incenter.study.camera import annotate

    across = plane_basis(cone.center, np.array([0.0, 0.0, 1.0]))
    corners = section(cone, cone.contact_height) @ across.T
    radius = cone.radius * np.sqrt(1 - cone.radius**2)
    axes.add_patch(Polygon(corners, closed=True, facecolor="#f4f4f4", edgecolor="none", zorder=1))
    axes.add_patch(Circle((0, 0), radius, facecolor=SKY, edgecolor=BLUE, alpha=0.35, linewidth=0, zorder=2))
    axes.add_patch(Circle((0, 0), radius, fill=False, edgecolor=BLUE, linewidth=2, zorder=3))
    for facet in cone.facets:
        _edge(axes, cone, names, facet.gradient, corners[[facet.first, facet.second]], across)
    axes.plot(0, 0, "o", color=BLUE, markersize=6, zorder=5)
    annotate(axes, r"$v^\star$", (0, 0), (-12, -9), color=BLUE, fontsize=15)
    _fit(axes, corners, 0.32)
    axes.plot([], [], color=VERMILLION, linewidth=2.4, label="binds: tangent")
    axes.plot([], [], color=GREY, linewidth=1.6, linestyle=(0, (4, 2)), label="has room: away from the ball")
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.46, 0.03),
        frameon=False,
        fontsize=11,
        ncols=2,
        handlelength=1.8,
        columnspacing=1.4,
    )


def _edge(axes: "Axes", cone: Cone, names: tuple[str, ...], gradient: int, ends: Matrix, across: Matrix) -> None:
    from incenter.study.camera import annotate

    binds = bool(cone.binding[gradient])
    color = VERMILLION if binds else GREY
    style: Any = "-" if binds else (0, (4, 2))
    axes.plot(ends[:, 0], ends[:, 1], color=color, linewidth=2.4 if binds else 1.6, linestyle=style, zorder=4)
    outward, _ = unit(-across @ cone.normals[gradient])
    foot = outward * (outward @ ends[0])  # where the edge is nearest to the axis
    if binds:
        axes.plot([0, foot[0]], [0, foot[1]], color=VERMILLION, linewidth=1.2, zorder=3)
        axes.plot(*foot, "o", color=VERMILLION, markersize=6, zorder=5)
    cosine = float(cone.normals[gradient] @ cone.center)
    text = (
        f"{_pretty(names[gradient])} binds\n$\\cos = r^\\star$"
        if binds
        else f"{_pretty(names[gradient])} has room\n$\\cos = {cosine:.2f}$"
    )
    at = foot if _between(foot, ends) else ends.mean(axis=0)
    annotate(
        axes,
        text,
        at,
        (float(40 * outward[0]), float(25 * outward[1])),
        color=color if binds else "#4d4d4d",
        fontsize=11.5,
    )


def draw_directions(
    axes: "Axes", cone: Cone, names: tuple[str, ...], directions: Mapping[str, Vector], camera: "Camera"
) -> None:
    """The cone inside the unit ball, and unit directions from the origin."""
    from incenter.study.camera import Scene

    scene = Scene(axes, camera)
    turn = np.linspace(0, 2 * np.pi, 181)
    axes.plot(np.cos(turn), np.sin(turn), color="0.85", linewidth=1.0, zorder=0)
    for near in (False, True):
        _sectors_of(scene, cone, near)
    for normal in cone.normals:
        scene.line([np.zeros(3), normal], color="0.45", linewidth=1.0, linestyle=(0, (2, 2)), zorder=6)
    _unit_gradients(scene, cone, names)
    for name, label, color, offset in SHOWN:
        if name in directions:
            bold = name == "chebyshev"
            scene.arrow(
                np.zeros(3),
                directions[name],
                width=3.0 if bold else 2.0,
                head=16 if bold else 13,
                color=color,
                zorder=12 if bold else 10,
            )
            scene.label(label, directions[name], offset, color=color, fontweight="bold", fontsize=11.5)
    _fit(axes, np.array([[-1, -1], [1.4, 1]]), 0.06)
    scene.tripod((-0.80, -0.82), 0.17, _AXES)


def _sectors_of(scene: "Scene", cone: Cone, near: bool) -> None:
    for facet in cone.facets:
        if (-cone.normals[facet.gradient] @ scene.camera.toward > 0) != near:
            continue
        arc = _arc(cone.rays[facet.first], cone.rays[facet.second])
        style = {"facecolor": SKY, "edgecolor": "none", "alpha": 0.18 if near else 0.32, "zorder": 4 if near else 1}
        scene.polygon(np.vstack([np.zeros((1, 3)), arc]), **style)
        scene.line(arc, color=BLUE, linewidth=1.1, alpha=0.8, zorder=5)
    for ray in cone.rays:
        scene.line([np.zeros(3), ray], color=BLUE, linewidth=1.1, alpha=0.8, zorder=5)


def _unit_gradients(scene: "Scene", cone: Cone, names: tuple[str, ...]) -> None:
    for normal, name in zip(cone.normals, names, strict=True):
        away, _ = unit(scene.camera.see(normal))
        scene.dot(normal, color="0.3", markersize=4, zorder=11)
        scene.label(_pretty(name), normal, (float(13 * away[0]), float(13 * away[1])), color="0.3", fontsize=13)


def _arc(first: Vector, second: Vector, points: int = 61) -> Matrix:
    """The great circle from one unit vector to another."""
    angle = np.arccos(np.clip(first @ second, -1, 1))
    share = np.linspace(0, 1, points)[:, None]
    return unit_rows(np.sin((1 - share) * angle) * first + np.sin(share * angle) * second)


def draw_cosines(axes: "Axes", cone: Cone, names: tuple[str, ...], directions: Mapping[str, Vector]) -> None:
    """One line per rule: the cosine of its direction to each gradient, the least one first in the eye."""
    shown = sorted(directions, key=lambda name: float((cone.normals @ directions[name]).min()))
    top = len(shown) - 0.45
    axes.axvspan(-1.1, 0, color="#f6e9e2", zorder=0, linewidth=0)
    axes.axvline(cone.radius, color=BLUE, linewidth=1.2, linestyle=(0, (4, 2)), ymax=0.93, zorder=1)
    axes.text(cone.radius, top, rf"$r^\star = {cone.radius:.3f}$", color=BLUE, ha="center", va="bottom")
    axes.text(-0.55, top, "the loss goes up", color="#9c4a1c", ha="center", va="bottom", fontsize=11)
    axes.text(1.18, top, "least", ha="left", va="bottom", fontsize=11)
    for height, name in enumerate(shown):
        _cosines_of(axes, cone.normals @ directions[name], height, _COLORS[name])
    for name, marker in zip(names, _MARKERS, strict=False):
        axes.plot([], [], marker, color="0.35", markersize=8, label=_pretty(name))
    axes.legend(loc="center left", bbox_to_anchor=(0.06, 0.56), frameon=False, handletextpad=0.1, fontsize=12)
    axes.set(xlim=(-1.1, 1.1), ylim=(-0.6, len(shown)), xlabel="cosine")
    axes.set_xticks([-1, -0.5, 0, 0.5, 1])
    axes.set_yticks(range(len(shown)), [_LABELS[name] for name in shown])
    axes.tick_params(axis="y", length=0)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)


def _cosines_of(axes: "Axes", cosines: Vector, height: float, color: str) -> None:
    axes.plot([cosines.min(), cosines.max()], [height, height], color=color, linewidth=2, alpha=0.45, zorder=2)
    # One above the other, so that equal cosines all show.
    lifts = 0.17 * (len(cosines) - 1) * np.linspace(0.5, -0.5, len(cosines))
    for cosine, marker, lift in zip(cosines, _MARKERS, lifts, strict=False):
        axes.plot(cosine, height + lift, marker, color=color, markersize=8.5, markeredgecolor="white", zorder=3)
    axes.text(1.18, height, f"{cosines.min():.2f}", color=color, ha="left", va="center", fontweight="bold")


def _frame(axes: "Axes", scene: "Scene", points: Matrix, margin: float) -> None:
    _fit(axes, scene.camera.see(points), margin)


def _fit(axes: "Axes", points: Matrix, margin: float) -> None:
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.axis("off")


def _closed(points: Matrix) -> Matrix:
    return np.vstack([points, points[:1]])


def _between(point: Vector, ends: Matrix) -> bool:
    along = ends[1] - ends[0]
    return bool(0.15 < (point - ends[0]) @ along / (along @ along) < 0.85)


def _pretty(name: str) -> str:
    """g1 as mathematics writes it; other names as they are."""
    return rf"$g_{name[1:]}$" if name.startswith("g") and name[1:].isdigit() and len(name) == 2 else name
