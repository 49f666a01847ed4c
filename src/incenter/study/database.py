"""One SQLite file that several processes and threads use at once, and its faults in words.

Readers never wait for writers (WAL), writers wait for each other (BEGIN IMMEDIATE with a busy timeout), and of two
processes that open a fresh file at the same moment one makes the tables. A process that was forked opens its own
connection. On a network file system, where WAL is not safe, a rollback journal is used instead.
"""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from incenter.geometry.errors import IncenterError

PATIENCE = 60.0  # seconds that a writer waits for others before it says so
APPLICATION = 0x1C37E2  # marks the file as ours
VERSION = 1
_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "gpfs", "beegfs", "glusterfs", "pvfs2"}
_SCHEMA = (
    """CREATE TABLE runs (
        key TEXT PRIMARY KEY, configuration TEXT NOT NULL, timeout REAL, hash TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'waiting', worker TEXT, attempts INTEGER NOT NULL DEFAULT 0,
        step INTEGER, losses TEXT, latest REAL, beat REAL, beats INTEGER NOT NULL DEFAULT 0,
        started REAL, ended REAL, error TEXT)""",
    """CREATE TABLE members (
        study TEXT NOT NULL, key TEXT NOT NULL REFERENCES runs, position INTEGER NOT NULL,
        PRIMARY KEY (study, key)) WITHOUT ROWID""",
    "CREATE INDEX members_in_order ON members (study, position, key)",
    """CREATE TABLE results (
        key TEXT PRIMARY KEY REFERENCES runs, summary TEXT NOT NULL, parameters TEXT NOT NULL, versions TEXT NOT NULL,
        machine TEXT NOT NULL, "commit" TEXT, started REAL, ended REAL, history TEXT NOT NULL, fields TEXT NOT NULL,
        hash TEXT NOT NULL)""",
    """CREATE TABLE arrays (
        key TEXT NOT NULL REFERENCES runs, what TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (key, what))""",
)


class Database:
    """Connections to the file at `path`, made when they are first needed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
            self._connection = None

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of the file, whatever others write meanwhile."""
        with self._transaction("BEGIN DEFERRED") as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of what is done inside, or nothing of it."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        if self._process != os.getpid():  # forked: neither the connection nor the lock is ours
            self._lock, self._connection, self._process = threading.RLock(), None, os.getpid()
        with self._lock, in_words(self.path):
            connection = self._connection = self._connection or _open(self.path)
            connection.execute(begin)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def _open(path: Path) -> sqlite3.Connection:
    """A connection to a store that has its tables."""
    deadline = time.monotonic() + PATIENCE
    while True:
        connection = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}", uri=True, timeout=PATIENCE, isolation_level=None,
            check_same_thread=False,
        )  # fmt: skip
        try:
            _prepare(connection, path)
        except sqlite3.OperationalError as error:
            connection.close()
            # Changing the journal mode does not wait for others as everything else does.
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        except BaseException:
            connection.close()
            raise
        else:
            return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    wanted = "delete" if _on_network(path) else "wal"
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    _check(connection, path, version)
    if connection.execute("PRAGMA journal_mode").fetchone()[0] != wanted:
        connection.execute(f"PRAGMA journal_mode = {wanted}")
    # A commit outlives the process; the latest ones may not outlive a power cut, where the runs' checkpoints do.
    connection.execute(f"PRAGMA synchronous = {'FULL' if wanted == 'delete' else 'NORMAL'}")
    connection.execute("PRAGMA cell_size_check = ON")
    if version == 0:
        _make_tables(connection)


def _check(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Ours, and not from the future."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION and (version or tables):
        raise IncenterError(f"{path} is a database of another program: name another file with --store.")
    if version > VERSION:
        raise IncenterError(
            f"{path} was written by a newer incenter (store version {version}, this one reads {VERSION}): "
            "pip install --upgrade incenter."
        )


def _make_tables(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:  # nobody was faster
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _on_network(path: Path) -> bool:
    """Whether `path` is on a file system of another machine, as far as /proc/mounts tells."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return False
    home = path.absolute().parent.resolve()
    inside = [(mount[1], mount[2]) for mount in mounts if home.is_relative_to(mount[1].replace("\\040", " "))]
    return bool(inside) and max(inside, key=lambda mount: len(mount[0]))[1] in _NETWORK


@contextlib.contextmanager
def in_words(path: Path) -> Iterator[None]:
    """SQLite's errors as sentences."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise IncenterError(_sentence(path, error)) from error


def _sentence(path: Path, error: sqlite3.DatabaseError) -> str:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return f"{path} cannot be written ({error}): make room on that disk; what was finished is kept."
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return f"{path} cannot be opened for writing: name a file in a folder that you may write to, with --store."
    if code == sqlite3.SQLITE_NOTADB:
        return f"{path} is not a store of runs: name another file with --store."
    if code == sqlite3.SQLITE_CORRUPT:
        return (
            f"{path} is damaged ({error}): `incenter study export FOLDER` saves every run that can still be read, and "
            "`incenter study import FOLDER` puts them into a new store."
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"{path} has been in use by another process for {PATIENCE:g} seconds: end that process, or wait for it."
    return f"{path} cannot be used: {error}."
