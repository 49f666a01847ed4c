"""The record of what ran: one SQLite file that any number of runners, workers and readers share.

    store.add("paper", planned)                 # again and again: a run that is known stays as it is
    claim = store.claim("paper", worker)        # the next waiting run, or None; nobody else gets it
    store.beat(claim.key, worker, step, losses, error)
    store.finish(claim.key, worker, outcome)    # once: a second result of a run is refused
    store.rows("paper", "done")

A run is known by the hash of its configuration, so studies share what they have in common, and a plan that was changed
finds its old runs again. Every row carries a hash that is verified when it is read. `worker` is a name that no other
worker has, now or later (`identity.new_worker`): what a worker says of a run that was meanwhile given to another, or a
second time to the same, is not listened to.
"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from incenter.geometry.errors import IncenterError
from incenter.study import records, statements
from incenter.study.database import Database
from incenter.study.packing import Array, unpack
from incenter.study.rows import STATES, WHATS, Added, Claim, Outcome, Planned, Row, State, Status, What
from incenter.study.stale import Watch

FILE = "incenter-study.sqlite"
_JOINED = f"SELECT {records.COLUMNS} FROM runs LEFT JOIN results USING (key)"


class Store:
    """The runs in the file at `path`; without `create` it must be there already. For any number of threads."""

    def __init__(self, path: str | Path = FILE, *, create: bool = True) -> None:
        self.path = Path(path).absolute()  # whoever uses it may change the working directory
        self.damaged: dict[str, str] = {}  # what reading found: a sentence for each run that was left out
        self._database = Database(self.path, create=create)
        self._tokens: dict[tuple[str, str], int] = {}  # which attempt the claims were that were made here
        self._watch = Watch()
        with self._database.reading():
            pass

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.path,)

    def close(self) -> None:
        """Let go of the file; rows that were read can still load their arrays."""
        self._database.close()

    def settled(self) -> None:
        """Wait until what was finished is in the file itself, and no longer in the -wal beside it only."""
        self._database.settled()

    # What is to run

    def add(self, study: str, planned: Iterable[Planned]) -> Added:
        """Make these the runs of a study, in this order; known ones stay as they are, but damaged ones begin anew."""
        chosen = {each.key: each for each in planned}
        with self._database.writing() as connection:
            stored = {values[0]: values for values in connection.execute(_JOINED)}
            known = tuple(key for key in chosen if key in stored)
            faults = {key: fault for key in known if (fault := records.fault(stored[key]))}
            statements.forget(connection, faults)
            statements.insert_runs(connection, chosen.values())
            connection.executemany(
                "UPDATE runs SET timeout = ? WHERE key = ?", [(chosen[key].timeout_seconds, key) for key in known]
            )
            others = statements.join(connection, study, list(chosen))
        return Added(
            new=tuple(key for key in chosen if key not in stored),
            known=known,
            finished=tuple(key for key in known if key not in faults and records.is_done(stored[key])),
            others=others,
            damaged=tuple(f"Run {key} was damaged ({fault}), and begins anew." for key, fault in faults.items()),
        )

    def leave(self, study: str, keys: Iterable[str]) -> None:
        """Take runs out of a study; the store keeps them, and their results."""
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM members WHERE study = ? AND key = ?", [(study, key) for key in keys])

    def studies(self) -> dict[str, tuple[str, ...]]:
        """The keys of the runs of each study, in order."""
        found: dict[str, list[str]] = {}
        with self._database.reading() as connection:
            for study, key in connection.execute("SELECT study, key FROM members ORDER BY study, position"):
                found.setdefault(study, []).append(key)
        return {study: tuple(keys) for study, keys in found.items()}

    # Work

    def claim(self, study: str, worker: str) -> Claim | None:
        """The next waiting run of a study, which now belongs to `worker`; None where nothing waits."""
        with self._database.writing() as connection:
            while (key := statements.next_waiting(connection, study)) is not None:
                if (claim := statements.take(connection, key, worker)) is not None:
                    break
            else:
                return None
        return self._remember(claim)

    def claim_key(self, key: str, worker: str) -> Claim | None:
        """This run, if it waits; None where it is done, failed, unknown, or another worker's."""
        with self._database.writing() as connection:
            claim = statements.take(connection, key, worker)
        return None if claim is None else self._remember(claim)

    def _remember(self, claim: Claim) -> Claim:
        self._tokens[claim.key, claim.worker] = claim.attempt
        return claim

    def beat(self, key: str, worker: str, step: int, losses: Sequence[float] = (), error: float | None = None) -> bool:
        """A sign of life, with the progress; False where the run is not this worker's any more: give it up."""
        what = "step = ?, losses = ?, latest = ?, beat = ?, beats = beats + 1"
        values = [step, records.as_json([float(loss) for loss in losses]), error, time.time()]
        with self._database.writing() as connection:
            return statements.change_mine(connection, what, values, self._mine(key, worker))

    def finish(self, key: str, worker: str, outcome: Outcome) -> bool:
        """Commit the result of a run; False, and nothing is changed, where it has one or is not this worker's."""
        arrays = statements.packed(outcome)
        with self._database.writing() as connection:
            taken = statements.end_mine(connection, self._mine(key, worker))
            if taken:
                statements.insert_result(connection, key, outcome, arrays)
        if taken:
            self._database.settle()
        return taken

    def fail(self, key: str, worker: str, error_text: str) -> bool:
        """Say that a run failed, and why; False where it is not this worker's."""
        what = "status = 'failed', ended = ?, error = ?"
        with self._database.writing() as connection:
            return statements.change_mine(connection, what, [time.time(), error_text], self._mine(key, worker))

    def give_back(self, key: str, worker: str) -> bool:
        """Let a run wait again that this worker does not go on with; False where it is not this worker's."""
        with self._database.writing() as connection:
            return statements.change_mine(connection, "status = 'waiting'", [], self._mine(key, worker))

    def enter(self, planned: Planned, outcome: Outcome) -> bool:
        """Keep a result that was made elsewhere; False where the run has one already."""
        arrays = statements.packed(outcome)
        with self._database.writing() as connection:
            statements.insert_runs(connection, [planned])
            changed = connection.execute(
                "UPDATE runs SET status = 'done', error = NULL WHERE key = ? AND status != 'done'", [planned.key]
            )
            if changed.rowcount == 1:
                statements.insert_result(connection, planned.key, outcome, arrays)
            return changed.rowcount == 1

    def release(
        self, study: str | None = None, *, dead_workers: Iterable[str] = (), older_than: float | None = None
    ) -> list[str]:
        """Let runs wait again whose workers are dead, or silent for so many seconds (see `stale`): their keys."""
        dead = set(dead_workers)
        with self._database.writing() as connection:
            running = statements.running(connection, study)
            stale = set(self._watch.stale(running, older_than))
            keys = [run.key for run in running if run.worker in dead or run.key in stale]
            statements.wait_again(connection, keys)
        return keys

    def retry(self, study: str | None = None, keys: Iterable[str] | None = None) -> list[str]:
        """Let failed runs wait again, all or these: their keys. Their attempts stay counted."""
        chosen = None if keys is None else set(keys)
        with self._database.writing() as connection:
            failed = connection.execute(
                f"SELECT key FROM runs WHERE status = 'failed' AND {statements.OF_STUDY}", [study, study]
            )
            again = [key for (key,) in failed.fetchall() if chosen is None or key in chosen]
            statements.wait_again(connection, again)
        return again

    def _mine(self, key: str, worker: str) -> tuple[str, str, int | None]:
        return key, worker, self._tokens.get((key, worker))

    # What ran

    def status(self, study: str | None = None) -> Status:
        """How many runs are where."""
        with self._database.reading() as connection:
            counts = connection.execute(
                f"SELECT status, count(*) FROM runs WHERE {statements.OF_STUDY} GROUP BY status", [study, study]
            ).fetchall()
        return Status(**{state: count for state, count in counts if state in STATES})

    def rows(self, study: str | None = None, status: State | None = None) -> list[Row]:
        """The runs in the order of the plan, without those that are damaged: see `damaged`."""
        if status is not None and status not in STATES:
            raise IncenterError(f"`status` must be one of {', '.join(STATES)}; got {status!r}.")
        query, values = f"{_JOINED} ORDER BY runs.rowid", []
        if study is not None:
            query, values = f"{_JOINED} JOIN members USING (key) WHERE study = ? ORDER BY position", [study]
        with self._database.reading() as connection:
            found = connection.execute(query, values).fetchall()
        rows = [self.whole_row(study, values) for values in found]
        return [row for row in rows if row is not None and status in (None, row.status)]

    def row(self, key: str) -> Row:
        """One run."""
        with self._database.reading() as connection:
            found = connection.execute(f"{_JOINED} WHERE runs.key = ?", [key]).fetchone()
        if found is None:
            raise IncenterError(f"There is no run {key} in {self.path}: `incenter study status` lists the runs.")
        row = self.whole_row(None, found)
        if row is None:
            raise IncenterError(self.damaged[key])
        return row

    def arrays(self, key: str, what: What) -> dict[str, Array]:
        """The `history` or the `fields` of a run; nothing where it is not done."""
        with self._database.reading() as connection:
            found = connection.execute(
                f'SELECT data, results."{what}" FROM results LEFT JOIN arrays ON arrays.key = results.key AND what = ? '
                "WHERE results.key = ?",
                [what, key],
            ).fetchone()
        if found is None:
            return {}
        data, expected = found
        if not isinstance(data, bytes) or records.hash_of_bytes(data) != expected:
            raise IncenterError(self._say(key, f"its {what} do not have their hash"))
        return unpack(data)

    def repair(self, study: str | None = None) -> list[str]:
        """Read everything, arrays as well, and let runs whose results are damaged wait again: a sentence for each."""
        self.damaged = {}
        for row in self.rows(study, "done"):
            for what in WHATS:
                try:
                    self.arrays(row.key, what)
                except IncenterError as error:
                    self.damaged[row.key] = str(error)
        with self._database.writing() as connection:
            statements.withdraw(connection, self.damaged)
        return list(self.damaged.values())

    def whole_row(self, study: str | None, values: Sequence[Any]) -> Row | None:
        """The run in a row of the file, in the order of `records.COLUMNS`; None where it is damaged."""
        fault = records.fault(values)
        if fault is not None:
            self._say(values[0], fault)
            return None
        return records.row_of(study, values, self.arrays)

    def _say(self, key: str, fault: str) -> str:
        self.damaged[key] = f"Run {key} in {self.path} is damaged and left out: {fault}."
        return self.damaged[key]
