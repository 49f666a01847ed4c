"""Where a run takes place: on one thread, on which machine, at which state of the sources."""

import contextlib
import os
import platform
import subprocess
from collections.abc import Iterator
from pathlib import Path

# What the libraries below a run size their pools of threads by. They read it when they are loaded, so it has to be
# there before a worker process starts; XLA listens to NPROC alone.
ONE_THREAD = dict.fromkeys(
    [
        "NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
    ],
    "1",
)  # fmt: skip


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Processes that are started inside compute on one thread each."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def machine() -> str:
    """The host and its processor."""
    return f"{platform.node() or 'unknown'} ({_processor()})"


def commit() -> str | None:
    """The commit of the sources with a mark where they were changed since; None where they are not in git."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    home = Path(__file__).parent
    try:
        found = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=10, check=False)
        inside = subprocess.run(
            ["git", "ls-files", "--error-unmatch", Path(__file__).name], cwd=home, capture_output=True, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() if found.returncode == 0 and inside.returncode == 0 else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
