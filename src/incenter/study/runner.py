"""From a plan to its results: every run that is not finished is given to a lane, until none is left.

The store is the record, and decides: a run belongs to who claims it there, workers that died are found there, and what
other runners do on the same store is seen there. So a runner can be killed at any instant and started again, and two
can work on one plan.

A run whose worker dies goes on from its checkpoint. Where workers die of it again and again without getting further, it
has failed; so it has where it raises, diverges, or is past its limit. The others go on.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from incenter.geometry.errors import IncenterError
from incenter.study.forecast import Forecast
from incenter.study.identity import new_worker
from incenter.study.lanes import Lane, Work
from incenter.study.rows import Planned, Row, Status
from incenter.study.store import Store
from incenter.study.surroundings import commit, one_thread
from incenter.study.turns import Turns
from incenter.study.watchdog import CRASH_FILE
from incenter.study.worker import Ended, Task, execute

if TYPE_CHECKING:
    from incenter.pinn.interrupts import Interrupts

TICK = 0.2  # seconds between two looks at the clock and the signals
LOOK = 1.0  # seconds between two looks at the store
SILENT = 120.0  # seconds without a sign of life after which a worker elsewhere counts as dead
MOST_DEATHS = 3  # workers that may die of one run without its getting further
PATIENCE = 20.0  # seconds that interrupted runs have to save themselves


@dataclass(frozen=True)
class Snapshot:
    """Where a study is."""

    status: Status
    running: tuple[Row, ...]  # in the lanes of this runner
    ended: tuple[Row, ...]  # in these lanes since the snapshot before
    seconds_left: float | None


@dataclass(frozen=True)
class Report:
    """How a call of the runner ended."""

    status: Status
    failed: tuple[Row, ...]
    interrupted: bool
    notes: tuple[str, ...]  # a sentence each


def runs_folder(store: Path) -> Path:
    """Where the folders of the runs of a store are."""
    return store.with_name(store.stem + ".runs")


def run_study(
    store: Store,
    study: str,
    planned: Iterable[Planned],
    lanes: Sequence[Lane],
    *,
    watch: Callable[[Snapshot], None] | None = None,
    work: Work = execute,
) -> Report:
    """Run what is left of a plan; Ctrl-C and SIGTERM let the running ones save themselves, and return.

    Workers import the main module of a script, so call this there only under `if __name__ == "__main__":`.
    """
    from incenter.pinn.interrupts import Interrupts

    runs = tuple({each.key: each for each in planned}.values())
    added = store.add(study, runs)
    store.leave(study, added.others)
    store.release(study)
    store.retry(study)
    runner = _Runner(store, study, runs, lanes, watch, work)
    with Interrupts() as interrupts, one_thread():
        try:
            runner.work_off(interrupts)
        finally:
            runner.close()
    notes = list(added.damaged)
    if (count := len(added.others)) == 1:
        notes.append("1 run of an earlier form of this plan is not part of it now; the store keeps it.")
    elif count:
        notes.append(f"{count} runs of an earlier form of this plan are not part of it now; the store keeps them.")
    failed = tuple(store.rows(study, "failed"))
    return Report(store.status(study), failed, interrupts.asked, tuple(notes))


@dataclass(frozen=True)
class _Busy:
    """A run in a lane."""

    lane: int
    key: str


@dataclass
class _Deaths:
    """Of workers of one run since it last got further."""

    count: int = 0
    step: int = 0


class _Runner:
    """One call of `run_study`."""

    def __init__(
        self,
        store: Store,
        study: str,
        planned: Sequence[Planned],
        lanes: Sequence[Lane],
        watch: Callable[[Snapshot], None] | None,
        work: Work,
    ) -> None:
        self._store, self._study, self._lanes, self._watch, self._work = store, study, lanes, watch, work
        self._planned = {each.key: each for each in planned}
        self._open = dict(self._planned)  # what has not ended, as far as is known here
        self._turns = Turns(planned)
        self._busy: dict[Future[Ended], _Busy] = {}
        self._deaths: dict[str, _Deaths] = {}
        self._ended: list[Row] = []  # not shown yet
        self._forecast = Forecast()
        self._scanned = 0.0
        self._commit = commit()

    def work_off(self, interrupts: "Interrupts") -> None:
        """Until all runs of the plan have ended, here or in another runner, or until asked to stop."""
        looked = 0.0
        self._scan()
        while not interrupts.asked:
            self._fill()
            if not self._busy and not self._wait_for_others():
                break
            self._collect(TICK)
            if time.monotonic() - looked >= LOOK:
                looked = time.monotonic()
                self._store.release(self._study, older_than=SILENT)
                self._show()
        if interrupts.asked:
            self._interrupt()
        self._show()

    def close(self) -> None:
        """End the workers, and let the runs of those that had to be killed wait again."""
        for lane in self._lanes:
            lane.close(kill=bool(self._busy))
        self._store.release(self._study)

    # What runs

    def _scan(self) -> None:
        """Read the whole study from the store: what waits, and what has ended elsewhere."""
        began = time.monotonic()
        rows = self._store.rows(self._study)
        mine = {busy.key for busy in self._busy.values()}
        self._turns.refill(row.key for row in rows if row.status == "waiting" and row.key not in mine)
        for row in rows:
            if row.status in ("done", "failed") and self._open.pop(row.key, None) is not None:
                self._learn(row)
        self._scanned = time.monotonic() + 10 * (time.monotonic() - began)

    def _fill(self) -> None:
        """Give every idle lane a run."""
        taken = {busy.lane for busy in self._busy.values()}
        for number, lane in enumerate(self._lanes):
            if number in taken:
                continue
            while (key := self._turns.take(number)) is not None:
                if self._store.row(key).status == "waiting":  # else another runner was faster
                    self._busy[lane.submit(self._work, self._task(key))] = _Busy(number, key)
                    break

    def _task(self, key: str) -> Task:
        path = self._store.path.absolute()
        return Task(key, path, runs_folder(path), Path.cwd(), self._commit)

    def _wait_for_others(self) -> bool:
        """Nothing is left here: False where nothing is left elsewhere either; else look again after a while."""
        if not self._store.status(self._study).left:
            return False
        time.sleep(TICK)
        if time.monotonic() - self._scanned >= LOOK:
            self._store.release(self._study, older_than=SILENT)
            self._scan()
            self._show()
        return True

    # What has ended

    def _collect(self, seconds: float) -> None:
        if not self._busy:
            return
        done, _ = wait(self._busy, timeout=seconds, return_when="FIRST_COMPLETED")
        for future in done:
            busy = self._busy.pop(future)
            try:
                self._note(busy, future.result())
            except IncenterError:  # of the store or the disk, not of the run
                raise
            except CancelledError as error:
                raise IncenterError(
                    "The executor gave up its runs: start it again, and then the study, which goes on where it was."
                ) from error
            except Exception:
                self._mourn(busy)

    def _note(self, busy: _Busy, ended: Ended) -> None:
        if ended in ("done", "failed"):
            self._end(busy.key)
            if ended == "failed":  # a worker without memory cannot even start a thread: the next run gets a new one
                self._lanes[busy.lane].close(kill=True)
        elif ended == "interrupted":  # by somebody else
            self._turns.put_first(busy.key)

    def _end(self, key: str) -> None:
        row = self._store.row(key)
        self._open.pop(key, None)
        self._ended.append(row)
        self._learn(row)

    def _mourn(self, busy: _Busy) -> None:
        """The worker of a run has died: let the run wait again, or fail where that has happened too often."""
        cause = self._lanes[busy.lane].mend()
        row = self._store.row(busy.key)
        if row.status in ("done", "failed"):
            self._end(busy.key)
            return
        trace = self._trace(busy.key)
        deaths = self._deaths.setdefault(busy.key, _Deaths())
        step = row.step or 0
        deaths.count, deaths.step = (1, step) if step > deaths.step else (deaths.count + 1, step)
        if trace or deaths.count >= MOST_DEATHS:
            times = "" if deaths.count == 1 else f" {deaths.count} times without getting further"
            self._fail(row, f"{trace}\nIts worker died at step {step:,}{times}: {cause}.".strip())
            return
        self._store.release(self._study, dead_workers=[row.worker] if row.worker else [])
        self._turns.put_first(busy.key)

    def _fail(self, row: Row, words: str) -> None:
        worker = row.worker
        if row.status == "waiting":  # its workers never got so far as to claim it
            worker = new_worker()
            self._store.claim_key(row.key, worker)
        if worker is not None and self._store.fail(row.key, worker, words):
            self._end(row.key)

    def _trace(self, key: str) -> str:
        """Where a worker crashed, as far as the interpreter could still say it."""
        try:
            return (runs_folder(self._store.path) / key / CRASH_FILE).read_text(errors="replace").strip()
        except OSError:
            return ""

    def _interrupt(self) -> None:
        """Let the runs save themselves; those that cannot be asked are taken from their workers, who notice."""
        for busy in self._busy.values():
            if not self._lanes[busy.lane].interrupt():
                self._store.give_back(busy.key, self._store.row(busy.key).worker or "")
        deadline = time.monotonic() + PATIENCE
        while self._busy and time.monotonic() < deadline:
            done, _ = wait(self._busy, timeout=TICK, return_when="FIRST_COMPLETED")
            for future in done:
                del self._busy[future]

    # What is shown

    def _learn(self, row: Row) -> None:
        if row.status == "done" and row.seconds and row.step:
            self._forecast.learn(row.problem, row.step, row.seconds)

    def _show(self) -> None:
        if self._watch is None:
            self._ended.clear()
            return
        running = tuple(self._store.row(busy.key) for busy in self._busy.values())
        snapshot = Snapshot(self._store.status(self._study), running, tuple(self._ended), self._seconds_left(running))
        self._ended.clear()
        self._watch(snapshot)

    def _seconds_left(self, running: Sequence[Row]) -> float | None:
        made = {row.key: row.step or 0 for row in running}
        steps = ((key, each.configuration) for key, each in self._open.items())
        remaining = ((str(fields["problem"]), int(fields["steps"]) - made.get(key, 0)) for key, fields in steps)
        return self._forecast.left(remaining, len(self._lanes))
