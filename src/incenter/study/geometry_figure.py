"""The paper's first two figures in one: the cone, the ball in it, its section, and where each rule points."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

import incenter
from incenter.geometry.arrays import Vector
from incenter.geometry.errors import IncenterError
from incenter.study.comparison import compare
from incenter.study.cone_geometry import Cone, dual_cone
from incenter.study.examples import Gradients
from incenter.study.extras import require_matplotlib
from incenter.study.geometry_panels import SHOWN, draw_ball_in_cone, draw_cosines, draw_directions, draw_section

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
