"""The figure draws what it should, and is saved whole or not at all."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import incenter
from incenter.study.camera import Camera
from incenter.study.examples import cone, toy
from incenter.study.figure_file import save
from incenter.study.geometry_figure import geometry_figure
from incenter.study.geometry_panels import SHOWN


@pytest.fixture(scope="module")
def figure() -> Figure:
    return geometry_figure(cone(), toy())


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_every_rule_and_every_binding_loss_is_named(figure: Figure) -> None:
    words = " ".join(texts(figure))
    for _, label, _, _ in SHOWN:
        assert label in words
    assert sum("binds" in text for text in texts(figure)) == 3
    assert sum("has room" in text for text in texts(figure)) == 2


def test_the_least_cosines_are_those_of_the_paper(figure: Figure) -> None:
    assert {"0.71", "0.67", "0.52", "0.20", "-0.67"} <= set(texts(figure))


def test_labels_do_not_overlap(figure: Figure) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer: Any = canvas.get_renderer()
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for axes in figure.axes for text in axes.texts]
    boxes += [(text.get_text(), text.get_window_extent(renderer)) for text in figure.texts]
    for i, (first, box) in enumerate(boxes):
        assert box.x0 >= 0, first
        assert box.x1 <= figure.bbox.width, first
        for second, other in boxes[:i]:
            apart = box.x0 >= other.x1 or other.x0 >= box.x1 or box.y0 >= other.y1 or other.y0 >= box.y1
            assert apart, (first, second)


def test_panels_are_drawn_by_themselves(tmp_path: Path) -> None:
    alone = geometry_figure(cone(), toy(), "d")
    assert len(alone.axes) == 1
    assert [text.get_text() for text in alone.texts] == ["the rules' cosines to each loss's gradient"]
    save(alone, tmp_path / "cosines.pdf")
    assert b"/Type3" not in (tmp_path / "cosines.pdf").read_bytes().replace(b" ", b"")


@pytest.mark.parametrize("panels", ["", "x", "aa"])
def test_panels_that_there_are_not_are_refused(panels: str) -> None:
    with pytest.raises(incenter.IncenterError, match="each once; got"):
        geometry_figure(cone(), toy(), panels)


def test_the_camera_is_an_orthographic_one() -> None:
    camera = Camera(azimuth=33, elevation=21)
    frame = np.vstack([camera.screen, camera.toward])
    assert np.allclose(frame @ frame.T, np.eye(3))
    assert np.linalg.det(frame) == pytest.approx(1)
    assert np.allclose(camera.see(camera.toward), 0)


@pytest.mark.parametrize(("ending", "beginning"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_each_kind_of_file_is_written_with_nothing_left_beside_it(
    figure: Figure, tmp_path: Path, ending: str, beginning: bytes
) -> None:
    path = tmp_path / "deeper" / f"picture.{ending}"
    save(figure, path)
    assert path.read_bytes().startswith(beginning)
    assert list(path.parent.iterdir()) == [path]


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    for ending in ("svg", "png"):
        paths = [tmp_path / f"{name}.{ending}" for name in ("first", "second")]
        for path in paths:
            save(geometry_figure(cone(), toy()), path)
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_failed_save_leaves_the_old_picture(figure: Figure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "picture.png"
    path.write_text("old")

    def fail(aside: Path, _: bytes) -> None:
        aside.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(incenter.IncenterError, match=r"picture.png cannot be written \(disk full\)"):
        save(figure, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_unknown_ending_is_refused(figure: Figure, tmp_path: Path) -> None:
    with pytest.raises(incenter.IncenterError, match=r"must end in \.png, \.svg or \.pdf; got .*picture\.bmp"):
        save(figure, tmp_path / "picture.bmp")


def test_without_matplotlib_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(incenter.IncenterError, match=r"pip install 'incenter\[study\]'"):
        geometry_figure(cone(), toy())
