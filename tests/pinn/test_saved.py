"""A saved run is the field that was trained, whatever happened to its folder is said in one sentence."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incenter
from incenter.pinn import MLP, Boundary, Box, Interior, Problem, Reference, load
from incenter.pinn.result import Result
from incenter.pinn.saved import state_of
from incenter.pinn.training import train

SOURCE = """
import numpy as np
from incenter.pinn import MLP, Boundary, Box, Interior, Problem, Reference

def pair(width=4):
    return Problem(
        domain=Box(x=(0, 1), t=(0, 1)),
        terms={"residual": Interior(8, lambda u, v, rate: (u.t + rate * u, v.x - u)), "ends": Boundary(4, lambda v: v)},
        network=MLP(width=width, depth=1),
        outputs=("u", "v"),
        unknowns={"rate": 0.5},
        reference=Reference(lambda x, t: np.exp(-t) * x, outputs=("v",), x=4, t=3),
    )
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A finished run, not to be touched, and what training returned."""
    folder = tmp_path_factory.mktemp("saved") / "run"
    file = folder.parent / "pair.py"
    file.write_text(SOURCE)
    return folder, train(f"{file}:pair", method="sum", steps=4, out=folder)


@pytest.fixture
def copy(run: tuple[Path, Result], tmp_path: Path) -> Path:
    """A copy of its folder."""
    folder: Path = shutil.copytree(run[0], tmp_path / "run")
    return folder


def test_what_is_loaded_is_what_was_trained(run: tuple[Path, Result]) -> None:
    folder, result = run
    field = load(folder)
    points = np.random.default_rng(0).random((20, 2))
    assert field.predict(points).tobytes() == result.predict(points).tobytes()
    assert field.theta.tobytes() == result.theta.tobytes()
    assert (field.axes, field.outputs) == (("x", "t"), ("u", "v"))
    assert field.unknowns == result.unknowns
    assert field.unknowns["rate"] != 0.5
    assert field.relative_l2 == result.relative_l2
    assert field.step == 4
    assert field.configuration == result.configuration
    assert field.result == result.summary()
    assert field.history["losses"].tobytes() == result.history["losses"].tobytes()
    assert field.notes == ()


def test_the_error_is_that_of_its_definition(run: tuple[Path, Result]) -> None:
    field = load(run[0])
    x, t = np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 1, 3))
    v = field.predict({"x": x, "t": t})[..., 1]
    true = np.exp(-t) * x
    assert field.relative_l2 == pytest.approx(np.linalg.norm(v - true) / np.linalg.norm(true), rel=1e-6)


def test_points_come_in_any_shape_or_by_axis(run: tuple[Path, Result]) -> None:
    field = load(run[0])
    x, t = np.linspace(0, 1, 3), np.linspace(0, 1, 5)
    grid = field.predict({"t": t, "x": x[:, None]})
    assert grid.shape == (3, 5, 2)
    one = field.predict([x[2], t[1]])
    assert one.shape == (2,)
    assert grid[2, 1] == pytest.approx(one, rel=1e-6)
    assert field.predict(np.zeros((0, 2))).shape == (0, 2)
    assert field.predict(np.zeros((4, 3, 2), int)).shape == (4, 3, 2)


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        (np.zeros((3, 3)), r"shape \(N, 2\), the axes x, t in this order; got shape \(3, 3\) and dtype float64"),
        (np.zeros(()), r"got shape \(\)"),
        (np.array([["0", "1"]]), "got shape .* and dtype <U1"),
        ({"x": 0.0}, "`points` must give the axes x, t; got x."),
        ({"x": 0.0, "t": 0.0, "y": 1.0}, "got x, t, y."),
        ({"x": np.zeros(3), "t": np.zeros(2)}, r"got shapes x \(3,\), t \(2,\)."),
    ],
)
def test_wrong_points_are_one_sentence(run: tuple[Path, Result], points: Any, sentence: str) -> None:
    with pytest.raises(incenter.IncenterError, match=sentence):
        load(run[0]).predict(points)


def test_a_missing_an_empty_and_a_half_written_folder_are_one_sentence_each(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "half" / "checkpoints").mkdir(parents=True)
    (tmp_path / "half" / "checkpoints" / ".step-000000001.checkpoint.1.tmp").write_bytes(b"incenter")
    for path in (copy / "checkpoints").iterdir():
        path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(incenter.IncenterError, match=r"There is no folder .*missing: give the folder"):
        load(tmp_path / "missing")
    for folder in ("empty", "half"):
        with pytest.raises(incenter.IncenterError, match=rf"There is no checkpoint in .*{folder}/checkpoints"):
            load(tmp_path / folder)
    with pytest.raises(incenter.IncenterError, match=r"Every checkpoint in .* is damaged"):
        load(copy)


def test_the_folder_of_several_seeds_names_one_of_them(copy: Path) -> None:
    copy.rename(copy.parent / "seed-3")
    with pytest.raises(incenter.IncenterError, match=r"holds several runs: give one of them, such as .*seed-3"):
        load(copy.parent)


def test_a_damaged_newest_checkpoint_is_passed_over_with_a_note(copy: Path) -> None:
    newest = max((copy / "checkpoints").iterdir())
    newest.write_bytes(b"")
    field = load(copy)
    assert field.step == 3
    assert newest.name in field.notes[0]
    assert field.result is None  # which is of step 4
    assert len(field.history) == 3


def test_a_run_that_was_killed_has_no_result_and_can_be_loaded(copy: Path) -> None:
    assert state_of(copy) == "is finished after 4 steps"
    for name in ("result.json", "history.npz", "config.json"):
        (copy / name).unlink()
    field = load(copy)
    assert field.result is None
    assert len(field.history) == 4
    assert state_of(copy) == "has stopped at step 4"
    (copy / "result.json").write_text("{")
    assert load(copy).result is None


def test_the_problem_is_found_again_from_another_folder_and_a_changed_file_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    Path("pair.py").write_text(SOURCE)
    train("pair.py:pair", method="sum", steps=1, out="run")
    monkeypatch.chdir(tmp_path)
    assert load("home/run").notes == ()
    Path("home/pair.py").write_text(SOURCE + "\n# another line\n")
    (note,) = load("home/run").notes
    assert "pair.py has changed since the run was begun" in note
    Path("home/pair.py").write_text(SOURCE.replace("width=4", "width=5"))
    with pytest.raises(incenter.IncenterError, match=r"has 23 parameters and its problem now has 28"):
        load("home/run")
    Path("home/pair.py").unlink()
    with pytest.raises(incenter.IncenterError, match=r"There is no file .*home/pair.py"):
        load("home/run")


def test_a_problem_given_as_an_object_is_passed_again(tmp_path: Path) -> None:
    problem = Problem(
        domain=Box(x=(0, 1)),
        terms={"residual": Interior(8, lambda u: u.xx), "ends": Boundary(2, lambda u: u - u.at.x)},
        network=MLP(width=3, depth=1),
        reference=Reference(lambda x: x, x=3),
    )
    result = train(problem, method="sum", steps=1, precision=64, out=tmp_path / "run")
    with pytest.raises(
        incenter.IncenterError, match=r"was given as a Python object, .*pass it again, load\(DIR, problem"
    ):
        load(tmp_path / "run")
    field = load(tmp_path / "run", problem=problem)
    assert field.predict([[0.3]]).dtype == np.float64
    assert field.predict([[0.3]]).tobytes() == result.predict(np.array([[0.3]])).tobytes()
    assert field.relative_l2 == result.relative_l2


def test_the_norm_inf_comes_back_as_a_number(copy: Path) -> None:
    from incenter.pinn import checkpoints

    saved = checkpoints.newest(copy / "checkpoints")
    manifest = saved.manifest | {"configuration": saved.manifest["configuration"] | {"p": "inf"}}
    checkpoints.write(copy / "checkpoints", saved.step, saved.arrays, json.loads(json.dumps(manifest)))
    assert load(copy).configuration.p == float("inf")
