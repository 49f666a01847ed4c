"""One process at a time writes into a folder.

The system lets go of the lock with its process, however that ends: no lock is ever left behind, only its file. Where a
file system knows no locks, nothing is told apart and everything else works.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from incenter.geometry.errors import IncenterError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

FILE = "lock"
_PATIENCE = 5.0  # seconds: a worker whose run was given to another stops within one or two
_PAUSE = 0.1  # seconds between two tries


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """A context in which no other process, and nothing else in this one, is in it for the same folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / FILE).open("a+")  # network file systems lock only what may be written to
    except OSError as error:
        raise IncenterError(f"{folder} cannot be written to ({error.strerror}): give another folder.") from error
    with file:
        if not _taken(file.fileno()):
            file.seek(0)
            raise IncenterError(
                f"Another run is being written into {folder}{_by(file.read())}: wait for its end, or give another "
                "folder."
            )
        with contextlib.suppress(OSError):  # on a full disk it is only not told who it is
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
        yield


def _taken(descriptor: int) -> bool:
    """Whether the lock is ours; True also where there are no locks."""
    deadline = time.monotonic() + _PATIENCE
    while fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE)
        except OSError:
            return True
        else:
            return True
    return True


def _by(text: str) -> str:
    return f" by process {text.strip()}" if text.strip() else ""
