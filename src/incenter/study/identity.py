"""Names of workers: unique for ever, readable, and enough to tell on the same machine that a worker is dead.

    node7-3fa9c1:4242:881734:b27e09c1       host and its boot, process, its start, and a random part

The boot and the space of process numbers are in the name, because host names and process numbers come again: in the
next container both may be the same.
"""

import hashlib
import os
import secrets
import socket
from functools import cache
from pathlib import Path


def new_worker() -> str:
    """A name for a worker of this process; every call gives another."""
    return f"{this_machine()}:{os.getpid()}:{_start(os.getpid())}:{secrets.token_hex(4)}"


def is_elsewhere(worker: str) -> bool:
    """Whether this is a worker on another machine, or from before this one was started."""
    return worker.count(":") == 3 and worker.partition(":")[0] != this_machine()


def is_dead(worker: str) -> bool:
    """Whether a worker has certainly ended; False for what cannot be known from here."""
    parts = worker.split(":")
    if os.name != "posix" or len(parts) != 4 or parts[0] != this_machine() or not parts[1].isdecimal():
        return False
    process = int(parts[1])
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _start(process) != parts[2] or _is_zombie(process)


@cache
def this_machine() -> str:
    """The host with a mark that changes when it is started anew."""
    host = socket.gethostname().replace(":", "-") or "localhost"
    marks = [_text("/proc/sys/kernel/random/boot_id"), _link("/proc/self/ns/pid"), host]
    return f"{host}-{hashlib.sha256(' '.join(marks).encode()).hexdigest()[:6]}"


def _start(process: int) -> str:
    """When a process started, in the system's own ticks; 0 where the system does not tell."""
    fields = _stat(process)
    return fields[19] if len(fields) > 19 else "0"


def _is_zombie(process: int) -> bool:
    """Ended, and only not yet fetched by its parent."""
    return _stat(process)[:1] == ["Z"]


def _stat(process: int) -> list[str]:
    """What follows the name, which may hold anything, in /proc/PID/stat."""
    return _text(f"/proc/{process}/stat").rpartition(")")[2].split()


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""
