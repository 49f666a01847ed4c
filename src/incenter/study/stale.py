"""Which of the running runs have nobody any more who works on them.

The worker's process is gone from this machine; or, where that cannot be known, there was no sign of life for some time.
Clocks of two machines differ, so of a worker elsewhere only the count of its signs is believed: it must not have moved
while this process watched for so long.
"""

import time
from collections.abc import Iterable
from typing import NamedTuple

from incenter.study.identity import is_dead, is_elsewhere


class Running(NamedTuple):
    """A run that a worker holds."""

    key: str
    worker: str
    attempt: int
    beats: int  # signs of life so far
    beat: float  # time of the latest, by the clock of the worker


class Watch:
    """What this process saw of the workers of others."""

    def __init__(self) -> None:
        self._since: dict[tuple[str, int, int], float] = {}  # when this count of signs was first seen

    def stale(self, running: Iterable[Running], older_than: float | None) -> list[str]:
        """The keys of the runs whose workers are certainly dead, or silent for longer than `older_than` seconds."""
        now = time.monotonic()
        running = list(running)
        counts = {run.key: (run.key, run.attempt, run.beats) for run in running}
        self._since = {count: self._since.get(count, now) for count in counts.values()}
        return [
            run.key
            for run in running
            if is_dead(run.worker)
            or (older_than is not None and self._silent(run, now - self._since[counts[run.key]]) >= older_than)
        ]

    @staticmethod
    def _silent(run: Running, watched: float) -> float:
        """For how many seconds."""
        return watched if is_elsewhere(run.worker) else max(watched, time.time() - run.beat)
