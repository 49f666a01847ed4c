"""Contenders in processes of their own, one core for all of them, and never two at work at once."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.step_contenders import Entry
from benchmarks.timing import TooSlowError, limit

ONE_THREAD = dict.fromkeys(
    ("NPROC", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
PATIENCE = 300.0  # seconds for one order; compiling jinns' inverse problem takes most
_ENDING = 10.0


class LostError(Exception):
    """A contender that cannot take part, or not any more; the sentence says why."""


@dataclass(frozen=True)
class Taken:
    """Seconds of a block of steps, per step."""

    wall: float
    processor: float


class Worker:
    """The process of one contender on one problem."""

    def __init__(self, entry: Entry, problem: str, core: int) -> None:
        absent = [package for package in entry.packages if importlib.util.find_spec(package) is None]
        if absent:
            raise LostError(f"{' and '.join(absent)} not installed; pip install 'incenter[dev,rivals]'")
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.step_contenders", entry.module, problem, entry.variant, str(core)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            cwd=Path(__file__).parent.parent,
            env=os.environ | ONE_THREAD | {"JAX_PLATFORMS": "cpu"} | entry.environment,
        )
        try:
            answer = self._ask("build")
        except LostError:
            self.close()
            raise
        self.first = Taken(answer["wall"], answer["processor"])
        self.setting: str = answer["setting"]

    def steps(self, count: int) -> Taken:
        """A block of steps."""
        answer = self._ask(f"run {count}")
        return Taken(answer["wall"] / count, answer["processor"] / count)

    def prepare(self, count: int) -> None:
        self._ask(f"prepare {count}")

    def losses(self) -> dict[str, float]:
        losses: dict[str, float] = self._ask("losses")["losses"]
        return losses

    def close(self) -> None:
        """The process ends with its orders; one that does not is killed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(_ENDING)
        except (subprocess.TimeoutExpired, OSError):
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()

    def _ask(self, order: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            with limit(PATIENCE):
                print(order, file=self._process.stdin, flush=True)
                line = self._process.stdout.readline()
        except TooSlowError:
            self._process.kill()
            raise LostError(f"stopped after {PATIENCE:.0f} s of {order!r}") from None
        except OSError:
            line = ""
        if not line:
            raise LostError(f"its process ended: {self._last_words()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise LostError(answer["error"])
        return answer

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = [line.strip() for line in self._errors.read().splitlines() if line.strip()]
        return lines[-1][:200] if lines else f"exit status {self._process.wait()}"
