"""What can still be read of a store whose file is damaged: row by row, past the pages that cannot be.

A flipped bit inside a row is found by the row's hash, and the store leaves that row out. One in the structure of a page
stops SQLite in the middle of a list; then rows are asked for one at a time.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

from incenter.study import records
from incenter.study.database_faults import in_words
from incenter.study.rows import Row
from incenter.study.store import Store

_FAR = 10_000  # so many row numbers in a row that cannot be read are the end


def salvaged(store: Store) -> tuple[list[Row], dict[str, tuple[str, ...]]]:
    """The whole rows of a store, and its studies as far as they are there; `store.damaged` names the others."""
    with in_words(store.path), contextlib.closing(sqlite3.connect(store.path)) as connection:
        connection.text_factory = lambda text: text.decode(errors="replace")
        results = {values[0]: values for values in _reachable(connection, "results", records.RESULT_COLUMNS)}
        nothing = (None,) * len(records.RESULT_COLUMNS)
        runs = list(_reachable(connection, "runs", records.RUN_COLUMNS))
        rows = [store.whole_row(None, (*run, *results.get(run[0], nothing))) for run in runs]
        return [row for row in rows if row is not None], _studies(connection)


def _reachable(connection: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    names = ", ".join(f'"{name}"' for name in columns)
    query = f"SELECT rowid, {names} FROM {table} NOT INDEXED WHERE rowid > ? ORDER BY rowid LIMIT 1"
    number, missed = 0, 0
    while missed < _FAR:
        try:
            found = connection.execute(query, [number]).fetchone()
        except sqlite3.DatabaseError:
            number, missed = number + 1, missed + 1
            continue
        if found is None:
            return
        number, missed = found[0], 0
        yield found[1:]


def _studies(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    with contextlib.suppress(sqlite3.DatabaseError):
        for study, key in connection.execute("SELECT study, key FROM members ORDER BY study, position"):
            found.setdefault(study, []).append(key)
    return {study: tuple(keys) for study, keys in found.items()}
