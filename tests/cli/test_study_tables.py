"""`incenter study tables` on a store of made-up runs, and on a folder of them."""

from pathlib import Path

import pytest

from incenter.study.exchange import export
from incenter.study.rows import Outcome, Planned
from incenter.study.store import Store
from tests.cli.running import run

METHODS = ("sum", "chebyshev")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two methods with three seeds each, of which one run is still to be made."""
    path = tmp_path / "store.sqlite"
    planned = [Planned(f"{method}-{seed}", _configuration(method, seed)) for method in METHODS for seed in range(3)]
    with Store(path) as opened:
        opened.add("mine", planned)
        for run in planned[:-1]:
            assert opened.claim_key(run.key, "me")
            error = 0.1 + 0.01 * run.configuration["seed"]
            assert opened.finish(run.key, "me", Outcome({"relative_l2": error, "seconds": 5.0, "ms_per_step": 0.1}))
    return path


def _configuration(method: str, seed: int) -> dict[str, object]:
    return {
        "problem": "burgers", "problem_options": {}, "method": method, "method_options": {}, "p": 2.0, "lr": 1e-3,
        "optimizer": "adam", "optimizer_options": {}, "steps": 50_000, "seed": seed, "precision": 32,
    }  # fmt: skip


def show(*arguments: object) -> int:
    return run("study", "tables", *map(str, arguments))


def test_all_tables_of_a_study(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show("mine", "--store", store) == 0
    shown = capsys.readouterr().out
    for title in ("Relative L2 error, mine", "Selected learning rate, mine", "Seconds of a whole run, mine"):
        assert title in shown
    assert "0.1100 (0.0100)" in shown
    assert "0.1659 (0.0358) -1.6" in shown
    assert "Missing (seed 2 waiting): Chebyshev on Burgers." in shown
    assert "Errors in units of those of Chebyshev" in shown


@pytest.mark.parametrize(("form", "mark"), [("markdown", "| Adam |"), ("latex", r"\toprule"), ("csv", "errors,Adam")])
def test_one_table_in_another_form(store: Path, capsys: pytest.CaptureFixture[str], form: str, mark: str) -> None:
    assert show("--store", store, "--format", form, "--only", "errors") == 0
    shown = capsys.readouterr().out
    assert mark in shown
    assert "Seconds" not in shown


def test_tables_of_a_folder_written_as_files(store: Path, tmp_path: Path) -> None:
    with Store(store) as opened:
        export(opened, tmp_path / "results")
    store.unlink()
    assert show("--from", tmp_path / "results", "--out", tmp_path / "tables") == 0
    written = sorted(path.name for path in (tmp_path / "tables").iterdir())
    names = ("errors", "learning-rates", "ms-per-step", "paired-tests", "seconds")
    assert written == sorted(f"{name}.{ending}" for name in names for ending in ("csv", "md", "tex"))
    assert "seed 2 waiting" in (tmp_path / "tables" / "errors.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("paper-forward",), "There is no study 'paper-forward' here; there are: mine."),
        (("--only", "error"), "There is no table called 'error'. Did you mean 'errors'?"),
        (("--against", "mgda"), "There are no runs of 'mgda' to compare with; there are runs of: sum, chebyshev."),
    ],
)
def test_what_is_not_there_is_said(
    store: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    assert show(*arguments, "--store", store) != 0
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_pictures_of_a_study(store: Path, tmp_path: Path) -> None:
    assert (
        run("study", "figures", "mine", "--store", str(store), "--out", str(tmp_path / "drawn"), "--format", "svg") == 0
    )
    assert sorted(path.name for path in (tmp_path / "drawn").iterdir()) == [
        "geometry.svg",
        "ms-per-step.svg",
        "seconds.svg",
    ]
