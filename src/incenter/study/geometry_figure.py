"""The paper's first two figures in one: the cone, the ball in it, its section, and where each rule points.

`geometry_figure` takes gradients and returns a Figure; `save` writes one whole or not at all.
"""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import incenter
from incenter.geometry.arrays import Matrix, Vector
from incenter.geometry.errors import IncenterError
from incenter.study.comparison import compare, unit, unit_rows
from incenter.study.cone_geometry import Cone, dual_cone, plane_basis, section
from incenter.study.examples import Gradients
from incenter.study.extras import require_matplotlib
from incenter.whole_file import written_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from incenter.study.camera import Camera, Scene

# Okabe and Ito's colours, which stay apart for colour-blind readers
BLUE, SKY, ORANGE, GREEN, VERMILLION, PURPLE = "#0072B2", "#56B4E9", "#E69F00", "#009E73", "#D55E00", "#CC79A7"
GREY = "#6b6b6b"

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


def geometry_figure(cone: Gradients, toy: Gradients, panels: str = "abcd") -> "Figure":
    """Any of four panels: (a) cone and ball, (b) their section, (c) directions in `toy`'s cone, (d) their cosines."""
    require_matplotlib()
    if not panels or set(panels) - set(_PANELS) or len(set(panels)) < len(panels):
        raise IncenterError(f"Panels are some of the letters {''.join(_PANELS)}, each once; got {panels!r}.")
    from matplotlib import rc_context

    answers = compare(toy, methods=[name for name, *_ in SHOWN]).answers
    directions = {answer.method: answer.direction for answer in answers if answer.direction is not None}
    with rc_context({"font.size": 12, "mathtext.fontset": "cm"}):
        return _draw(panels, _cone_of(cone), cone.names, _cone_of(toy), toy.names, directions)


def save(figure: "Figure", path: Path) -> None:
    """Write `figure`, whole or not at all: a reader never sees half a picture."""
    kind = path.suffix.lstrip(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise IncenterError(f"A picture's name must end in .png, .svg or .pdf; got {path}.")
    with written_whole(path, "make room there, or give another place") as aside:
        aside.write_bytes(picture(figure, kind))


def picture(figure: "Figure", kind: str, dpi: int = 240) -> bytes:
    """What a file of this kind holds: the same bytes for the same figure."""
    from matplotlib import rc_context

    metadata: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    content = io.BytesIO()
    # Without a salt of its own an .svg is another file each time; journals refuse a .pdf's Type 3 fonts.
    with rc_context({"svg.fonttype": "path", "svg.hashsalt": "incenter", "pdf.fonttype": 42}):
        figure.savefig(content, format=kind, dpi=dpi, metadata=metadata)
    return content.getvalue()


def _cone_of(source: Gradients) -> Cone:
    centre = incenter.chebyshev_center(source.gradients)
    return dual_cone(source.gradients, np.asarray(centre.direction), float(centre.radius))


def _draw(
    panels: str,
    cone: Cone,
    names: tuple[str, ...],
    toy: Cone,
    toy_names: tuple[str, ...],
    directions: Mapping[str, Vector],
) -> "Figure":
    from matplotlib.figure import Figure

    from incenter.study.camera import Camera

    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(_WIDTH * columns, _HEIGHT * rows), facecolor="white")
    draw: dict[str, Callable[[Axes], None]] = {
        "a": lambda axes: draw_ball_in_cone(axes, cone, names, Camera(azimuth=-35, elevation=14)),
        "b": lambda axes: draw_section(axes, cone, names),
        "c": lambda axes: draw_directions(axes, toy, toy_names, directions, Camera(azimuth=-30, elevation=22)),
        "d": lambda axes: draw_cosines(axes, toy, toy_names, directions),
    }
    shares = np.array([columns * _WIDTH, rows * _HEIGHT])
    for place, letter in enumerate(panels):
        title, at, (left, bottom, width, height) = _PANELS[letter]
        corner = np.array([place % columns * _WIDTH, (rows - 1 - place // columns) * _HEIGHT])
        low, size = (corner + np.array([left, bottom])) / shares, np.array([width, height]) / shares
        draw[letter](figure.add_axes((low[0], low[1], size[0], size[1])))
        x, y = (corner + np.array([at, _TITLE])) / shares
        if len(panels) > 1:
            figure.text(x, y, f"({letter})", fontsize=13, fontweight="bold", va="bottom")
            x += 0.34 / shares[0]
        figure.text(x, y, title, fontsize=13, va="bottom")
    return figure


#: What each panel takes up and how high its title begins, in inches
_WIDTH, _HEIGHT, _TITLE = 5.0, 4.7, 4.3
#: The title, where it begins from the left, and left, bottom, width and height of the axes, in inches
_PANELS = {
    "a": ("the largest ball in the cone", 0.2, (0.2, 0.235, 4.6, 3.95)),
    "b": ("its section through the points of contact", 0.2, (0.2, 0.235, 4.6, 3.95)),
    "c": ("the toy example: the directions of five rules", 0.2, (0.1, 0.28, 5.0, 3.95)),
    "d": ("the rules' cosines to each loss's gradient", 0.6, (1.65, 0.89, 2.6, 3.1)),
}


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
