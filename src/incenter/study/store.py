"""The record of what ran: one SQLite file that any number of runners, workers and readers share.

    store.add("paper", planned)                 # again and again: a run that is known stays as it is
    claim = store.claim("paper", worker)        # the next waiting run, or None; nobody else gets it
    store.beat(claim.key, worker, step, losses, error)
    store.finish(claim.key, worker, outcome)    # once: a second result of a run is refused
    store.rows("paper", "done")

A run is known by the hash of its configuration, so studies share what they have in common, and a plan that was changed
finds its old runs again. Every row carries a hash that is verified when it is read. `worker` must be a name that no
other worker has, now or later (`incenter.study.identity`): what a worker says of a run that was meanwhile given to
another, or a second time to the same, is not listened to.
"""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from incenter.geometry.errors import IncenterError
from incenter.study.database import Database
from incenter.study.packing import Array, pack, unpack
from incenter.study.rows import STATES, Added, Claim, Outcome, Planned, Row, State, Status, options_of

FILE = "incenter-study.sqlite"
_COLUMNS = """runs.key, runs.configuration, timeout, runs.hash, status, worker, attempts, step, losses, latest, beat,
    runs.started, runs.ended, error, summary, parameters, versions, machine, "commit", results.started,
    results.ended, history, fields, results.hash"""


class Store:
    """The runs in the file at `path`, which is made if it is not there. Use from any thread or process."""

    def __init__(self, path: str | Path = FILE) -> None:
        self.path = Path(path)
        self.damaged: dict[str, str] = {}  # what was found on reading: a sentence for each key
        self._database = Database(self.path)
        self._tokens: dict[tuple[str, str], int] = {}  # of the claims that were made here
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

    # Plans

    def add(self, study: str, planned: Iterable[Planned]) -> Added:
        """Make these the runs of a study, in this order; known runs stay as they are, whatever their state."""
        planned = list({each.key: each for each in planned}.values())
        with self._database.writing() as connection:
            known = dict(connection.execute("SELECT key, status FROM runs"))
            members = {key for (key,) in connection.execute("SELECT key FROM members WHERE study = ?", [study])}
            for position, each in enumerate(planned):
                text = _json(each.configuration)
                if each.key in known:
                    connection.execute("UPDATE runs SET timeout = ? WHERE key = ?", [each.timeout_seconds, each.key])
                else:
                    connection.execute(
                        "INSERT INTO runs (key, configuration, timeout, hash) VALUES (?, ?, ?, ?)",
                        [each.key, text, each.timeout_seconds, _hash(each.key, text)],
                    )
                connection.execute("INSERT OR REPLACE INTO members VALUES (?, ?, ?)", [study, each.key, position])
        keys = [each.key for each in planned]
        return Added(
            new=tuple(key for key in keys if key not in known),
            known=tuple(key for key in keys if key in known),
            finished=tuple(key for key in keys if known.get(key) == "done"),
            others=tuple(sorted(members - set(keys))),
        )

    def leave(self, study: str, keys: Iterable[str]) -> None:
        """Take runs out of a study; the store keeps them, and their results."""
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM members WHERE study = ? AND key = ?", [(study, key) for key in keys])

    def studies(self) -> list[str]:
        """Their names."""
        with self._database.reading() as connection:
            return [name for (name,) in connection.execute("SELECT DISTINCT study FROM members ORDER BY study")]

    # Work

    def claim(self, study: str, worker: str) -> Claim | None:
        """The next waiting run of a study, which now belongs to `worker`; None where nothing waits."""
        with self._database.writing() as connection:
            found = connection.execute(
                "SELECT key FROM members JOIN runs USING (key) WHERE study = ? AND status = 'waiting' "
                "ORDER BY position LIMIT 1",
                [study],
            ).fetchone()
            return None if found is None else self._take(connection, found[0], worker)

    def claim_key(self, key: str, worker: str) -> Claim | None:
        """This run, if it waits; None where it is done, failed, not known, or another worker's."""
        with self._database.writing() as connection:
            found = connection.execute("SELECT 1 FROM runs WHERE key = ? AND status = 'waiting'", [key]).fetchone()
            return None if found is None else self._take(connection, key, worker)

    def _take(self, connection: sqlite3.Connection, key: str, worker: str) -> Claim:
        now = time.time()
        text, timeout, attempts = connection.execute(
            "UPDATE runs SET status = 'running', worker = ?, attempts = attempts + 1, started = ?, ended = NULL, "
            "beat = ?, beats = beats + 1 WHERE key = ? RETURNING configuration, timeout, attempts",
            [worker, now, now, key],
        ).fetchone()
        self._tokens[key, worker] = attempts
        return Claim(key, worker, json.loads(text), timeout, attempts)

    def beat(self, key: str, worker: str, step: int, losses: Sequence[float] = (), error: float | None = None) -> bool:
        """A sign of life, with the progress; False where the run is not this worker's any more: give it up."""
        with self._database.writing() as connection:
            changed = connection.execute(
                "UPDATE runs SET step = ?, losses = ?, latest = ?, beat = ?, beats = beats + 1 "
                f"WHERE status = 'running' AND {self._owned(key, worker)}",
                [step, _json([float(loss) for loss in losses]), error, time.time(), *self._owner(key, worker)],
            )
            return changed.rowcount == 1

    def finish(self, key: str, worker: str, outcome: Outcome) -> bool:
        """Commit the result of a run; False, and nothing is changed, where it has one or is not this worker's."""
        history, fields = pack(outcome.history), pack(outcome.fields)
        result = _result(key, outcome, history, fields)
        with self._database.writing() as connection:
            changed = connection.execute(
                # A run that was taken away but that nobody else has begun is still this worker's to finish.
                "UPDATE runs SET status = 'done', ended = ?, step = ?, error = NULL "
                f"WHERE status IN ('running', 'waiting') AND {self._owned(key, worker)}",
                [outcome.ended or time.time(), outcome.summary.get("steps"), *self._owner(key, worker)],
            )
            if changed.rowcount != 1:
                return False
            _insert(connection, key, result, history, fields)
        return True

    def fail(self, key: str, worker: str, error_text: str) -> bool:
        """Say that a run failed, and why; False where it is not this worker's."""
        with self._database.writing() as connection:
            changed = connection.execute(
                "UPDATE runs SET status = 'failed', ended = ?, error = ? "
                f"WHERE status = 'running' AND {self._owned(key, worker)}",
                [time.time(), error_text, *self._owner(key, worker)],
            )
            return changed.rowcount == 1

    def _owned(self, key: str, worker: str) -> str:
        return "key = ? AND worker = ?" + (" AND attempts = ?" if (key, worker) in self._tokens else "")

    def _owner(self, key: str, worker: str) -> list[Any]:
        token = self._tokens.get((key, worker))
        return [key, worker] if token is None else [key, worker, token]

    def release(
        self, study: str | None = None, *, dead_workers: Iterable[str] = (), older_than: float | None = None
    ) -> list[str]:
        """Let runs wait again that dead workers hold, or that gave no sign of life for so many seconds: their keys."""
        dead = list(dead_workers)
        before = float("-inf") if older_than is None else time.time() - older_than
        with self._database.writing() as connection:
            found = connection.execute(
                "UPDATE runs SET status = 'waiting' WHERE status = 'running' AND "
                f"(worker IN ({', '.join('?' * len(dead))}) OR beat < ?) AND {_OF_STUDY} RETURNING key",
                [*dead, before, study, study],
            )
            return [key for (key,) in found.fetchall()]

    def retry(self, study: str | None = None, keys: Iterable[str] | None = None) -> list[str]:
        """Let failed runs wait again, all or these: their keys. Their attempts stay counted."""
        chosen = None if keys is None else set(keys)
        with self._database.writing() as connection:
            failed = connection.execute(f"SELECT key FROM runs WHERE status = 'failed' AND {_OF_STUDY}", [study, study])
            again = [key for (key,) in failed.fetchall() if chosen is None or key in chosen]
            connection.executemany("UPDATE runs SET status = 'waiting' WHERE key = ?", [(key,) for key in again])
        return again

    # Reading

    def status(self, study: str | None = None) -> Status:
        """How many runs are where."""
        with self._database.reading() as connection:
            counts = connection.execute(
                f"SELECT status, count(*) FROM runs WHERE {_OF_STUDY} GROUP BY status", [study, study]
            )
            return Status(**dict(counts.fetchall()))

    def rows(self, study: str | None = None, status: State | None = None) -> list[Row]:
        """The runs in the order of the plan, without those that are damaged: see `damaged`."""
        if status is not None and status not in STATES:
            raise IncenterError(f"`status` must be one of {', '.join(STATES)}; got {status!r}.")
        where, order = ("JOIN members USING (key)", "position") if study is not None else ("", "runs.rowid")
        query = f"SELECT {_COLUMNS} FROM runs LEFT JOIN results USING (key) {where} WHERE (? IS NULL OR status = ?)"
        values: list[Any] = [status, status]
        if study is not None:
            query, values = f"{query} AND study = ?", [*values, study]
        with self._database.reading() as connection:
            found = connection.execute(f"{query} ORDER BY {order}", values).fetchall()
        rows = [self._row(study, values) for values in found]
        return [row for row in rows if row is not None]

    def row(self, key: str) -> Row:
        """One run."""
        with self._database.reading() as connection:
            found = connection.execute(
                f"SELECT {_COLUMNS} FROM runs LEFT JOIN results USING (key) WHERE runs.key = ?", [key]
            ).fetchone()
        if found is None:
            raise IncenterError(f"There is no run {key} in {self.path}.")
        row = self._row(None, found)
        if row is None:
            raise IncenterError(self.damaged[key])
        return row

    def arrays(self, key: str, what: str) -> dict[str, Array]:
        """The `history` or the `fields` of a run; nothing where it is not done."""
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT data, CASE what WHEN 'history' THEN history ELSE fields END FROM arrays JOIN results "
                "USING (key) WHERE key = ? AND what = ?",
                [key, what],
            ).fetchone()
        if found is None:
            return {}
        data, expected = found
        if hashlib.sha256(data).hexdigest() != expected:
            raise IncenterError(self._note_damage(key, f"its {what}"))
        return unpack(data)

    def _row(self, study: str | None, values: Sequence[Any]) -> Row | None:
        key, text, timeout, digest, status, worker, attempts, step, losses, latest, beat, started, ended, error = (
            values[:14]
        )
        result = values[14:]
        try:
            whole = _hash(key, text) == digest and (status != "done" or _hash(key, *result[:-1]) == result[-1])
        except (TypeError, ValueError):
            whole = False
        if not whole:
            self._note_damage(key, "its row")
            return None
        configuration = json.loads(text)
        summary = json.loads(result[0]) if result[0] else {}
        return Row(
            key=key,
            study=study,
            problem=configuration["problem"],
            method=configuration.get("method", "chebyshev"),
            p=float(configuration.get("p", 2.0)),
            lr=configuration.get("lr"),
            optimizer=configuration.get("optimizer", "adam"),
            steps=configuration.get("steps"),
            seed=configuration.get("seed", 0),
            precision=configuration.get("precision", 32),
            options=options_of(configuration),
            configuration=configuration,
            timeout_seconds=timeout,
            status=cast(State, status),
            worker=worker,
            step=step,
            losses=tuple(json.loads(losses)) if losses else (),
            latest_l2=latest,
            beat=beat,
            started=result[5] if result[5] is not None else started,
            ended=result[6] if result[6] is not None else ended,
            attempts=attempts,
            error=error,
            summary=summary,
            relative_l2=summary.get("relative_l2"),
            seconds=summary.get("seconds"),
            ms_per_step=summary.get("ms_per_step"),
            radius=summary.get("radius"),
            stopped=summary.get("stopped"),
            parameters=result[1],
            versions=json.loads(result[2]) if result[2] else {},
            machine=result[3],
            commit=result[4],
            load=self.arrays,
        )

    def _note_damage(self, key: str, what: str) -> str:
        self.damaged[key] = f"Run {key} in {self.path} is damaged ({what} does not have its hash), and is left out."
        return self.damaged[key]


_OF_STUDY = "(? IS NULL OR key IN (SELECT key FROM members WHERE study = ?))"


def _result(key: str, outcome: Outcome, history: bytes, fields: bytes) -> list[Any]:
    """The values of a row of `results`, the hash of all others last."""
    values = [
        _json(outcome.summary),
        outcome.parameters_hash,
        _json(outcome.versions),
        outcome.machine,
        outcome.commit,
        outcome.started,
        outcome.ended,
        hashlib.sha256(history).hexdigest(),
        hashlib.sha256(fields).hexdigest(),
    ]
    return [*values, _hash(key, *values)]


def _insert(connection: sqlite3.Connection, key: str, result: list[Any], history: bytes, fields: bytes) -> None:
    connection.execute(f"INSERT INTO results VALUES ({', '.join('?' * 11)})", [key, *result])
    connection.executemany("INSERT INTO arrays VALUES (?, ?, ?)", [(key, "history", history), (key, "fields", fields)])


def _json(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(dict(value) if isinstance(value, Mapping) else list(value), sort_keys=True)


def _hash(*values: Any) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()
