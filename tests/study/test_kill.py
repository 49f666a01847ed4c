"""SIGKILL at random instants: nothing is lost, nothing is made twice, nothing is stuck, no result differs."""

import functools
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import kill
from tests.study import pretend

ROOT = Path(__file__).parents[2]


def start_pretending(store: Path, count: int) -> kill.Runner:
    command = [sys.executable, "-m", "tests.study.pretend", str(store), str(count), "2"]
    environment = os.environ | {"PRETEND_PAUSE": "0.02"}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE)


def test_runners_and_workers_that_only_pretend_to_train(tmp_path: Path) -> None:
    planned = pretend.planned(list(range(16)))
    expected = {each.key: pretend.final_hash(seed) for seed, each in enumerate(planned)}
    tally = kill.Tally()
    start = functools.partial(start_pretending, tmp_path / "s.sqlite", 16)
    kill.torment(start, tmp_path / "s.sqlite", expected, tally, count=8, longest=1.5, draw=random.Random(1))
    assert tally.clean, tally
    assert tally.kills > 0


@pytest.mark.slow
def test_real_trainings_at_20_instants(tmp_path: Path) -> None:
    command = [*kill.prepare(tmp_path, runs=8), "--jobs", "2"]
    began = time.monotonic()
    subprocess.run(
        [*command, "--store", "undisturbed.sqlite"], cwd=tmp_path, check=True, stderr=subprocess.DEVNULL, timeout=300
    )
    took = time.monotonic() - began
    expected = kill.hashes(tmp_path / "undisturbed.sqlite")
    assert len(set(expected.values())) == 8
    tally, draw, studies = kill.Tally(), random.Random(0), 0
    while tally.kills < 20:
        studies += 1
        store = tmp_path / f"study-{studies}.sqlite"
        start = functools.partial(kill.start, command, tmp_path, store)
        kill.torment(start, store, expected, tally, count=20, longest=took / 2, draw=draw)
    assert tally.clean, (tally, tally.trouble)
