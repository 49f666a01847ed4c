"""Made-up runs for the tests of the store, and processes that use it."""

import hashlib
import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np

from incenter.study.identity import new_worker
from incenter.study.rows import Outcome, Planned
from incenter.study.store import Store

SPAWN = multiprocessing.get_context("spawn")


def planned(count: int, **fields: Any) -> list[Planned]:
    """Runs with seeds 0, 1, ..."""
    return [_planned({"seed": seed, **fields}) for seed in range(count)]


def _planned(fields: dict[str, Any]) -> Planned:
    configuration = {
        "problem": "burgers", "problem_options": {}, "method": "chebyshev", "method_options": {}, "p": 2.0, "lr": 1e-3,
        "optimizer": "adam", "optimizer_options": {}, "steps": 10, "precision": 32, "stop_radius": 1e-6,
    } | fields  # fmt: skip
    name = f"{configuration['problem']}{configuration['method']}{configuration['lr']}{configuration['seed']}"
    return Planned(hashlib.sha256(name.encode()).hexdigest()[:16], configuration, 60.0)


def outcome(seed: int = 0, records: int = 5) -> Outcome:
    """A result whose every number depends on the seed."""
    draw = np.random.default_rng(seed)
    step = np.arange(1, records + 1) * 2
    losses = draw.random((records, 3)).astype(np.float32)
    return Outcome(
        summary={
            "problem": "burgers", "method": "chebyshev", "seed": seed, "steps": 10, "relative_l2": float(draw.random()),
            "seconds": 1.5, "ms_per_step": 0.125, "radius": float(draw.random()), "stopped": "steps",
        },
        history={"step": step, "losses": losses, "error": draw.random(records), "unknown/a": draw.random(records)},
        parameters_hash=draw.bytes(32).hex(),
        fields={"u": draw.random((64, 64)).astype(np.float32)},
        versions={"incenter": "0.1.0", "jax": "0.9"},
        machine="x86_64",
        commit="0123abcd",
        started=1795125430.25,
        ended=1795125431.75 + seed,
    )  # fmt: skip


def work(path: Path, study: str, seconds: float = 0.0) -> int:
    """Run everything that waits, as a worker in a process of its own does; how many this one did."""
    done = 0
    with Store(path) as store:
        worker = new_worker()
        while (claim := store.claim(study, worker)) is not None:
            store.beat(claim.key, worker, 1, [1.0])
            time.sleep(seconds)
            done += store.finish(claim.key, worker, outcome(claim.configuration["seed"]))
    return done
