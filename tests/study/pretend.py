"""Work that takes the place of training where only the runner is looked at: a chain of hashes, saved now and then.

It begins where it was left, as a training does, and ends in the same hash however often it was killed.
"""

import hashlib
import os
import sys
import time
from pathlib import Path
from typing import Any

from incenter.study import lanes
from incenter.study.identity import new_worker
from incenter.study.rows import Outcome, Planned
from incenter.study.runner import run_study
from incenter.study.store import Store
from incenter.study.surroundings import ONE_THREAD
from incenter.study.worker import Ended, Task

STEPS = 20
EVERY = 5  # steps from one checkpoint to the next


def work(task: Task) -> Ended:
    """As `worker.execute`; a seed of 1000 or more raises, one of 2000 or more kills the process."""
    with Store(task.store) as store:
        claim = store.claim_key(task.key, new_worker())
        if claim is None:
            return "taken"
        seed = int(claim.configuration["seed"])
        if seed >= 2000:
            os._exit(3)
        if seed >= 1000:
            store.fail(claim.key, claim.worker, "Traceback\nValueError: not today")
            return "failed"
        digest = _chain(task.runs / task.key, seed)
        outcome = Outcome({"seed": seed, "steps": STEPS, "seconds": 0.1}, parameters_hash=digest, ended=time.time())
        return "done" if store.finish(claim.key, claim.worker, outcome) else "taken"


def environment(_: Task) -> Any:
    """What the libraries in a worker size their pools of threads by."""
    return {name: os.environ.get(name) for name in ONE_THREAD}


def final_hash(seed: int) -> str:
    """What the work of a seed ends in."""
    digest = str(seed)
    for _ in range(STEPS):
        digest = _next(digest)
    return digest


def _chain(folder: Path, seed: int) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "state"
    step, digest = 0, str(seed)
    if place.is_file():
        count, digest = place.read_text().split()
        step = int(count)
    while step < STEPS:
        time.sleep(PAUSE)
        step, digest = step + 1, _next(digest)
        if step % EVERY == 0:
            aside = folder / f"state.{os.getpid()}"
            aside.write_text(f"{step} {digest}")
            aside.replace(place)
    return digest


def _next(digest: str) -> str:
    return hashlib.sha256(digest.encode()).hexdigest()


PAUSE = float(os.environ.get("PRETEND_PAUSE", "0"))


def planned(seeds: list[int]) -> list[Planned]:
    """Runs of these seeds."""
    return [
        Planned(f"{seed:016x}", {"problem": "burgers", "method": "sum", "lr": 1e-3, "steps": STEPS, "seed": seed})
        for seed in seeds
    ]


def main() -> None:
    """A runner: STORE COUNT JOBS."""
    store, count, jobs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with Store(store) as opened:
        report = run_study(opened, "pretend", planned(list(range(count))), lanes.processes(jobs), work=work)
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
