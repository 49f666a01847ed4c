"""What SQLite can say of a store, in one sentence that names the file and the way out."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from incenter.geometry.errors import IncenterError

PATIENCE = 60.0  # seconds that a writer waits for others before it says so
PRIMARY = 0xFF  # the part of an error's code that says of which kind it is


@contextlib.contextmanager
def in_words(path: Path) -> Iterator[None]:
    """The errors of the file as sentences; a mistake in a statement stays what it is."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if type(error) not in (sqlite3.DatabaseError, sqlite3.OperationalError):
            raise
        raise IncenterError(_sentence(path, error)) from error


def _sentence(path: Path, error: sqlite3.DatabaseError) -> str:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & PRIMARY
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return f"{path} cannot be written ({error}): make room on its disk; what was finished is kept."
    if code == sqlite3.SQLITE_CANTOPEN and not path.absolute().parent.is_dir():
        return f"{path} cannot be made, because there is no folder {path.absolute().parent}: make it first."
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return f"{path} cannot be written to: name a file in a folder that you may write to, with --store."
    if code == sqlite3.SQLITE_NOTADB:
        return f"{path} is not a store of runs: name another file with --store."
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"{path} has been in use by another process for {PATIENCE:g} seconds: end that process, or wait for it."
    return (
        f"{path} is damaged ({error}): `incenter study export FOLDER` saves every run that can still be read, and "
        "`incenter study import FOLDER` puts them into a new store."
    )
