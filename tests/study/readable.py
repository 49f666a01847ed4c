"""That a figure can be read: nothing written outside it, and no words on one another."""

from collections.abc import Iterator
from typing import Any

from matplotlib.figure import Figure
from matplotlib.text import Text


def assert_readable(figure: Figure) -> None:
    """Every visible text lies within the figure and apart from every other."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer: Any = canvas.get_renderer()
    found: list[tuple[str, Any]] = []
    for text in written(figure):
        words, box = text.get_text(), text.get_window_extent(renderer)
        assert min(box.x0, box.y0) >= 0, words
        assert box.x1 <= figure.bbox.width, words
        assert box.y1 <= figure.bbox.height, words
        for other, there in found:
            apart = box.x0 >= there.x1 or there.x0 >= box.x1 or box.y0 >= there.y1 or there.y0 >= box.y1
            assert apart, (words, other)
        found.append((words, box))
    assert found


def written(figure: Any) -> Iterator[Text]:
    """All texts that are drawn; of the ticks those within their axis."""
    for text in [*figure.texts, *(text for legend in figure.legends for text in legend.texts), *_in_axes(figure)]:
        if text.get_visible() and text.get_text().strip():
            yield text


def _in_axes(figure: Any) -> Iterator[Any]:
    for axes in figure.axes:
        if axes.get_visible():
            yield from (axes.title, axes._left_title, axes._right_title, *axes.texts)
            yield from axes.get_legend().texts if axes.get_legend() else ()
            for axis in (axes.xaxis, axes.yaxis):
                yield from (axis.label, axis.offsetText)
                for tick in axis._update_ticks():
                    yield from (tick.label1, tick.label2)
