"""Waiting in tests ends: what does not come in time fails with a sentence, and is not waited for for ever."""

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

LIMIT = 120.0  # seconds; what is waited for takes some seconds on an idle machine


def wait_until(there: Callable[[], bool], what: str, seconds: float = LIMIT) -> None:
    """Look again and again until it is so."""
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, f"not after {seconds:g} seconds: {what}"
        time.sleep(0.02)


@contextlib.contextmanager
def ended_in_time(processes: Sequence["subprocess.Popen[Any]"], seconds: float = LIMIT) -> Iterator[None]:
    """Processes that leave with this context, and are killed where they are not through with their work in time.

    Whoever reads from one or waits for its end then goes on, and is told.
    """

    def end() -> None:
        for process in processes:
            process.kill()

    watch = threading.Timer(seconds, end)
    watch.start()
    try:
        yield
    finally:
        late = not watch.is_alive()
        watch.cancel()
        for process in processes:
            process.kill()
            process.communicate()
        assert not late, f"the processes were not through with their work after {seconds:g} seconds, and were killed"
