"""Several processes on one store: each result once, nothing lost, nothing stuck, no word of a lock."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from incenter.study.rows import Status
from incenter.study.store import Store
from tests.study.runs import outcome, planned, work
from tests.study.waiting import LIMIT, ended_in_time, wait_until

OPENING = """
import sys, time
from incenter.study.store import Store
from tests.study.runs import planned
print("ready", flush=True)
for line in sys.stdin:
    path, instant = line.rsplit(" ", 1)
    time.sleep(max(0.0, float(instant) - time.time()))
    with Store(path) as store:
        new = len(store.add("a", planned(5)).new)
    print(new, flush=True)
"""
WORKING = """
import sys
from pathlib import Path
from tests.study.runs import work
print(work(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])), flush=True)
"""


def started(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@contextmanager
def several(count: int, program: str, *arguments: object) -> Iterator[list[subprocess.Popen[str]]]:
    processes = [started(program, *arguments) for _ in range(count)]
    with ended_in_time(processes):
        yield processes


def assert_each_result_once(store: Store, count: int) -> None:
    assert store.status("a") == Status(done=count)
    rows = store.rows("a", "done")
    assert [row.seed for row in rows] == list(range(count))
    for row in rows:
        assert row.parameters == outcome(row.seed).parameters_hash
        assert row.fields()["u"].tobytes() == outcome(row.seed).fields["u"].tobytes()
    assert store.damaged == {}


def test_processes_that_open_a_fresh_store_at_once_make_it_once(tmp_path: Path) -> None:
    with several(3, OPENING) as processes:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for number in range(12):
            path = tmp_path / f"{number}.sqlite"
            instant = time.time() + 0.05
            for process in processes:
                assert process.stdin is not None
                process.stdin.write(f"{path} {instant}\n")
                process.stdin.flush()
            new = [int(process.stdout.readline()) for process in processes if process.stdout is not None]
            assert sorted(new) == [0, 0, 5]
            with Store(path) as store:
                assert store.status("a") == Status(waiting=5)


@pytest.mark.parametrize("other", ["a", "b"])
def test_two_runners_and_a_reader_on_one_store(tmp_path: Path, other: str) -> None:
    """On one study, and on two that have half of their runs in common."""
    path = tmp_path / "study.sqlite"
    with Store(path) as store:
        store.add("a", planned(40))
        store.add("b", planned(40)[:20])
        with several(1, WORKING, path, "a", 0.002) as first, several(1, WORKING, path, other, 0.002) as second:
            processes = [*first, *second]
            seen = [0]
            while any(process.poll() is None for process in processes):
                seen.append(store.status("a").done)
                assert len(store.rows("a", "done")) >= seen[-1]
                time.sleep(0.01)
            ends = [process.communicate() for process in processes]
        assert [error for _, error in ends] == ["", ""]
        assert sum(int(output) for output, _ in ends) == 40
        assert seen == sorted(seen)
        assert_each_result_once(store, 40)


def test_threads_share_a_store(tmp_path: Path) -> None:
    with Store(tmp_path / "study.sqlite") as store:
        store.add("a", planned(20))

        def work_here(number: int) -> int:
            done = 0
            while claim := store.claim("a", f"thread {number}"):
                done += store.finish(claim.key, claim.worker, outcome(claim.configuration["seed"]))
            return done

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(work_here, range(4))) == 20
        assert_each_result_once(store, 20)


def killed_at_random(path: Path, *, count: int, kills: int, seed: int) -> int:
    """Workers that are killed at random instants, each replaced by another: how often a run had to begin anew."""
    draw = random.Random(seed)
    released = 0
    with Store(path) as store:
        store.add("a", planned(count))
        processes = [started(WORKING, path, "a", 0.005) for _ in range(2)]
        for _ in range(kills):
            before = store.status("a").done

            def begun(before: int = before) -> bool:
                return store.status("a").done >= before + 2 or not store.status("a").left

            wait_until(begun, "the workers have done two more runs")
            time.sleep(draw.random() * 0.02)
            victim = processes.pop(draw.randrange(2))
            os.kill(victim.pid, signal.SIGKILL)
            victim.communicate(timeout=LIMIT)
            released += len(store.release("a"))
            processes.append(started(WORKING, path, "a", 0.005))
        ends = [process.communicate(timeout=LIMIT) for process in processes]
        assert [error for _, error in ends] == ["", ""]
        assert store.status("a").running == 0
        work(path, "a")  # what the last ones left behind
        assert_each_result_once(store, count)
    return released


def test_workers_are_killed_at_random_instants(tmp_path: Path) -> None:
    killed_at_random(tmp_path / "study.sqlite", count=60, kills=3, seed=0)


@pytest.mark.slow
def test_workers_are_killed_at_random_instants_at_length(tmp_path: Path) -> None:
    assert killed_at_random(tmp_path / "study.sqlite", count=600, kills=40, seed=1) > 0


@pytest.mark.slow
def test_ten_thousand_runs_are_listed_within_two_seconds_and_a_result_is_committed_in_five_milliseconds(
    tmp_path: Path,
) -> None:
    with Store(tmp_path / "study.sqlite") as store:
        runs = planned(10_000)
        store.add("a", runs)
        result = outcome(0, records=500)
        with store._database.writing() as connection:  # one transaction instead of so many
            from incenter.study import statements

            connection.execute("UPDATE runs SET status = 'done'")
            packed = statements.packed(outcome(0))
            for each in runs[100:]:
                statements.insert_result(connection, each.key, result, packed)
            connection.executemany("UPDATE runs SET status = 'waiting' WHERE key = ?", [(r.key,) for r in runs[:100]])
        took = []
        for _ in range(100):
            claim = store.claim("a", "w")
            assert claim is not None
            before = time.perf_counter()
            assert store.finish(claim.key, "w", result)
            took.append(time.perf_counter() - before)
        before = time.process_time()
        rows = store.rows("a")
        listing = time.process_time() - before
        assert len(rows) == 10_000
        assert listing < 2
        assert sorted(took)[50] < 0.005
