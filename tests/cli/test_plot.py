"""`incenter plot`: the pictures of a run, or one sentence."""

import shutil
from pathlib import Path

import pytest
from matplotlib import image

from incenter.pinn import load
from incenter.study.run_figures import figures
from tests.cli.running import run
from tests.study.readable import assert_readable

FILE = Path(__file__).parent / "decay.py"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, not to be touched."""
    folder = tmp_path_factory.mktemp("plot") / "run"
    assert run("train", f"{FILE}:decay", "--method", "sum", "--steps", "30", "--out", str(folder)) == 0
    return folder


def test_curves_and_solution_are_drawn_into_the_folder(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(finished, tmp_path / "run")
    capsys.readouterr()
    assert run("plot", str(folder)) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [str(folder / "training.png"), str(folder / "solution.png")]
    assert captured.err == ""
    for name in ("training", "solution"):
        height, width, _ = image.imread(folder / f"{name}.png").shape
        assert width >= 1200
        assert height >= 600
    assert not list(folder.glob(".*"))


def test_every_figure_of_a_run_can_be_read(finished: Path) -> None:
    notes: list[str] = []
    for name, figure in figures(load(finished), notes):
        assert_readable(figure)
        assert name in ("training", "solution")
    assert notes == []


def test_what_cannot_be_drawn_is_one_sentence(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    folder = shutil.copytree(finished, tmp_path / "run")
    (folder / "training.png").mkdir()
    capsys.readouterr()
    for name, sentence in {
        "missing": "There is no folder",
        "empty": "There is no checkpoint in",
        "run": f"{folder / 'training.png'} cannot be written",
    }.items():
        assert run("plot", str(tmp_path / name)) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        (line,) = captured.err.splitlines()
        assert line.startswith(f"incenter: {sentence}")
