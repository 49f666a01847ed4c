"""What the store writes, each inside a transaction of the caller."""

import json
import sqlite3
import time
from collections.abc import Iterable, Sequence
from typing import Any

from incenter.study import records
from incenter.study.packing import pack
from incenter.study.rows import Claim, Outcome, Planned
from incenter.study.stale import Running

OF_STUDY = "(? IS NULL OR key IN (SELECT key FROM members WHERE study = ?))"
_MINE = "key = ? AND worker = ? AND attempts = coalesce(?, attempts)"


def insert_runs(connection: sqlite3.Connection, planned: Iterable[Planned]) -> None:
    """Runs that wait; those that are known stay as they are."""
    for each in planned:
        text = records.as_json(dict(each.configuration))
        connection.execute(
            "INSERT INTO runs (key, configuration, timeout, hash) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [each.key, text, each.timeout_seconds, records.hash_of(each.key, text)],
        )


def forget(connection: sqlite3.Connection, keys: Iterable[str]) -> None:
    """Remove runs with their results, but not from their studies."""
    for key in keys:
        for table in ("arrays", "results", "runs"):
            connection.execute(f"DELETE FROM {table} WHERE key = ?", [key])


def withdraw(connection: sqlite3.Connection, keys: Iterable[str]) -> None:
    """Take back the results of runs, which wait again."""
    for key in keys:
        connection.execute("DELETE FROM arrays WHERE key = ?", [key])
        connection.execute("DELETE FROM results WHERE key = ?", [key])
        connection.execute("UPDATE runs SET status = 'waiting' WHERE key = ? AND status = 'done'", [key])


def join(connection: sqlite3.Connection, study: str, keys: Sequence[str]) -> tuple[str, ...]:
    """Make runs the first members of a study, and list the others that it has."""
    found = connection.execute("SELECT key FROM members WHERE study = ? ORDER BY position", [study]).fetchall()
    wanted = set(keys)
    others = tuple(key for (key,) in found if key not in wanted)
    connection.executemany(
        "INSERT OR REPLACE INTO members VALUES (?, ?, ?)",
        [(study, key, position) for position, key in enumerate([*keys, *others])],
    )
    return others


def insert_result(connection: sqlite3.Connection, key: str, outcome: Outcome, arrays: dict[str, bytes]) -> None:
    values = records.result_values(key, outcome, arrays)
    # What a damaged row of `runs` once left behind is replaced; a run that is done never comes here.
    connection.execute(f"INSERT OR REPLACE INTO results VALUES ({', '.join('?' * len(values))})", values)
    connection.executemany(
        "INSERT OR REPLACE INTO arrays VALUES (?, ?, ?)", [(key, what, data) for what, data in arrays.items()]
    )


def packed(outcome: Outcome) -> dict[str, bytes]:
    """The arrays of an outcome as they are kept."""
    return {"history": pack(outcome.history), "fields": pack(outcome.fields)}


def next_waiting(connection: sqlite3.Connection, study: str) -> str | None:
    """The first run of a study that waits."""
    found = connection.execute(
        "SELECT key FROM members JOIN runs USING (key) WHERE study = ? AND status = 'waiting' "
        "ORDER BY position LIMIT 1",
        [study],
    ).fetchone()
    return None if found is None else str(found[0])


def take(connection: sqlite3.Connection, key: str, worker: str) -> Claim | None:
    """Give a waiting run to a worker; one whose configuration is damaged fails instead."""
    now = time.time()
    found = connection.execute(
        "UPDATE runs SET status = 'running', worker = ?, attempts = attempts + 1, started = ?, ended = NULL, beat = ?, "
        "beats = beats + 1 WHERE key = ? AND status = 'waiting' RETURNING configuration, hash, timeout, attempts",
        [worker, now, now, key],
    ).fetchone()
    if found is None:
        return None
    text, digest, timeout, attempt = found
    if records.hash_of(key, text) != digest:
        damaged = f"The configuration of run {key} is damaged: run the study again to write it anew."
        connection.execute("UPDATE runs SET status = 'failed', error = ? WHERE key = ?", [damaged, key])
        return None
    return Claim(key, worker, json.loads(text), None if timeout is None else float(timeout), attempt)


def change_mine(
    connection: sqlite3.Connection, what: str, values: Sequence[Any], mine: tuple[str, str, int | None]
) -> bool:
    """Change a running run of this worker, in this attempt where that is known; False where it is not its own."""
    changed = connection.execute(f"UPDATE runs SET {what} WHERE status = 'running' AND {_MINE}", [*values, *mine])
    return changed.rowcount == 1


def end_mine(connection: sqlite3.Connection, mine: tuple[str, str, int | None]) -> bool:
    """Mark a run as done by this worker: also one that was taken away, and that nobody else has begun."""
    changed = connection.execute(
        f"UPDATE runs SET status = 'done', error = NULL WHERE status IN ('running', 'waiting') AND {_MINE}", mine
    )
    return changed.rowcount == 1


def running(connection: sqlite3.Connection, study: str | None) -> list[Running]:
    """The runs that workers hold."""
    found = connection.execute(
        f"SELECT key, worker, attempts, beats, beat FROM runs WHERE status = 'running' AND {OF_STUDY}", [study, study]
    )
    return [Running(*values) for values in found]


def wait_again(connection: sqlite3.Connection, keys: Iterable[str]) -> None:
    connection.executemany("UPDATE runs SET status = 'waiting' WHERE key = ?", [(key,) for key in keys])
