"""What is drawn from a folder of results is the same bytes each time; tables are those of the store as well."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incenter.cli import main
from incenter.study.exchange import export, take_in
from incenter.study.rows import Outcome, Planned
from incenter.study.store import Store

METHODS = ("sum", "config", "chebyshev")
LINE = np.linspace(-1, 1, 16).astype(np.float32)


def planned(method: str, seed: int) -> Planned:
    configuration: dict[str, Any] = {
        "problem": "inverse_heat", "problem_options": {"setting": "standard"}, "method": method, "method_options": {},
        "p": 2.0, "lr": 1e-3, "optimizer": "adam", "optimizer_options": {}, "steps": 30_000, "seed": seed,
        "precision": 32, "stop_radius": 1e-6,
    }  # fmt: skip
    return Planned(f"{method}{seed}".ljust(16, "0"), configuration, None)


def outcome(method: str, seed: int) -> Outcome:
    draw = np.random.default_rng([METHODS.index(method), seed])
    steps = np.arange(60, 30_060, 60)
    names = np.array(["residual", "boundary", "observations"])
    history: dict[str, Any] = {
        "step": steps, "losses": draw.random((500, 3)).astype(np.float32), "weights": draw.random((500, 3)),
        "radius": draw.random(500), "r_star": draw.random(500), "error": draw.random(500), "names": names,
    }  # fmt: skip
    summary = {
        "relative_l2": float(draw.random()),
        "seconds": float(draw.random()),
        "ms_per_step": 1 / 3,
        "radius": 0.5,
    }
    times = np.array([0.25, 0.5, 0.75, 1.0], dtype=np.float32)
    field = {name: draw.random((16, 16, 4)).astype(np.float32) for name in ("u", "a")}
    return Outcome(summary, history, f"{seed}", {"axis/x": LINE, "axis/y": LINE, "axis/t": times} | field)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "study.sqlite"
    with Store(path) as opened:
        opened.add("mine", [planned(method, seed) for method in METHODS for seed in range(3)])
        for method in METHODS:
            for seed in range(3):
                opened.enter(planned(method, seed), outcome(method, seed))
        export(opened, tmp_path / "results", "mine", fields="drawn")
    return path


def made(words: list[str], folder: Path) -> dict[str, bytes]:
    """The files that a command writes into `folder`."""
    with pytest.raises(SystemExit) as end:
        main(["study", *words, "--out", str(folder)])
    assert not end.value.code
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_tables_of_a_folder_are_those_of_its_store(store: Path, tmp_path: Path) -> None:
    from_store = made(["tables", "mine", "--store", str(store)], tmp_path / "a")
    from_folder = made(["tables", "mine", "--from", str(tmp_path / "results")], tmp_path / "b")
    assert len(from_store) == 3 * 5  # errors, rates, two times and paired tests; Markdown, LaTeX and CSV
    assert from_folder == from_store
    assert made(["tables", "mine", "--from", str(tmp_path / "results")], tmp_path / "c") == from_folder


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("form", ["svg", pytest.param("png", marks=pytest.mark.slow)])
def test_figures_of_a_folder_are_the_same_each_time(tmp_path: Path, form: str) -> None:
    words = ["figures", "mine", "--from", str(tmp_path / "results"), "--format", form]
    first, second = made(words, tmp_path / "a"), made(words, tmp_path / "b")
    assert first == second
    assert set(first) >= {f"{name}-standard.{form}" for name in ("curves", "training", "solution", "coefficient")}
    assert b"<dc:date>" not in b"".join(first.values())


@pytest.mark.usefixtures("store")
def test_a_folder_that_is_written_again_does_not_change(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    before = {path: path.read_bytes() for path in folder.rglob("*.json")}
    with Store(tmp_path / "other.sqlite") as other:
        take_in(other, folder)
        assert export(other, tmp_path / "again", "mine", fields="all").written == len(METHODS) * 3
    for path, text in before.items():
        assert (tmp_path / "again" / path.relative_to(folder)).read_bytes() == text


@pytest.mark.usefixtures("store")
def test_only_what_is_drawn_has_fields(tmp_path: Path) -> None:
    with Store(tmp_path / "other.sqlite") as other:
        take_in(other, tmp_path / "results")
        having = {(row.method, row.seed) for row in other.rows("mine") if row.fields()}
        kept = next(row for row in other.rows("mine") if row.method == "sum").fields()
    assert having == {("sum", 0), ("chebyshev", 0)}  # Adam's, because a coefficient is sought
    whole = outcome("sum", 0).fields
    np.testing.assert_allclose(kept["a"], whole["a"], rtol=2**-12)
    assert kept["axis/x"].tobytes() == whole["axis/x"].tobytes()
