"""What watches over one run inside its worker: signs of life to the store, the time limit, and traces of a crash.

A run that goes on too long is stopped between two steps. One that does not come back from a step is ended together with
its process: first by a thread of this module, and where not even that gets its turn, by the interpreter's own
watchdog, which writes where the run was into a file. So does a crash in compiled code.
"""

import contextlib
import faulthandler
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from incenter.geometry.errors import IncenterError
from incenter.study.rows import Claim
from incenter.study.store import Store

BEAT = 1.0  # seconds from one sign of life to the next
GRACE = 5.0  # seconds that a run past its limit has to end by itself
CRASH_FILE = "crash.txt"


class Overdue(Exception):
    """The run is past its limit."""


class Lost(Exception):
    """The run is not this worker's any more."""


class Watchdog:
    """A context around one claimed run; `seen` is called between its steps."""

    def __init__(self, store: Store, claim: Claim, folder: Path) -> None:
        self._store, self._claim, self._folder = store, claim, folder
        self._began = time.monotonic()
        self._latest: tuple[int, tuple[float, ...], float | None] = (0, (), None)
        self._lost = False
        self._ended = threading.Event()
        self._main = threading.get_ident()
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._crash: IO[Any] | None = None
        self._elsewhere = False  # whether crashes of this process were written down before

    def __enter__(self) -> "Watchdog":
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._crash = (self._folder / CRASH_FILE).open("w")
            self._elsewhere = faulthandler.is_enabled()
            faulthandler.enable(self._crash)
            if (limit := self._claim.timeout_seconds) is not None:
                faulthandler.dump_traceback_later(limit + 2 * GRACE, exit=True, file=self._crash)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        faulthandler.cancel_dump_traceback_later()
        if self._crash is not None:
            faulthandler.enable() if self._elsewhere else faulthandler.disable()
            self._crash.close()
            (self._folder / CRASH_FILE).unlink(missing_ok=True)

    def seen(self, step: int, losses: tuple[float, ...], error: float | None) -> None:
        """Note the progress; raises where the run must not go on."""
        self._latest = (step, losses, error)
        if self._lost:
            raise Lost
        self.check_limit()

    def check_limit(self) -> None:
        """Raises where the run is past its limit."""
        if self._over() > 0:
            raise Overdue(self._sentence())

    def _over(self) -> float:
        """Seconds past the limit."""
        limit = self._claim.timeout_seconds
        return -1.0 if limit is None else time.monotonic() - self._began - limit

    def _sentence(self) -> str:
        return (
            f"It was stopped at step {self._latest[0]:,} because it ran longer than its limit of "
            f"{self._claim.timeout_seconds:g} seconds: run the study again to go on from its checkpoint, or raise "
            "timeout_seconds in the plan."
        )

    def _watch(self) -> None:
        due = self._began + BEAT
        while not self._ended.wait(min(BEAT, max(0.05, due - time.monotonic()))):
            if self._over() > GRACE:
                self._end_the_process()
            if time.monotonic() >= due:
                due = time.monotonic() + BEAT
                # A sign of life that cannot be written now is written next time; what matters says so itself.
                with contextlib.suppress(IncenterError):
                    self._lost = not self._store.beat(self._claim.key, self._claim.worker, *self._latest)

    def _end_the_process(self) -> None:
        frame = sys._current_frames().get(self._main)
        where = "".join(traceback.format_stack(frame))
        with contextlib.suppress(IncenterError):
            self._store.fail(self._claim.key, self._claim.worker, f"{self._sentence()}\nIt hung here:\n{where}")
        os._exit(1)
