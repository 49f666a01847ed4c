"""One run in a worker, wherever that is: claimed in the store, trained from where it was left, committed or failed.

An executor may call `execute` twice for the same run, or in two places at once: the store gives it to one of them.
"""

import contextlib
import functools
import json
import os
import signal
import threading
import time
import traceback
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from incenter.geometry.errors import IncenterError
from incenter.study.identity import is_dead, new_worker
from incenter.study.rows import Claim, Outcome
from incenter.study.store import Store
from incenter.study.watchdog import Lost, Overdue, Watchdog

if TYPE_CHECKING:
    from incenter.pinn import Configuration, Problem, Progress

Ended = Literal["done", "failed", "interrupted", "taken"]


@dataclass(frozen=True)
class Task:
    """What a worker has to know of a run besides the store."""

    key: str
    store: Path  # absolute, as all paths here: a worker may have been started anywhere
    runs: Path  # the folder of the runs' folders
    directory: Path  # what FILE.py of FILE.py:NAME is relative to
    commit: str | None


def begin() -> int:
    """Make this process a worker, which ends with its parent; its number.

    A process group of its own keeps the terminal's Ctrl-C from it: the runner tells it what to do.
    """
    if os.getpid() != os.getpgrp():
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    return os.getpid()


def _end_with_parent() -> None:
    if (parent := parent_process()) is not None:
        parent.join()
        os._exit(1)


def execute(task: Task) -> Ended:
    """Train one run; what is wrong with it is in the store, and what is wrong with the store is raised."""
    store = _store(task.store)
    claim = _claim(store, task.key)
    if claim is None:
        return "taken"
    mine = (claim.key, claim.worker)
    try:
        with Watchdog(store, claim, task.runs / task.key) as watchdog, contextlib.chdir(task.directory):
            outcome = _train(task, claim, watchdog)
    except Lost:
        return "taken"
    except (_Interrupted, KeyboardInterrupt):
        store.give_back(*mine)
        return "interrupted"
    except Exception as error:
        if isinstance(error, IncenterError) and isinstance(error.__cause__, OSError):
            store.give_back(*mine)  # the disk is full, or the like: that is no fault of this run
            raise IncenterError(str(error)) from None
        store.fail(*mine, str(error) if isinstance(error, (Overdue, _Diverged)) else traceback.format_exc())
        return "failed"
    return "done" if store.finish(*mine, outcome) else "taken"


class _Interrupted(Exception):
    """The run was asked to stop, and is saved."""


class _Diverged(Exception):
    """The run gave itself up: its numbers are not finite."""


def _claim(store: Store, key: str) -> Claim | None:
    """The run, if it waits, or if whoever had it is certainly dead."""
    if (claim := store.claim_key(key, new_worker())) is not None:
        return claim
    row = store.row(key)
    if row.status != "running" or not is_dead(row.worker or ""):
        return None
    store.release(dead_workers=[row.worker or ""])
    return store.claim_key(key, new_worker())


def _train(task: Task, claim: Claim, watchdog: Watchdog) -> Outcome:
    from incenter.pinn import train
    from incenter.study.outcomes import outcome_of

    configuration = configuration_of(claim.configuration)
    started = time.time()

    def seen(progress: "Progress") -> None:
        error = None if progress.error is None else float(progress.error)
        try:
            watchdog.seen(progress.step, progress.losses, error)
        except Overdue:
            if threading.current_thread() is not threading.main_thread():
                raise
            signal.raise_signal(signal.SIGTERM)  # at which a training saves itself and returns

    result = train(configuration, out=task.runs / task.key, resume=True, progress=seen)
    if result.stopped == "interrupted":
        watchdog.check_limit()
        raise _Interrupted
    if result.stopped == "nonfinite":
        raise _Diverged(result.sentence)
    return outcome_of(result, _problem(configuration), started, time.time(), task.commit)


def configuration_of(fields: dict[str, Any]) -> "Configuration":
    """The configuration that a store holds as plain values."""
    from incenter.pinn import Configuration

    return Configuration.from_mapping(fields | {"p": float(fields.get("p", 2.0))})  # inf is text in JSON


def _problem(configuration: "Configuration") -> "Problem":
    """The problem of a configuration, made once for all runs that a worker has of it."""
    from incenter.pinn.sources import sources
    from incenter.pinn.training import problem_of

    options = json.dumps(configuration.problem_options, sort_keys=True)
    place = f"{configuration.problem} {options} {sources(configuration).get('problem')}"
    if place not in _PROBLEMS:
        _PROBLEMS.clear()  # one of them is enough, and a large one may hold much
        _PROBLEMS[place] = problem_of(configuration)
    return _PROBLEMS[place]


_PROBLEMS: "dict[str, Problem]" = {}


@functools.cache
def _store(path: Path) -> Store:
    """One connection for all runs of a worker."""
    return Store(path, create=False)
