"""The geometry along a training: tables from the gradients that a run kept, the paper's solver judged, and pictures."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incenter import IncenterError, chebyshev_center
from incenter.cli import main
from incenter.pinn import Configuration
from incenter.study.comparison import unit_rows
from incenter.study.examples import Gradients, toy
from incenter.study.paper_algorithm import three_losses
from incenter.study.training_geometry import read, record_of, text_of, write
from incenter.study.training_geometry_figure import draw


def in_the_plane(*degrees: float) -> Any:
    angles = np.deg2rad(degrees)
    return np.stack([np.cos(angles), np.sin(angles), np.zeros(3)], axis=1)


class TestThePapersSolver:
    def test_it_is_right_in_general_position(self) -> None:
        draw_of = np.random.default_rng(0)
        for _ in range(200):
            units = unit_rows(draw_of.normal(size=(3, 9)))
            found = np.linalg.norm(three_losses(units) @ units)
            assert found == pytest.approx(chebyshev_center(units).radius, abs=1e-12)

    def test_it_is_wrong_for_three_gradients_in_a_plane(self) -> None:
        units = in_the_plane(0, 30, 90)
        w = three_losses(units) @ units
        assert min(units @ w / np.linalg.norm(w)) == pytest.approx(0.6795421613, abs=1e-9)
        assert chebyshev_center(units).radius == pytest.approx(1 / math.sqrt(2))

    def test_it_finds_a_stationary_point(self) -> None:
        units = in_the_plane(0, 120, 240)
        np.testing.assert_allclose(three_losses(units), 1 / 3, atol=1e-12)

    def test_single_precision_is_wrong_much_sooner(self) -> None:
        """A tilt out of the plane that double precision sees and single precision takes for none."""
        rows = in_the_plane(0, 30, 90) + np.array([[0, 0, 0], [0, 0, 1e-4], [0, 0, 0]])
        record = record_of(Gradients(rows, ("a", "b", "c"), ""))
        assert record["paper_64"] == pytest.approx(0.0, abs=1e-6)
        assert isinstance(record["paper_32"], float)
        assert record["paper_32"] > 0.01


def test_the_toy_example_as_the_paper_has_it() -> None:
    record = record_of(toy())
    assert record["active"] == "110"
    assert record["r_star"] == pytest.approx(1 / math.sqrt(2))
    assert record["config_radius"] == pytest.approx(math.sqrt(5 / 11))
    cosine = 2 * math.sqrt(5 / 11) / math.sqrt(2)
    assert record["config_angle"] == pytest.approx(math.degrees(math.acos(cosine)))
    assert [record[f"norm:{name}"] for name in ("g1", "g2", "g3")] == pytest.approx([5, 3, 1])
    assert record["cosine:g1/g2"] == pytest.approx(0.0)


def test_for_two_losses_there_is_one_direction_and_no_third_loss() -> None:
    record = record_of(Gradients(np.array([[3.0, 0.0], [-1.0, 2.0]]), ("a", "b"), ""))
    assert isinstance(record["config_angle"], float)
    assert record["config_angle"] < 1e-6
    assert record["paper_64"] is None


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A run that kept 12 gradients of three losses, and one that kept none."""
    draw_of = np.random.default_rng(1)
    for method, kept in (("chebyshev", 12), ("sum", 0)):
        run = tmp_path / "runs" / method
        (run / "gradients").mkdir(parents=True)
        (run / "config.json").write_text(json.dumps(Configuration("burgers", method=method, steps=60).as_dict()))
        for k in range(kept):
            step, G = 5 * (k + 1), draw_of.normal(size=(3, 4)).astype(np.float32)
            names = np.array(["residual", "boundary", "initial"])
            np.savez(run / "gradients" / f"step-{step:09d}.npz", gradients=G, names=names, step=np.asarray(step))
    return tmp_path / "runs"


def test_tables_and_pictures_are_the_same_bytes_each_time(runs: Path, tmp_path: Path) -> None:
    found = []
    for place in ("one", "two"):
        (table,) = write(runs, tmp_path / place)
        for form in ("svg", "png"):
            (picture,) = draw(tmp_path / place, tmp_path / place / "pictures", form)
            found.append((table.name, table.read_bytes(), picture.name, picture.read_bytes()))
    assert found[:2] == found[2:]
    key = Configuration("burgers", steps=60).fingerprint()
    assert found[0][0] == f"burgers-chebyshev-seed-0-{key}.csv"
    assert found[0][2] == "geometry-burgers-chebyshev.svg"


def test_a_table_is_read_as_it_was_written(runs: Path, tmp_path: Path) -> None:
    (table,) = write(runs, tmp_path / "geometry")
    found = read(table)
    assert found.losses == ("residual", "boundary", "initial")
    assert found.pairs == ("residual/boundary", "residual/initial", "boundary/initial")
    assert found["step"].tolist() == list(range(5, 65, 5))
    assert found.active.shape == (12, 3)
    for k, step in enumerate(range(5, 65, 5)):
        with np.load(runs / "chebyshev" / "gradients" / f"step-{step:09d}.npz") as kept:
            centre = chebyshev_center(kept["gradients"].astype(float))
        assert found["r_star"][k] == pytest.approx(centre.radius, rel=1e-5)
        assert found.active[k].tolist() == centre.active.tolist()
    assert (found["config_radius"] <= found["r_star"] * (1 + 1e-5)).all()  # the paper's theorem


def test_the_command_writes_and_draws(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["study", "geometry", str(runs), "--out", str(tmp_path / "g"), "--draw", str(tmp_path / "p")])
    assert not end.value.code
    said = capsys.readouterr().err
    assert "burgers-chebyshev-seed-0" in said
    assert (tmp_path / "p" / "geometry-burgers-chebyshev.png").is_file()


def test_runs_that_differ_in_their_seed_have_a_picture_each(runs: Path, tmp_path: Path) -> None:
    again = runs / "again"
    shutil.copytree(runs / "chebyshev", again)
    (again / "config.json").write_text(json.dumps(Configuration("burgers", steps=60, seed=1).as_dict()))
    tables = write(runs, tmp_path / "geometry")
    drawn = draw(tmp_path / "geometry", tmp_path / "pictures", "svg")
    assert {path.name for path in drawn} == {f"geometry-{table.stem}.svg" for table in tables}
    assert len(drawn) == 2


def test_a_table_of_many_losses_is_drawn(tmp_path: Path) -> None:
    m = 6  # of which there are more pairs than colours
    source = Gradients(np.random.default_rng(0).normal(size=(m, 9)), tuple("abcdef"), "", step=1)
    (tmp_path / "heat-sum-seed-0-key.csv").write_text(text_of([record_of(source)]))
    assert len(draw(tmp_path, tmp_path, "svg")) == 1


def test_nothing_to_draw_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["study", "geometry", "--out", str(tmp_path / "none"), "--draw", str(tmp_path / "p")])
    assert end.value.code == 2
    assert "There is no table in" in capsys.readouterr().err


def test_a_folder_without_gradients_is_told_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(IncenterError, match="has kept gradients: give the folder of the runs"):
        write(tmp_path, tmp_path / "geometry")
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    with pytest.raises(IncenterError, match="is no table of"):
        read(other)
