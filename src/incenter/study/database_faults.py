"""What SQLite can say of a store, in one sentence that names the file and the way out."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from incenter.geometry.errors import IncenterError

PATIENCE = 60.0  # seconds that a writer waits for others before it says so
PRIMARY = 0xFF  # the part of an error's code that says of which kind it is


class DamagedStore(IncenterError):
    """Pages of the file are not as they should be; see `salvage`."""


@contextlib.contextmanager
def in_words(path: Path) -> Iterator[None]:
    """The errors of the file as sentences; a mistake in a statement stays what it is."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if type(error) not in (sqlite3.DatabaseError, sqlite3.OperationalError):
            raise
        raise _in_words(path, error) from error
    except UnicodeDecodeError as error:  # SQLite's message repeats what it found in a damaged page
        raise _damaged(path, "its list of tables cannot be read") from error


def _in_words(path: Path, error: sqlite3.DatabaseError) -> IncenterError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & PRIMARY
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return IncenterError(f"{path} cannot be written ({error}): make room on its disk; what was finished is kept.")
    if code == sqlite3.SQLITE_CANTOPEN and not path.absolute().parent.is_dir():
        return IncenterError(
            f"{path} cannot be made, because there is no folder {path.absolute().parent}: make it first."
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return IncenterError(
            f"{path} cannot be written to: name a file in a folder that you may write to, with --store."
        )
    if code == sqlite3.SQLITE_NOTADB:
        return IncenterError(f"{path} is not a store of runs: name another file with --store.")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return IncenterError(
            f"{path} has been in use by another process for {PATIENCE:g} seconds: end that process, or wait for it."
        )
    return _damaged(path, error)


def _damaged(path: Path, why: object) -> DamagedStore:
    return DamagedStore(
        f"{path} is damaged ({why}): `incenter study export FOLDER` saves every run that can still be read, and "
        "`incenter study import FOLDER` puts them into a new store."
    )
