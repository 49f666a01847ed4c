"""The runner, with work that takes no time: every run ends once, whatever dies or is shared."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from incenter import IncenterError
from incenter.study import lanes
from incenter.study.exchange import export, take_in
from incenter.study.rows import Planned
from incenter.study.runner import Report, Snapshot, run_study
from incenter.study.store import Store
from incenter.study.surroundings import ONE_THREAD, one_thread
from incenter.study.worker import Ended, Task
from tests.study import pretend
from tests.study.waiting import LIMIT, wait_until

ROOT = Path(__file__).parents[2]


def run(path: Path, seeds: list[int], jobs: int = 2, snapshots: list[Snapshot] | None = None) -> Report:
    watch = None if snapshots is None else snapshots.append
    with Store(path) as store:
        return run_study(
            store, "pretend", pretend.planned(seeds), lanes.processes(jobs), watch=watch, work=pretend.work
        )


def in_threads(path: Path, planned: list[Planned], work: lanes.Work = pretend.work) -> Report:
    with ThreadPoolExecutor(2) as executor, Store(path) as store:
        return run_study(store, "pretend", planned, lanes.shares(executor, 2), work=work)


def started(path: Path, count: int, jobs: int = 2, pause: float = 0.0) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "tests.study.pretend", str(path), str(count), str(jobs)]
    environment = os.environ | {"PRETEND_PAUSE": str(pause)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE)


def hashes(path: Path) -> list[str | None]:
    with Store(path) as store:
        return [row.parameters for row in store.rows("pretend")]


class TestProcesses:
    def test_the_others_finish_when_a_run_raises_and_another_kills_its_workers(self, tmp_path: Path) -> None:
        snapshots: list[Snapshot] = []
        report = run(tmp_path / "s.sqlite", [0, 1000, 1, 2000, 2], snapshots=snapshots)
        assert (report.status.done, report.status.failed, report.status.left) == (3, 2, 0)
        raised, died = report.failed
        assert raised.seed == 1000
        assert raised.error == "Traceback\nValueError: not today"
        assert died.seed == 2000
        assert died.error == ("Its worker died at step 0 3 times without getting further: it ended with exit code 3.")
        assert died.attempts in (3, 4)  # the runner takes a run itself to fail it, where it waits again already
        assert sorted(row.seed for snapshot in snapshots for row in snapshot.ended) == [0, 1, 2, 1000, 2000]

    def test_two_runners_at_the_same_moment_make_each_result_once(self, tmp_path: Path) -> None:
        path = tmp_path / "s.sqlite"
        runners = [started(path, 40) for _ in range(2)]
        said = [runner.communicate(timeout=LIMIT)[1] for runner in runners]
        assert [runner.returncode for runner in runners] == [0, 0], said
        assert said == [b"", b""]
        assert hashes(path) == [pretend.final_hash(seed) for seed in range(40)]
        with Store(path) as store:
            assert {row.attempts for row in store.rows("pretend")} == {1}

    def test_workers_end_with_a_runner_that_was_killed(self, tmp_path: Path) -> None:
        path = tmp_path / "s.sqlite"
        runner = started(path, 2, pause=5.0)
        workers = wait_for_workers(path, 2)
        runner.kill()
        runner.communicate(timeout=LIMIT)
        wait_until(lambda: not any(alive(worker) for worker in workers), "the workers have ended with their runner")

    def test_one_signal_stops_it_and_the_runs_wait_again(self, tmp_path: Path) -> None:
        path = tmp_path / "s.sqlite"
        runner = started(path, 4, pause=0.5)
        wait_for_workers(path, 2)
        runner.send_signal(signal.SIGINT)
        assert runner.communicate(timeout=LIMIT)[1] == b""
        with Store(path) as store:
            status = store.status("pretend")
        assert (status.running, status.failed, status.waiting) == (0, 0, 4)


def test_a_worker_that_dies_while_it_has_nothing_to_do_is_replaced(tmp_path: Path) -> None:
    (lane,) = lanes.processes(1)
    task = {
        each.key: Task(each.key, tmp_path / "s.sqlite", tmp_path, tmp_path, None) for each in pretend.planned([0, 1])
    }
    with Store(tmp_path / "s.sqlite") as store:
        store.add("pretend", pretend.planned([0, 1]))
        first, second = task.values()
        assert lane.submit(pretend.work, first).result(60) == "done"
        (child,) = multiprocessing.active_children()
        child.kill()
        wait_until(lambda: not multiprocessing.active_children(), "the worker has ended")
        time.sleep(0.2)  # until the executor has noticed
        assert lane.submit(pretend.work, second).result(60) == "done"
        lane.close(kill=False)


class TestAnyExecutor:
    def test_threads_are_as_good(self, tmp_path: Path) -> None:
        report = in_threads(tmp_path / "s.sqlite", pretend.planned([0, 1, 1000, 2]))
        assert (report.status.done, report.status.failed) == (3, 1)

    def test_a_pool_of_ones_own_that_breaks_ends_in_one_sentence_and_a_new_one_goes_on(self, tmp_path: Path) -> None:
        planned = pretend.planned([0, 1, 2000, 2, 3])
        spawn = multiprocessing.get_context("spawn")
        with Store(tmp_path / "s.sqlite") as store:
            with (
                ProcessPoolExecutor(1, mp_context=spawn) as executor,
                pytest.raises(IncenterError, match=r"The executor takes no more runs \(BrokenProcessPool\): start it"),
            ):
                run_study(store, "pretend", planned, lanes.shares(executor, 1), work=pretend.work)
            assert store.status("pretend").done == 2
            with ProcessPoolExecutor(1, mp_context=spawn) as executor:
                harmless = [each for each in planned if each.configuration["seed"] < 1000]
                report = run_study(store, "pretend", harmless, lanes.shares(executor, 1), work=pretend.work)
        assert report.status.done == 4

    def test_what_is_done_is_not_done_again(self, tmp_path: Path) -> None:
        path = tmp_path / "s.sqlite"
        in_threads(path, pretend.planned([0, 1]))
        calls: list[str] = []
        in_threads(path, pretend.planned([0, 1, 2]), noting(calls))
        assert calls == [pretend.planned([2])[0].key]

    def test_also_when_it_is_only_in_an_imported_folder(self, tmp_path: Path) -> None:
        in_threads(tmp_path / "s.sqlite", pretend.planned([0, 1]))
        with Store(tmp_path / "s.sqlite") as store:
            export(store, tmp_path / "results")
        with Store(tmp_path / "other.sqlite") as store:
            take_in(store, tmp_path / "results")
        calls: list[str] = []
        report = in_threads(tmp_path / "other.sqlite", pretend.planned([0, 1]), noting(calls))
        assert calls == []
        assert report.status.done == 2

    def test_what_failed_is_tried_again(self, tmp_path: Path) -> None:
        path = tmp_path / "s.sqlite"
        in_threads(path, pretend.planned([0, 1000]))
        calls: list[str] = []
        report = in_threads(path, pretend.planned([0, 1000]), noting(calls))
        assert len(calls) == 1
        assert report.failed[0].attempts == 2

    def test_runs_that_the_plan_has_no_more_are_kept_and_left_out(self, tmp_path: Path) -> None:
        path = tmp_path / "s.sqlite"
        in_threads(path, pretend.planned([0, 1]))
        report = in_threads(path, pretend.planned([1, 2]))
        assert report.status.total == 2
        assert report.notes == ("1 run of an earlier form of this plan is not part of it now; the store keeps it.",)
        assert pretend.final_hash(0) in {row.parameters for row in Store(path).rows()}

    def test_a_store_that_cannot_be_written_stops_it_with_its_sentence(self, tmp_path: Path) -> None:
        def full(_: Task) -> Ended:
            raise IncenterError("The disk is full: make room.")

        with pytest.raises(IncenterError, match="make room"):
            in_threads(tmp_path / "s.sqlite", pretend.planned([0, 1]), full)

    def test_a_runner_waits_for_what_another_one_has_and_takes_over_when_it_dies(self, tmp_path: Path) -> None:
        path = tmp_path / "s.sqlite"
        other = started(path, 1, jobs=1, pause=30.0)
        wait_for_workers(path, 1)
        threading.Timer(1.0, other.kill).start()
        report = in_threads(path, pretend.planned([0]))
        other.communicate(timeout=LIMIT)
        assert report.status.done == 1
        assert hashes(path) == [pretend.final_hash(0)]


def noting(calls: list[str]) -> lanes.Work:
    def work(task: Task) -> Ended:
        calls.append(task.key)
        return pretend.work(task)

    return work


def test_the_environment_is_as_it_was_afterwards(tmp_path: Path) -> None:
    seen: list[dict[str, str | None]] = []

    def work(task: Task) -> Ended:
        seen.append({name: os.environ.get(name) for name in ONE_THREAD})
        return pretend.work(task)

    before = dict(os.environ)
    in_threads(tmp_path / "s.sqlite", pretend.planned([0]), work)
    assert seen == [ONE_THREAD]
    assert dict(os.environ) == before


def test_a_worker_is_born_with_one_thread(tmp_path: Path) -> None:
    (lane,) = lanes.processes(1)
    with one_thread():
        found: Any = lane.submit(pretend.environment, Task("", tmp_path, tmp_path, tmp_path, None)).result(60)
    lane.close(kill=False)
    assert found == ONE_THREAD


def test_jobs_must_be_one_or_more() -> None:
    with pytest.raises(IncenterError, match="`--jobs` must be 1 or more; got 0"):
        lanes.processes(0)


def wait_for_workers(path: Path, count: int) -> list[int]:
    """The processes that have claimed runs, when there are so many."""
    found: list[int] = []

    def there() -> bool:
        if path.is_file():
            with Store(path) as store:
                found[:] = [int((row.worker or "").split(":")[1]) for row in store.rows("pretend", "running")]
        return len(found) == count

    wait_until(there, f"{count} workers have a run each")
    return found


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
