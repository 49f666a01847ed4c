"""An orthographic camera and the few things seen through it: polygons, a ball, arrows, labels.

Drawn flat, in the painter's order that the caller knows, because a ball in a cone needs exact occlusion: far facets,
then what is inside, then near facets.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Polygon

from incenter.geometry.arrays import Matrix, Vector


@dataclass(frozen=True)
class Camera:
    """Looks at the origin from `azimuth` and `elevation`, in degrees, the third axis up."""

    azimuth: float
    elevation: float

    @property
    def toward(self) -> Vector:
        """Unit vector from the scene to the eye."""
        a, e = np.radians([self.azimuth, self.elevation])
        return np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])

    @property
    def screen(self) -> Matrix:
        """(2, 3): right and up."""
        a, e = np.radians([self.azimuth, self.elevation])
        right = [-np.sin(a), np.cos(a), 0.0]
        up = [-np.sin(e) * np.cos(a), -np.sin(e) * np.sin(a), np.cos(e)]
        return np.array([right, up])

    def see(self, points: Any) -> Any:
        """(..., 2) where `points` (..., 3) are on the screen."""
        return np.asarray(points) @ self.screen.T


@dataclass(frozen=True)
class Scene:
    """Axes with a camera in front of them."""

    axes: Axes
    camera: Camera

    def polygon(self, points: Matrix, **style: Any) -> None:
        self.axes.add_patch(Polygon(self.camera.see(points), closed=True, **style))

    def line(self, points: Any, **style: Any) -> None:
        seen = self.camera.see(points)
        self.axes.plot(seen[:, 0], seen[:, 1], **style)

    def dot(self, point: Vector, **style: Any) -> None:
        self.line([point], marker="o", linestyle="none", **style)

    def arrow(self, start: Vector, end: Vector, width: float, head: float = 12.0, **style: Any) -> None:
        first, last = self.camera.see(start), self.camera.see(end)
        self.axes.add_patch(
            FancyArrowPatch(
                first, last, arrowstyle="-|>", mutation_scale=head, linewidth=width, shrinkA=0, shrinkB=0, **style
            )
        )

    def label(self, text: str, at: Vector, offset: tuple[float, float], **style: Any) -> None:
        """`text` moved from `at` by `offset` points; a halo keeps it readable over lines."""
        annotate(self.axes, text, self.camera.see(at), offset, **style)

    def ball(self, center: Vector, radius: float, color: str, shades: int = 28) -> None:
        """A shaded disc, which is what a ball is to an orthographic eye: circles closing in on the highlight."""
        middle = self.camera.see(center)
        light = np.array([-0.35, 0.4]) * radius
        for step in range(shades):
            share = step / shades
            disc = Circle(
                tuple(middle + share * light),
                radius * (1 - share) * 0.999,
                facecolor=_mix(color, share),
                edgecolor="none",
                alpha=0.93 if step == 0 else 1.0,
                zorder=3 + 0.01 * share,
            )
            self.axes.add_patch(disc)
        self.axes.add_patch(Circle(tuple(middle), radius, fill=False, edgecolor=color, linewidth=1.2, zorder=3.02))

    def tripod(self, corner: tuple[float, float], length: float, names: tuple[str, str, str]) -> None:
        """The three coordinate axes, drawn aside at `corner` of the screen."""
        at = np.asarray(corner)
        for axis, name in zip(np.eye(3), names, strict=True):
            tip = at + length * self.camera.see(axis)
            arrow = FancyArrowPatch(
                tuple(at),
                tuple(tip),
                arrowstyle="-|>",
                mutation_scale=9,
                linewidth=1.0,
                color="0.35",
                shrinkA=0,
                shrinkB=0,
            )
            self.axes.add_patch(arrow)
            end = at + 1.30 * length * self.camera.see(axis)
            self.axes.text(end[0], end[1], name, color="0.35", ha="center", va="center", fontsize=11)


def annotate(axes: Axes, text: str, at: Any, offset: tuple[float, float], **style: Any) -> None:
    """Text with a white halo, `offset` points away from `at`."""
    from matplotlib.patheffects import withStroke

    defaults: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 12, "zorder": 20}
    axes.annotate(
        text,
        tuple(at),
        xytext=offset,
        textcoords="offset points",
        path_effects=[withStroke(linewidth=3, foreground="white")],
        **(defaults | style),
    )


def _mix(color: str, share: float) -> tuple[float, float, float]:
    """`color` lightened towards its highlight."""
    from matplotlib.colors import to_rgb

    lift = 0.42 + 0.50 * share**1.2
    red, green, blue = to_rgb(color)
    return (red + (1 - red) * lift, green + (1 - green) * lift, blue + (1 - blue) * lift)
