"""The same runs on the workers of a Dask scheduler, one of which is killed."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import kill
from incenter import IncenterError
from incenter.study import lanes, plans
from incenter.study.expansion import expand
from incenter.study.outcomes import parameters_hash
from incenter.study.runner import run_study
from incenter.study.store import Store
from incenter.study.worker import configuration_of
from tests.study import pretend
from tests.study.waiting import LIMIT

distributed = pytest.importorskip("distributed")

# Dask leaves sockets and loops to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of a scheduler with two worker processes."""
    monkeypatch.setenv("PRETEND_PAUSE", "0.02")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        yield made.scheduler_address


def kill_one(path: Path, study: str, killed: list[int]) -> None:
    """Kill the process of the first run that has said how far it is, or that runs while another is done."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        time.sleep(0.02)
        with Store(path) as store:
            rows = store.rows(study)
        for row in rows:
            if row.status == "running" and row.worker and any(each.status == "done" for each in rows):
                killed.append(int(row.worker.split(":")[1]))
                os.kill(killed[0], signal.SIGKILL)
                return


def run_and_kill(address: str, path: Path, study: str, planned: Any, **how: Any) -> Any:
    """The rows of a study of which a worker was killed."""
    killed: list[int] = []
    with Store(path) as store, lanes.dask(address) as chosen:
        killer = threading.Thread(target=kill_one, args=(path, study, killed), daemon=True)
        killer.start()
        report = run_study(store, study, planned, chosen, **how)
        killer.join(10)
        assert len(killed) == 1, f"no worker could be killed within {LIMIT:g} seconds"
        assert (report.status.done, report.status.total) == (len(planned), len(planned))
        return store.rows(study)


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing_and_makes_nothing_twice(address: str, tmp_path: Path) -> None:
    rows = run_and_kill(address, tmp_path / "s.sqlite", "pretend", pretend.planned(list(range(16))), work=pretend.work)
    assert [row.parameters for row in rows] == [pretend.final_hash(seed) for seed in range(16)]
    assert sorted(row.attempts for row in rows) == [1] * 15 + [2]


@pytest.mark.slow
def test_real_trainings_end_in_the_bits_of_undisturbed_ones(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incenter.pinn import train

    monkeypatch.chdir(tmp_path)
    kill.prepare(tmp_path, runs=4, steps=3000)
    planned = expand(plans.load("kill.toml"))
    expected = [parameters_hash(train(configuration_of(dict(each.configuration))).theta) for each in planned]
    rows = run_and_kill(address, tmp_path / "s.sqlite", "kill", planned)
    assert [row.parameters for row in rows] == expected


@pytest.mark.slow
def test_no_scheduler_is_one_sentence() -> None:
    with (
        pytest.raises(IncenterError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:9"),
        lanes.dask("tcp://127.0.0.1:9"),
    ):
        pass


def test_workers_with_several_threads_are_refused() -> None:
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as made,
        pytest.raises(IncenterError, match="start them with --nthreads 1"),
        lanes.dask(made.scheduler_address),
    ):
        pass
