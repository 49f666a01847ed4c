"""`incenter study` as it is typed: the real command from one end to the other, and what it says when it cannot."""

import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import kill
from incenter.cli import main
from incenter.cli.study_run import _end
from incenter.cli.study_view import Display, failures
from incenter.study.rows import Row, Status
from incenter.study.runner import Report, Snapshot, runs_folder
from incenter.study.store import Store
from tests.study import pretend


def typed(*words: str) -> int:
    """The exit code of `incenter study` with these words."""
    try:
        main(["study", *words])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_run_again_export_and_import_end_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    kill.prepare(Path(), runs=2, steps=60)
    assert typed("run", "kill.toml", "--jobs", "1") == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "kill: 2 runs, 1 at a time, into incenter-study.sqlite" in said.err
    assert "done    wave.py:wave, sum, lr 0.001, seed 0: error " in said.err
    assert said.err.endswith(
        "2 of 2 runs are done.\nNext: incenter study report kill (or tables, or figures, in place of report)\n"
    )
    with Store("incenter-study.sqlite") as store:
        rows = store.rows("kill")
    assert [row.attempts for row in rows] == [1, 1]
    assert all((runs_folder(Path("incenter-study.sqlite")) / row.key / "result.json").is_file() for row in rows)

    assert typed("export", "results") == 0
    assert typed("run", "kill.toml", "--store", "other.sqlite", "--from", "results") == 0
    with Store("other.sqlite") as store:
        assert [row.parameters for row in store.rows("kill")] == [row.parameters for row in rows]
        assert [row.attempts for row in store.rows("kill")] == [0, 0]  # nothing was run
    assert typed("import", "results", "--store", "third.sqlite") == 0
    assert "results: 2 results are new, 0 were in the store." in capsys.readouterr().err


def test_a_plan_with_a_mistake_makes_no_store(capsys: pytest.CaptureFixture[str]) -> None:
    Path("my.toml").write_text('[[grid]]\nproblems = ["burgers"]\nmethods = ["mgdaa"]\n')
    assert typed("run", "my.toml") == 2
    assert capsys.readouterr().err == ("incenter: my.toml: There is no rule called 'mgdaa'. Did you mean 'mgda'?\n")
    assert not Path("incenter-study.sqlite").exists()


def test_status_says_what_is_where_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    with Store("incenter-study.sqlite") as store:
        store.add("pretend", pretend.planned([0, 1, 2]))
        failed, running = store.claim("pretend", "w1"), store.claim("pretend", "w2")
        assert failed is not None
        assert running is not None
        store.fail(failed.key, "w1", "Traceback\n  line 3\nValueError: not today")
        store.beat(running.key, "w2", 7, [1.0], 0.25)
    assert typed("status") == 0
    said = capsys.readouterr().out
    assert next(line for line in said.splitlines() if "pretend" in line).split() == ["pretend", "3", "0", "1", "1", "1"]
    assert "7 of 20, error 0.25" in said
    assert "burgers, sum, lr 0.001, seed 0: ValueError: not today" in said
    assert typed("status", "--traceback", failed.key) == 0
    assert capsys.readouterr().out == "Traceback\n  line 3\nValueError: not today\n"
    assert typed("status", "pretemd") == 2
    assert "There is no study 'pretemd' in incenter-study.sqlite; there are: pretend." in capsys.readouterr().err


def test_status_needs_a_store_and_makes_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("status") == 2
    assert "There is no store" in capsys.readouterr().err
    assert not Path("incenter-study.sqlite").exists()


def test_a_printed_plan_is_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("plans", "quick") == 0
    assert capsys.readouterr().out.startswith("# About three minutes on two cores")
    assert typed("plans") == 0
    assert "paper-ablation-p" in capsys.readouterr().out


def test_status_plans_and_export_do_not_import_jax() -> None:
    with Store("incenter-study.sqlite") as store:
        store.add("pretend", pretend.planned([0]))
    program = """
import contextlib, sys
from incenter.cli import main
for words in (["status"], ["plans"], ["export", "results"]):
    with contextlib.suppress(SystemExit):
        main(["study", *words])
print("jax" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "False"
    assert "0 results written" in found.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("done", "code"), [(2, 0), (1, 130)])
def test_an_interrupt_after_the_last_run_leaves_nothing_to_go_on_with(
    done: int, code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["incenter", "study", "run", "quick"])
    report = Report(Status(done=done, waiting=2 - done), (), True, ())
    ended = 0
    try:
        _end(report, ["quick"], Console())
    except SystemExit as end:
        ended = int(str(end.code))
    assert ended == code
    assert ("this goes on" in capsys.readouterr().out) == (code == 130)


def test_a_full_disk_is_one_sentence_and_what_is_finished_stays() -> None:
    kill.prepare(Path(), runs=2, steps=60)
    command = [sys.executable, "-m", "incenter", "study", "run", "kill.toml"]
    subprocess.run(command, check=True, capture_output=True)
    kill.prepare(Path(), runs=4, steps=60)

    # By a shell: a process with JAX in it must not fork Python code. No file may grow beyond 8 blocks of 512 bytes.
    full = ["sh", "-c", 'ulimit -f 8 && exec "$@"', "sh", *command]
    ended = subprocess.run(full, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "make room" in ended.stderr.splitlines()[-1]
    with Store("incenter-study.sqlite") as store:
        assert store.status("kill").done == 2
    subprocess.run(command, check=True, capture_output=True)
    with Store("incenter-study.sqlite") as store:
        assert store.status("kill").done == 4


class TestDisplay:
    def snapshot(self, rows: list[Row]) -> Snapshot:
        running = tuple(row for row in rows if row.status == "running")
        ended = tuple(row for row in rows if row.status in ("done", "failed"))
        return Snapshot(Status(waiting=5, running=1, done=1, failed=1), running, ended, 3725.0)

    def rows(self) -> list[Row]:
        with Store("s.sqlite") as store:
            store.add("pretend", pretend.planned([0, 1]))
            claim, other = store.claim("pretend", "w"), store.claim("pretend", "w")
            assert claim is not None
            assert other is not None
            store.fail(claim.key, "w", "ValueError: [not] today")
            store.beat(other.key, "w", 7)
            return store.rows("pretend")

    def test_plain_lines_where_there_is_no_terminal(self, capsys: pytest.CaptureFixture[str]) -> None:
        with Display(Console(stderr=True)) as display:
            display(self.snapshot(self.rows()))
        assert capsys.readouterr().err.splitlines() == [
            "failed  burgers, sum, lr 0.001, seed 0: ValueError: [not] today",
            "1 of 8 done, 1 running, 1 failed, 1:02:05 left; burgers, sum, lr 0.001, seed 1: 7 of 20",
        ]

    def test_a_bar_and_the_running_runs_on_a_terminal(self) -> None:
        console = Console(force_terminal=True, width=100, record=True)
        display = Display(console)
        display(self.snapshot(self.rows()))
        console.print(display.render())
        said = console.export_text()
        assert "1 of 8 done, 1 running, 1 failed, 1:02:05 left" in said
        assert "burgers, sum, lr 0.001, seed 1  7 of 20" in said

    def test_failures_name_the_runs_and_the_way_on(self) -> None:
        said = failures([row for row in self.rows() if row.status == "failed"])
        assert said.startswith("1 run failed:\n    0000000000000000  burgers, sum, lr 0.001, seed 0: ValueError")
        assert said.endswith("run the study again to try them again.")
