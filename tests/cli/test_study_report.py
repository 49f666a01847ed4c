"""`incenter study report` from one end to the other: real trainings, the real store, the real browser."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import kill
from incenter.study.rows import Planned
from incenter.study.store import Store
from tests.browser import browser, complaints, look_at
from tests.cli.running import run

STORE = "incenter-study.sqlite"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def waiting() -> None:
    """A store in which nothing is done."""
    configuration = {"problem": "burgers", "method": "sum", "lr": 1e-3, "steps": 10, "seed": 0}
    with Store(STORE) as store:
        store.add("mine", [Planned("0", configuration)])


def test_a_study_its_report_and_the_same_number_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kill.prepare(Path(), runs=2, steps=60)
    assert run("study", "run", "kill.toml") == 0
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == "Next: incenter study report kill (or tables, or figures, in place of report)"
    words = shlex.split(said.removeprefix("Next: ").partition(" (")[0])
    assert run(*words[1:], "--out", "made/report.html") == 0
    assert capsys.readouterr().err == "The report is in made/report.html: open it in a browser.\n"
    assert [path.name for path in Path("made").iterdir()] == ["report.html"]

    with Store(STORE) as store:
        rows = store.rows("kill")
    with browser(tmp_path / "profile") as opened:
        look_at(opened)
        opened.get(Path("made/report.html").resolve().as_uri())
        assert complaints(opened) == []
        opened.find_element("css selector", "#table-errors .number").click()
        made = opened.find_element("css selector", ".made:popover-open")
        command = made.find_element("css selector", "code").text
        assert all(f"Seed {row.seed}: error {row.relative_l2:.6g}" in made.text for row in rows)
        assert len(opened.find_elements("css selector", "#plot .curve")) == 1
        assert rows[0].versions["jax"] in opened.find_element("id", "surroundings").text

    program, *words = shlex.split(command)
    assert program == "incenter"
    assert run(*words, "--json") == 0
    again = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["relative_l2"] for each in again] == [row.relative_l2 for row in rows]


def test_where_nothing_is_done_it_says_so_and_needs_no_jax() -> None:
    waiting()
    program = """
import sys
from incenter.cli import main
try:
    main(["study", "report", "mine"])
except SystemExit:
    pass
print("jax" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"
    assert found.stderr == "The report is in incenter-report.html: open it in a browser.\n"
    assert "No run is done yet" in Path("incenter-report.html").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mime"], "There is no study 'mime' here; there are: mine."),
        (["--store", "none.sqlite"], "There is no store"),
        (["--out", f"{STORE}/report.html"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting()
    assert run("study", "report", *words) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("command", ["tables", "figures", "report"])
def test_the_runs_are_named_in_the_same_way(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("study", command, "--help") == 0
    said = capsys.readouterr().out
    for words in ("STUDY", "The name of a plan; without it, all runs.", "--store", "--from", "--out"):
        assert words in said
