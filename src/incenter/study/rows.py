"""What goes into a store of runs and what comes out of it.

    Planned     a run that is wanted           Claim    a run that a worker was given
    Outcome     what a finished run ended in   Row      all that the store knows of a run, arrays read when asked for
    Status      how many runs are where        Added    what `Store.add` found new

Times are seconds since 1970 (UTC).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from incenter.study.packing import Array

State = Literal["waiting", "running", "done", "failed"]
STATES: tuple[State, ...] = get_args(State)
What = Literal["history", "fields"]  # the arrays of a run
WHATS: tuple[What, ...] = get_args(What)


@dataclass(frozen=True)
class Planned:
    """One run of a plan."""

    key: str  # `fingerprint()` of the resolved configuration: the same run has the same key everywhere
    configuration: Mapping[str, Any]  # `as_dict()` of it
    timeout_seconds: float | None = None


@dataclass(frozen=True)
class Claim:
    """A run that belongs to `worker` from now on, until it ends or is taken away."""

    key: str
    worker: str
    configuration: dict[str, Any]
    timeout_seconds: float | None
    attempt: int  # 1 at the first; the fencing token: it grows with every claim of this run


@dataclass(frozen=True)
class Outcome:
    """The end of a run. Only whole ends are outcomes: a run that was interrupted is none."""

    summary: Mapping[str, Any]  # the object that `incenter train --json` prints
    history: Mapping[str, Array] = field(default_factory=dict)  # by column, the records along the first axis
    parameters_hash: str = ""
    fields: Mapping[str, Array] = field(default_factory=dict)  # outputs on a 64 x 64 grid, float32
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""
    commit: str | None = None
    started: float | None = None
    ended: float | None = None


@dataclass(frozen=True)
class Added:
    """What `Store.add` found."""

    new: tuple[str, ...]  # keys that the store had not seen before
    known: tuple[str, ...]  # keys that it had, in whatever state
    finished: tuple[str, ...]  # those of `known` that are done
    others: tuple[str, ...]  # keys that belong to this study from an earlier plan, and are not in this one
    damaged: tuple[str, ...]  # a sentence for each known run whose row was damaged: it waits again


@dataclass(frozen=True)
class Status:
    """How many runs of a study are where."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.waiting + self.running + self.done + self.failed

    @property
    def left(self) -> int:
        """Runs that are still to end."""
        return self.waiting + self.running


def _nothing(*_: str) -> dict[str, Array]:
    return {}


@dataclass(frozen=True)
class Row:
    """One run as the store knows it. What is not known yet is None, or empty."""

    key: str
    study: str | None  # as asked for; None where all studies were
    problem: str
    method: str
    p: float
    lr: float | None
    optimizer: str
    steps: int | None  # wanted
    seed: int
    precision: int
    options: dict[str, Any]  # of problem, method, optimizer, ... : {"problem.operator": "divergence"}
    configuration: dict[str, Any]
    timeout_seconds: float | None
    status: State
    worker: str | None
    step: int | None  # reached
    losses: tuple[float | None, ...]  # of the latest heartbeat
    latest_l2: float | None  # relative error of the latest heartbeat
    beat: float | None  # time of the latest heartbeat
    started: float | None
    ended: float | None
    attempts: int  # how often it was claimed
    error: str | None  # traceback of the latest failure
    summary: dict[str, Any]
    relative_l2: float | None
    seconds: float | None
    ms_per_step: float | None
    radius: float | None
    stopped: str | None
    parameters: str | None  # hash of the final parameters
    versions: dict[str, str]
    machine: str | None
    commit: str | None
    load: Callable[[str, What], dict[str, Array]] = field(default=_nothing, repr=False, compare=False)

    def history(self) -> dict[str, Array]:
        """The records by column, read from the store now."""
        return self.load(self.key, "history")

    def fields(self) -> dict[str, Array]:
        """The final outputs on a grid, read from the store now."""
        return self.load(self.key, "fields")
