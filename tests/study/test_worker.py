"""Real trainings in real workers: what one run does to itself concerns no other, and is in the store by name."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import dispatch
from incenter.study import lanes, plans
from incenter.study.expansion import expand
from incenter.study.rows import Planned, Row
from incenter.study.runner import Report, run_study, runs_folder
from incenter.study.store import Store
from tests.study.waiting import LIMIT, wait_until

# A problem that does something to the worker, but not to the runner that checks the plan.
SOURCE = """
import ctypes
import os
import resource
import time
from multiprocessing import parent_process

import jax.numpy as jnp

from incenter.pinn import MLP, Box, Initial, Interior, Problem, Reference


def wave(does: str = "nothing"):
    if parent_process() is not None:
        if does == "raise":
            raise ZeroDivisionError("not today")
        if does == "memory":
            raise MemoryError
        if does == "limit":
            resource.setrlimit(resource.RLIMIT_AS, (2**20, 2**20))
        if does == "hang":
            time.sleep(1000)
        if does == "crash":
            ctypes.string_at(0)
        if does == "kill":
            os.kill(os.getpid(), 9)
    scale = jnp.inf if does == "diverge" else 1.0
    return Problem(
        domain=Box(x=(0, 1), t=(0, 1)),
        network=MLP(width=4, depth=1),
        terms={
            "residual": Interior(8, lambda u: scale * (u.t + u.x)),
            "initial": Initial(8, lambda u: u - jnp.sin(u.at.x)),
        },
        reference=Reference(lambda x, t: x - t, x=4, t=4),
    )
"""
PLAN = """
name = "worker"

[base]
steps = {steps}
optimizer = "sgd"
record_every = 10

[[grid]]
problems = [{problems}]
methods = ["sum"]
lr = [1e-3]
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wave.py").write_text(SOURCE)


def plan(*deeds: str, steps: int = 20) -> list[Planned]:
    problems = ", ".join(f'{{ name = "wave.py:wave", does = "{deed}" }}' for deed in deeds)
    return expand(plans.read(PLAN.format(steps=steps, problems=problems), "worker.toml"))


def run(planned: list[Planned], jobs: int = 1) -> tuple[Report, dict[str, Row]]:
    with Store("s.sqlite") as store:
        report = run_study(store, "worker", planned, lanes.processes(jobs))
        return report, {row.options["problem.does"]: row for row in store.rows("worker")}


def error_of(row: Row) -> str:
    assert row.status == "failed"
    return row.error or ""


def test_one_run_of_each_evil_fails_by_name_and_the_good_one_finishes() -> None:
    planned = plan("raise", "memory", "limit", "crash", "kill", "diverge", "nothing", steps=120)
    report, rows = run(planned)
    assert (report.status.done, report.status.failed) == (1, 6)
    assert error_of(rows["raise"]).endswith("ZeroDivisionError: not today\n")
    assert "Traceback" in error_of(rows["raise"])
    assert "MemoryError" in error_of(rows["memory"])
    assert "in _train" in error_of(rows["limit"])  # compiled code or Python found that there is no memory left
    assert "emory" in error_of(rows["limit"])
    assert "Segmentation fault" in error_of(rows["crash"])
    assert "wave.py" in error_of(rows["crash"])
    assert rows["crash"].attempts == 1
    assert error_of(rows["kill"]).endswith("it was ended by SIGKILL, perhaps for want of memory.")
    assert "non-finite" in error_of(rows["diverge"])
    done = rows["nothing"]
    assert done.summary["steps"] == 120
    assert done.parameters is not None
    assert len(done.parameters) == 64
    assert done.fields()["u"].shape == (64, 64)
    assert done.fields()["reference/u"][-1, 0] == 1.0
    assert done.history()["losses"].shape == (12, 2)
    assert {"incenter", "jax", "numpy"} <= set(done.versions)
    assert not (runs_folder(Path("s.sqlite")) / done.key / "crash.txt").exists()


def test_a_run_that_hangs_is_ended_at_its_limit_and_says_where() -> None:
    (hanging,) = plan("hang")
    report, rows = run([Planned(hanging.key, hanging.configuration, 1.0)])
    assert report.status.failed == 1
    assert "longer than its limit of 1 seconds" in error_of(rows["hang"])
    assert "time.sleep(1000)" in error_of(rows["hang"])


@pytest.mark.slow
def test_a_run_past_its_limit_is_saved_before_it_fails() -> None:
    (warming,), (long,) = plan("nothing"), plan("nothing", steps=100_000_000)
    with Store("s.sqlite") as store:
        planned = [warming, Planned(long.key, long.configuration, 12.0)]
        report = run_study(store, "worker", planned, lanes.processes(1))
        (failed,) = report.failed
    assert "raise timeout_seconds in the plan" in error_of(failed)
    assert "hung" not in error_of(failed)
    (newest, *_) = sorted((runs_folder(Path("s.sqlite")) / long.key / "checkpoints").iterdir(), reverse=True)
    assert int(newest.stem.partition("-")[2]) >= (failed.step or 0) > 0


@pytest.mark.slow
def test_ctrl_c_saves_the_runs_and_says_how_to_go_on_in_the_same_bits() -> None:
    Path("worker.toml").write_text(PLAN.format(steps=30_000, problems='"wave.py:wave"'))
    command = [sys.executable, "-m", "incenter", "study", "run", "worker.toml", "--store"]
    runner = subprocess.Popen([*command, "cut.sqlite"], stderr=subprocess.PIPE, text=True)
    wait_until(lambda: any(row.step for row in _rows("cut.sqlite")), "the run has made a step")
    runner.send_signal(signal.SIGINT)
    said = runner.communicate(timeout=LIMIT)[1]
    assert runner.returncode == 130
    assert "Interrupted with 0 of 1 runs done, and the others saved; this goes on:" in said
    assert "incenter study run worker.toml --store cut.sqlite" in said
    assert [row.status for row in _rows("cut.sqlite")] == ["waiting"]
    for store in ("cut.sqlite", "whole.sqlite"):
        subprocess.run([*command, store], check=True, capture_output=True, timeout=LIMIT)
    (cut,), (whole,) = _rows("cut.sqlite"), _rows("whole.sqlite")
    assert cut.attempts == 2
    assert cut.parameters == whole.parameters


def _rows(store: str) -> list[Row]:
    if not os.path.exists(store):
        return []
    with Store(store) as opened:
        return opened.rows()


@pytest.mark.slow
def test_sending_a_run_to_a_warm_worker_costs_less_than_50_ms() -> None:
    # The least of several: the machine may be busy with other things.
    assert min(dispatch.gaps(8)) < 0.05
