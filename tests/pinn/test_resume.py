"""A run that was stopped, or killed with SIGKILL, ends in the same bits as one that was not."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incenter import IncenterError
from incenter.pinn import checkpoints
from incenter.pinn.history import History
from incenter.pinn.result import Progress, Result
from incenter.pinn.training import run
from tests.pinn.quadratic import Quadratic
from tests.pinn.test_training import configured

# A rule, an optimiser and samplers that all remember, and points from a seed.
FIELDS: dict[str, Any] = {"method": "relobralo", "optimizer": "nadam", "record_every": 7, "steps": 45, "seed": 3}


def go(out: Path | None, *, resume: bool = False, stop_at: int | None = None, **fields: Any) -> Result:
    """A run that is interrupted at `stop_at`, where calls of the loop are cut because a checkpoint is due there."""

    def interrupt(state: Progress) -> None:
        if stop_at is not None and state.step >= stop_at:
            os.kill(os.getpid(), signal.SIGINT)

    every = {} if stop_at is None else {"checkpoint_every": stop_at}
    return run(configured(**FIELDS | every | fields), Quadratic(), out=out, resume=resume, progress=interrupt)


def assert_same_run(one: Result, other: Result) -> None:
    assert one.theta.tobytes() == other.theta.tobytes()
    assert one.steps == other.steps
    mine, theirs = one.history.arrays(), other.history.arrays()
    assert mine.keys() == theirs.keys()
    for name in mine.keys() - {"seconds"}:
        assert mine[name].tobytes() == theirs[name].tobytes(), name


def test_stopped_anywhere_and_resumed_it_ends_in_the_same_bits(tmp_path: Path) -> None:
    whole = go(None)
    rng = np.random.default_rng(5)
    for k, step in enumerate([1, 44, *rng.integers(2, 44, size=2).tolist()]):
        out = tmp_path / str(k)
        stopped = go(out, stop_at=step)
        assert (stopped.stopped, stopped.steps) == ("interrupted", step)
        assert_same_run(go(out, resume=True), whole)


def test_stopped_in_the_finish_it_ends_in_the_same_bits(tmp_path: Path) -> None:
    fields: dict[str, Any] = {"finish": "lbfgs", "finish_steps": 8, "steps": 6}
    whole = go(None, **fields)
    assert go(tmp_path, stop_at=10, **fields).steps == 10
    assert_same_run(go(tmp_path, resume=True, **fields), whole)


def test_stopped_after_a_rollback_it_ends_in_the_same_bits(tmp_path: Path) -> None:
    def bad(_theta: Any, seed: Any, step: Any) -> Any:
        return (step == 20) & (seed == 3) & (np.arange(3) == 0)

    configuration = configured(**FIELDS | {"nonfinite": "rollback", "checkpoint_every": 25})
    whole = run(configuration, Quadratic(bad=bad))

    def interrupt(state: Progress) -> None:
        if state.step >= 25:
            os.kill(os.getpid(), signal.SIGINT)

    assert run(configuration, Quadratic(bad=bad), out=tmp_path, progress=interrupt).steps == 25
    assert_same_run(run(configuration, Quadratic(bad=bad), out=tmp_path, resume=True), whole)


def test_a_finished_run_is_finished(tmp_path: Path) -> None:
    whole = go(tmp_path)
    again = go(tmp_path, resume=True)
    assert_same_run(again, whole)
    assert (again.stopped, again.radius) == ("steps", whole.radius)
    assert History.load(tmp_path)["step"].tolist() == whole.history["step"].tolist()


def test_more_steps_may_be_added(tmp_path: Path) -> None:
    go(tmp_path, steps=21)
    longer = go(tmp_path, resume=True, steps=42)
    assert longer.theta.tobytes() == go(None, steps=42).theta.tobytes()


def test_there_may_be_nothing_to_resume_yet(tmp_path: Path) -> None:
    assert_same_run(go(tmp_path / "new", resume=True), go(None))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five steps, finished."""
    out = tmp_path_factory.mktemp("run")
    go(out, steps=5)
    return out


class TestRefusals:
    """One folder, one run."""

    def test_a_folder_that_holds_a_run_is_not_written_over(self, folder: Path) -> None:
        with pytest.raises(IncenterError, match="holds a run already: continue it with resume=True"):
            go(folder)

    @pytest.mark.parametrize("fields", [{"lr": 0.5}, {"seed": 4}, {"method": "lra"}, {"nonfinite": "rollback"}])
    def test_another_configuration_is_refused_by_name(self, folder: Path, fields: dict[str, Any]) -> None:
        with pytest.raises(IncenterError, match=f"has {next(iter(fields))} = "):
            go(folder, resume=True, **fields)

    def test_steps_are_part_of_a_schedule_that_ends_with_them(self, tmp_path: Path) -> None:
        go(tmp_path, steps=5, schedule="cosine")
        with pytest.raises(IncenterError, match="has steps = 5, not 6"):
            go(tmp_path, steps=6, schedule="cosine", resume=True)

    def test_another_problem_is_refused(self, folder: Path) -> None:
        with pytest.raises(IncenterError, match=r"'theta' should have shape \(5,\).*has shape \(4,\)"):
            run(configured(**FIELDS | {"steps": 5}), Quadratic(np.ones((3, 5))), out=folder, resume=True)

    def test_other_versions_are_told(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("incenter.pinn.saving.platform.machine", lambda: "abacus")
        (note,) = go(folder, resume=True, steps=5).notes
        assert "in other bits" in note
        assert "is now abacus" in note


def killed_and_resumed(out: Path, kills: int, seed: int) -> None:
    """A process that saves at every step dies by SIGKILL inside a save, `kills` times over, and is started again.

    Deaths are at random calls of fsync, of which a save has two: that of the file, and, after the renaming, that of its
    folder. Then the end is compared with an undisturbed one.
    """
    chance = random.Random(seed)
    for _ in range(kills):
        assert _process(out, die_at=chance.randint(1, 25)).returncode == -signal.SIGKILL
        if checkpoints.exists(out / "checkpoints"):
            assert np.isfinite(checkpoints.newest(out / "checkpoints").arrays["theta"]).all()
    assert _process(out, die_at=0).returncode == 0
    whole = go(None, steps=60)
    found = checkpoints.newest(out / "checkpoints")
    assert found.step == 60
    assert found.note == ""
    assert found.arrays["theta"].tobytes() == whole.theta.tobytes()
    history = History.load(out)
    for name in history.arrays().keys() - {"seconds"}:
        assert history[name].tobytes() == whole.history[name].tobytes(), name


def _process(out: Path, die_at: int) -> "subprocess.CompletedProcess[bytes]":
    environment = os.environ | {"NPROC": "1"}
    command = [sys.executable, "-m", "tests.pinn.test_resume", str(out), str(die_at)]
    return subprocess.run(command, env=environment, cwd=Path(__file__).parents[2], check=False, timeout=300)


def test_killed_while_saving_it_ends_in_the_same_bits(tmp_path: Path) -> None:
    killed_and_resumed(tmp_path, kills=2, seed=1)


@pytest.mark.slow
def test_killed_while_saving_again_and_again(tmp_path: Path) -> None:
    for seed in range(2, 5):
        killed_and_resumed(tmp_path / str(seed), kills=4, seed=seed)


def _main(out: Path, die_at: int) -> None:
    """Resume the run in `out`; at the `die_at`-th fsync, die."""
    calls, sync = [0], os.fsync

    def fatal(descriptor: int) -> None:
        calls[0] += 1
        if calls[0] == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        sync(descriptor)

    os.fsync = fatal  # type: ignore[assignment]
    run(configured(**FIELDS | {"steps": 60, "checkpoint_every": 1}), Quadratic(), out=out, resume=True)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]))
