"""The tables of a store, and whether a file is one."""

import sqlite3
from pathlib import Path

from incenter.geometry.errors import IncenterError
from incenter.study.transactions import transaction

APPLICATION = 0x1C37E2  # in the header of the file: this is a store
VERSION = 1
_NETWORK = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "lustre", "gpfs", "beegfs", "glusterfs", "pvfs2",
    "fuse.sshfs",
}  # fmt: skip
_TABLES = (
    """CREATE TABLE runs (
        key TEXT PRIMARY KEY, configuration TEXT NOT NULL, timeout REAL, hash TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'waiting', worker TEXT, attempts INTEGER NOT NULL DEFAULT 0,
        step INTEGER, losses TEXT, latest REAL, beat REAL, beats INTEGER NOT NULL DEFAULT 0,
        started REAL, ended REAL, error TEXT)""",
    "CREATE INDEX runs_by_status ON runs (status)",
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


def prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables where there are none yet, and set what each connection has to set."""
    connection.execute("PRAGMA cell_size_check = ON")
    version = _version(connection, path)
    wanted = "delete" if on_network(path) else "wal"
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if version == 0 or (mode != wanted and mode != "off"):
        (mode,) = connection.execute(f"PRAGMA journal_mode = {wanted}").fetchone()
    # With WAL, a power cut can take back the latest commits, whose runs have their checkpoints; never more than that.
    connection.execute(f"PRAGMA synchronous = {'NORMAL' if mode == 'wal' else 'FULL'}")
    if version == 0:
        _make(connection)


def _version(connection: sqlite3.Connection, path: Path) -> int:
    """0 of an empty file; otherwise it is ours, and not from the future."""
    with transaction(connection, "BEGIN DEFERRED"):  # one state of the file: another process may be making it now
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION and (version or tables):
        raise IncenterError(f"{path} is a database of another program: name another file with --store.")
    if version > VERSION:
        raise IncenterError(
            f"{path} was written by a newer incenter (its version is {version}, this one reads {VERSION}): "
            "pip install --upgrade incenter."
        )
    return int(version)


def _make(connection: sqlite3.Connection) -> None:
    with transaction(connection, "BEGIN IMMEDIATE"):
        if connection.execute("PRAGMA user_version").fetchone()[0] == 0:  # nobody was faster
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")


def on_network(path: Path, table: Path = Path("/proc/mounts")) -> bool:
    """Whether `path` is on a file system of another machine, as far as the table of mounts tells."""
    try:
        mounts = [line.split() for line in table.read_text().splitlines()]
    except OSError:
        return False
    home = path.absolute().parent.resolve()
    inside = [(mount[1], mount[2]) for mount in mounts if home.is_relative_to(mount[1].replace("\\040", " "))]
    return bool(inside) and max(inside, key=lambda mount: len(mount[0]))[1] in _NETWORK
