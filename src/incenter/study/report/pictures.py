"""The figures of a study in the text of the page: lines as SVG, which stays sharp; maps of many colours as PNG."""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from incenter.study.figure_file import picture
from incenter.study.figures import figures
from incenter.study.rows import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLAIN = " /:;=,.()+-*!@[]"  # letters that a data URL takes as they are
_MAPS = ("solution", "coefficient")
_DPI = 110  # of maps: 1200 points across
_CAPTIONS = {
    "curves": "Medians over the seeds of the reported learning rate; the band is from the least to the greatest.",
    "training": "One run: medians of stretches of steps, in a band from their 10th to their 90th percentile.",
    "solution": "One run: what it learnt beside the reference, at the end of the training.",
    "geometry": "How the rules differ on three gradients, the paper's example; no run of this study is in it.",
    "seconds": "The processor of this machine; diamonds, where there are any, are what the paper prints of a GPU.",
    "ms-per-step": "Of the whole training loop, compilation left out.",
    "coefficient": "The true coefficient and what was recovered, and below them the absolute differences.",
}

_UNTITLED = "Cone, ball and directions"  # of the geometry, whose four panels have titles of their own


@dataclass(frozen=True)
class Picture:
    """A figure, ready for the page."""

    name: str
    title: str
    caption: str
    source: str  # of an <img>

    @property
    def kind(self) -> str:
        return _kind(self.name)


def pictures(rows: Iterable[Row]) -> Iterator[Picture]:
    """Every figure that these runs can give."""
    for name, figure in figures(rows):
        source = _png(figure) if _kind(name) in _MAPS else _svg(figure)
        yield Picture(name, figure.get_suptitle() or _UNTITLED, _CAPTIONS[_kind(name)], source)


def _png(figure: "Figure") -> str:
    return f"data:image/png;base64,{base64.b64encode(picture(figure, 'png', _DPI)).decode()}"


def _svg(figure: "Figure") -> str:
    """With few letters changed, a quarter shorter than in base 64."""
    text = " ".join(picture(figure, "svg").decode().split())
    return f"data:image/svg+xml,{quote(text, safe=_PLAIN)}"


def _kind(name: str) -> str:
    """Its name without the problem's."""
    return next(kind for kind in _CAPTIONS if name == kind or name.startswith(f"{kind}-"))
