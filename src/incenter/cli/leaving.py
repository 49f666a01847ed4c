"""Ctrl-C while modules are being loaded, which takes seconds where JAX is among them.

An exception would go through compiled code that does not expect one there: Python may crash, or print a page of
what was being loaded. Nothing is at work yet that has to be saved, so the process ends at once.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

INTERRUPTED = 130  # exit code, as shells have it
SENTENCE = "incenter: interrupted."
_LOADING = "<frozen importlib._bootstrap>"


@contextlib.contextmanager
def leaving_at_once() -> Iterator[None]:
    """A context in which Ctrl-C ends the process while it loads modules; otherwise it is a KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(_: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename == _LOADING:
            os.write(2, f"{SENTENCE}\n".encode())
            os._exit(INTERRUPTED)
        frame = frame.f_back
    raise KeyboardInterrupt
