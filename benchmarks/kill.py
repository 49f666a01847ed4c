"""SIGKILL to the runner of a study and to its workers, at random instants, again and again.

    python -m benchmarks.kill [--count 200] [--runs 12] [--jobs 2] [--seed 0] [--write PAGE]

A plan of small trainings is run once without disturbance. Then it is run while, at a random instant, the runner or one
of its workers is killed, the runner is started again, and so on; when a study is finished, the next one begins. What
must come out is 0 in every column, and every final parameter as in the undisturbed study.
"""

import argparse
import functools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.timing import write_section
from incenter.study.rows import Row
from incenter.study.store import Store

Runner = subprocess.Popen[bytes]
SOME_FAILED = 1  # exit code of a runner
AT_WORK = 0.8  # the share of the instants that are drawn from when a runner has workers on

PROBLEM = """
import numpy as np
import jax.numpy as jnp
from incenter.pinn import MLP, Boundary, Box, Initial, Interior, Problem, Reference


def wave():
    return Problem(
        domain=Box(x=(0, 1), t=(0, 1)),
        network=MLP(width=6, depth=1),
        terms={
            "residual": Interior(16, lambda u: u.t + u.x),
            "initial": Initial(8, lambda u: u - jnp.sin(np.pi * u.at.x)),
        },
        reference=Reference(lambda x, t: np.sin(np.pi * (x - t)), x=8, t=4),
    )
"""
PLAN = """
name = "kill"

[base]
steps = {steps}
record_every = 50
checkpoint_every = 50
optimizer = "sgd"

[[grid]]
problems = ["wave.py:wave"]
methods = ["sum"]
lr = [1e-3]
seeds = {seeds}
"""


@dataclass
class Tally:
    """What came of it."""

    runners: int = 0  # killed
    workers: int = 0
    again: int = 0  # studies that had to be started once more, because all workers of one run were killed at its start
    lost: int = 0  # runs without a result at the end of a study
    duplicated: int = 0  # runs that began again after they had ended, or ended twice
    stuck: int = 0  # runs that nobody works on and nobody takes
    different: int = 0  # results with other final parameters than the undisturbed ones
    trouble: list[str] = field(default_factory=list)  # what was said that should not be

    @property
    def kills(self) -> int:
        return self.runners + self.workers

    @property
    def clean(self) -> bool:
        return not (self.lost or self.duplicated or self.stuck or self.different or self.trouble)

    def __str__(self) -> str:
        return (
            f"killed {self.runners} runners and {self.workers} workers: lost {self.lost}, duplicated "
            f"{self.duplicated}, stuck {self.stuck}, other parameters {self.different}; started once more {self.again}"
        )


def prepare(folder: Path, runs: int, steps: int = 400) -> list[str]:
    """A plan of small trainings in `folder`, and the command that runs it there."""
    (folder / "wave.py").write_text(PROBLEM)
    (folder / "kill.toml").write_text(PLAN.format(steps=steps, seeds=list(range(runs))))
    return [sys.executable, "-m", "incenter", "study", "run", "kill.toml"]


def hashes(store: Path) -> dict[str, str | None]:
    """The hash of the final parameters of every run."""
    with Store(store, create=False) as opened:
        return {row.key: row.parameters for row in opened.rows()}


def torment(
    start: Callable[[], Runner],
    store: Path,
    expected: Mapping[str, str | None],
    tally: Tally,
    *,
    count: int,
    longest: float,
    draw: random.Random,
    patience: float = 300.0,
) -> None:
    """Kill at random instants until `count` in all are killed or the study is finished; then let it finish."""
    ended: dict[str, tuple[int, float | None]] = {}
    runner = start()
    while tally.kills < count and runner.poll() is None:
        if draw.random() < AT_WORK:  # else also while it only starts
            _wait_for_workers(runner, patience)
        time.sleep(draw.uniform(0.0, longest))
        workers = children(runner.pid)
        if workers and draw.random() < 0.6:
            tally.workers += _kill(draw.choice(workers))
        elif runner.poll() is None:
            runner.kill()
            _hear(runner.communicate()[1], tally)
            tally.runners += 1
            runner = start()
        _watch(store, ended, tally)
    _finish(runner, tally, patience)
    if runner.returncode == SOME_FAILED:  # workers of one run were killed again and again before it got further
        tally.again += 1
        _finish(start(), tally, patience)
    _watch(store, ended, tally)
    _judge(store, expected, tally)


def _wait_for_workers(runner: Runner, patience: float) -> None:
    """Until the runner has workers, or has ended: on a busy machine its start takes longer than it ran undisturbed."""
    deadline = time.monotonic() + patience
    while not children(runner.pid) and runner.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


def _finish(runner: Runner, tally: Tally, patience: float) -> None:
    """Let it come to its end."""
    try:
        _hear(runner.communicate(timeout=patience)[1], tally)
    except subprocess.TimeoutExpired:
        runner.kill()
        runner.communicate()
        tally.stuck += 1


def children(process: int) -> list[int]:
    """The worker processes of a runner."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return []
    return [int(each) for each in text.split() if b"spawn_main" in _command(int(each))]


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _kill(process: int) -> bool:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _hear(said: bytes | None, tally: Tally) -> None:
    """A runner must never speak of these."""
    text = (said or b"").decode()
    tally.trouble += [text[-2000:]] if "locked" in text or "Traceback" in text else []


def _watch(store: Path, ended: dict[str, tuple[int, float | None]], tally: Tally) -> None:
    """A run that has ended stays as it is for ever."""
    if not store.is_file():
        return
    with Store(store) as opened:
        rows = {row.key: row for row in opened.rows()}
    for key, seen in ended.items():
        if rows[key].status != "done" or _mark(rows[key]) != seen:
            tally.duplicated += 1
    ended |= {key: _mark(row) for key, row in rows.items() if row.status == "done"}


def _mark(row: Row) -> tuple[int, float | None]:
    return row.attempts, row.ended


def _judge(store: Path, expected: Mapping[str, str | None], tally: Tally) -> None:
    with Store(store) as opened:
        rows = {row.key: row for row in opened.rows()}
    tally.stuck += sum(row.status in ("waiting", "running") for row in rows.values())
    done = {key: row.parameters for key, row in rows.items() if row.status == "done"}
    tally.lost += len(expected.keys() - done.keys())
    tally.different += sum(done[key] != expected[key] for key in expected.keys() & done.keys())
    tally.trouble += [str(row.error) for row in rows.values() if row.status == "failed"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many processes to kill")
    parser.add_argument("--runs", type=int, default=12, help="of a study")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="a page whose section `kill` is replaced")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        command = [*prepare(folder, arguments.runs), "--jobs", str(arguments.jobs)]
        began = time.monotonic()
        subprocess.run([*command, "--store", "undisturbed.sqlite"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        took = time.monotonic() - began
        expected = hashes(folder / "undisturbed.sqlite")
        print(f"{len(expected)} runs, undisturbed in {took:.1f} s", flush=True)
        tally, draw, studies = Tally(), random.Random(arguments.seed), 0
        while tally.kills < arguments.count:
            studies += 1
            store = folder / f"study-{studies}.sqlite"
            torment(
                functools.partial(start, command, folder, store),
                store,
                expected,
                tally,
                count=arguments.count,
                longest=took / 2,
                draw=draw,
            )
            print(f"study {studies}: {tally}", flush=True)
    for each in tally.trouble:
        print(each)
    if arguments.write:
        write_section(arguments.write, "kill", f"{studies} studies of {arguments.runs} runs each, {tally}.")
    sys.exit(0 if tally.clean else 1)


def start(command: list[str], folder: Path, store: Path) -> Runner:
    """A runner of the plan on a store."""
    return subprocess.Popen([*command, "--store", str(store)], cwd=folder, stderr=subprocess.PIPE)


if __name__ == "__main__":
    main()
