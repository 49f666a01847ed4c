"""One SQLite file that several processes and threads use at once.

Readers never wait for writers (WAL), writers wait for each other (BEGIN IMMEDIATE with a busy timeout), and of two
processes that open a fresh file at the same moment one makes the tables. A process that was forked opens its own
connection. On a network file system, where WAL is not safe, a rollback journal is used instead. A file that may only be
read can be read.

A commit is in the -wal file, and outlives the process from then on. `settle` moves commits into the file itself, so
that a -wal that somebody deletes takes nothing with it.
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
from incenter.study.database_faults import PATIENCE, PRIMARY, in_words
from incenter.study.schema import prepare
from incenter.study.transactions import transaction

_ABANDONED: list[sqlite3.Connection] = []  # of the parent: SQLite forbids a forked child even to close them
_TRIES = 40  # to settle, while others read or settle
_PAUSE = 0.02  # seconds between tries
_GRACE = 2.0  # seconds in which a process that works on the store makes a transaction


class Database:
    """Connections to the file at `path`, made when they are first needed."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self._connection: sqlite3.Connection | None = None
        self.path = path
        self._create = create
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._wal: int | None = None  # the inode of the -wal that this connection writes to
        self._settling = threading.Lock()  # over the next two
        self._settler: threading.Thread | None = None
        self._unsettled = False

    def __del__(self) -> None:
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()  # of rows that were sent to this process, which have a store that nobody closes

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self.settled()
        if self._process == os.getpid():
            with self._lock:
                if self._connection is not None:
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

    def settle(self) -> None:
        """Begin to move what is committed into the file itself: it takes two syncs of the disk."""
        with self._settling:
            self._unsettled = True
            if self._settler is None:
                self._settler = threading.Thread(target=self._settle, name="settler", daemon=True)
                self._settler.start()

    def settled(self) -> None:
        """Wait until that is done, and no thread is left."""
        settler = self._settler
        if settler is not None and self._process == os.getpid():
            settler.join()

    def _settle(self) -> None:
        while True:
            with self._settling:
                if not self._unsettled:
                    self._settler = None
                    return
                self._unsettled = False
            _move_what_can_be_moved(self.path)

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        self._leave_parent()
        with self._lock, in_words(self.path):
            connection = self._connected()
            with transaction(connection, begin):
                yield connection

    def _connected(self) -> sqlite3.Connection:
        """A connection that is on the -wal which everybody else uses."""
        if self._connection is not None and self._wal != (now := _inode(self.path)):
            # Somebody deleted the -wal. The first to see it moves what is in the deleted one into the file itself.
            if now is None:
                _move_all(self._connection)
            self._connection.close()
            self._connection = None
        if self._connection is None:
            self._connection = _open(self.path, create=self._create)
            self._wal = _inode(self.path)
        return self._connection

    def _leave_parent(self) -> None:
        if self._process != os.getpid():
            if self._connection is not None:
                _ABANDONED.append(self._connection)
            self._lock, self._connection, self._process = threading.RLock(), None, os.getpid()
            self._settling, self._settler = threading.Lock(), None


def _inode(path: Path) -> int | None:
    """Of the -wal, None where there is none: with a rollback journal, or on a file that may only be read."""
    try:
        return os.stat(f"{path}-wal").st_ino
    except OSError:
        return None


def _open(path: Path, *, create: bool) -> sqlite3.Connection:
    """A connection to a store that has its tables."""
    if not create and not path.is_file():
        raise IncenterError(f"There is no store {path}: name it with --store, or make it with incenter study run.")
    deadline = time.monotonic() + PATIENCE
    _wait_for_wal(path)
    while True:
        try:
            return _connected(path, "mode=rwc")
        except sqlite3.OperationalError as error:
            code = PRIMARY & error.sqlite_errorcode
            if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) and _is_read_only(path):
                return _connected(path, "immutable=1")
            # Changing the journal mode does not wait for others, as everything else does.
            if code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)


def _is_read_only(path: Path) -> bool:
    """Whether this is a file in a folder where no -wal can be made: then nobody else can change it either."""
    return path.is_file() and not os.access(path.parent, os.W_OK)


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    connection = _connect(path, mode)
    try:
        prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    place = f"file:{quote(str(path.absolute()))}?{mode}"
    connection = sqlite3.connect(place, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    connection.text_factory = lambda text: text.decode(errors="replace")  # damaged text is found by its hash
    return connection


def _move_what_can_be_moved(path: Path) -> None:
    """Nobody waits for this, and nothing is lost where it fails: the next one does the same."""
    if _wal_is_gone(path):
        return
    with contextlib.suppress(sqlite3.Error), contextlib.closing(_connect(path, "mode=rw")) as connection:
        for _ in range(_TRIES):
            busy, frames, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if not busy and frames == moved:
                return
            time.sleep(_PAUSE)


def _wal_is_gone(path: Path) -> bool:
    """Whether somebody deleted the -wal alone: SQLite itself never leaves a -shm without it."""
    return Path(f"{path}-shm").exists() and not Path(f"{path}-wal").exists()


def _wait_for_wal(path: Path) -> None:
    """Let a process that has the deleted -wal open make good for it; nobody does where that process is dead."""
    deadline = time.monotonic() + _GRACE
    while _wal_is_gone(path) and time.monotonic() < deadline:
        time.sleep(_PAUSE)


def _move_all(connection: sqlite3.Connection) -> None:
    """Move all that is committed into the file, and wait for those who read or settle meanwhile."""
    for _ in range(_TRIES):
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not busy:
            return
        time.sleep(_PAUSE)
