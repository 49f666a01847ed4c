"""Where runs are executed: lanes, each of which takes one run at a time.

By default a lane is a worker process of its own, in an executor of its own: what kills it concerns one run, and seeds
of one problem that follow each other find their program compiled. Any other `concurrent.futures.Executor` is as many
lanes as it has workers.
"""

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any, Protocol

from incenter.geometry.errors import IncenterError
from incenter.study.worker import Ended, Task, begin

Work = Callable[[Task], Ended]
_OF_MEMORY = ("SIGKILL", "SIGABRT")  # by the system, and by compiled code that cannot get any
_SPAWN = multiprocessing.get_context("spawn")  # JAX does not outlive a fork


class Lane(Protocol):
    """One run at a time."""

    def submit(self, work: Work, task: Task) -> "Future[Ended]":
        """Begin a run."""

    def mend(self) -> str:
        """Make the lane usable again after its worker has died; of what it died."""

    def interrupt(self) -> bool:
        """Ask the run to save itself and stop; False where runs cannot be asked."""

    def close(self, *, kill: bool) -> None:
        """End the worker, until there is another run; `kill` where it is not to be waited for."""


class Process:
    """A lane that is a process on this machine. It is started with the first run."""

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None
        self._process: Any = None

    def submit(self, work: Work, task: Task) -> "Future[Ended]":
        if self._executor is not None:
            try:
                return self._executor.submit(work, task)
            except BrokenExecutor:  # the worker died while it had nothing to do
                self.close(kill=True)
        before = set(multiprocessing.active_children())
        self._executor = ProcessPoolExecutor(1, mp_context=_SPAWN, initializer=begin)
        future = self._executor.submit(work, task)
        self._process = next(iter(set(multiprocessing.active_children()) - before), None)
        return future

    def mend(self) -> str:
        process = self._process
        if process is not None:
            process.join(1.0)
        self.close(kill=True)  # the executor fetches the exit code too, and only then is it certainly there
        return _in_words(None if process is None else process.exitcode)

    def interrupt(self) -> bool:
        if self._process is not None and self._process.is_alive():
            self._process.terminate()
        return True

    def close(self, *, kill: bool) -> None:
        if self._executor is None:
            return
        if kill and self._process is not None and self._process.is_alive():
            self._process.kill()
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._executor = self._process = None


class Foreign:
    """A lane that is a share of somebody's executor, which stays theirs."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, work: Work, task: Task) -> "Future[Ended]":
        try:
            return self._executor.submit(work, task)
        except Exception as error:
            raise IncenterError(
                f"The executor takes no more runs ({type(error).__name__}): start it again, and then the study, which "
                "goes on where it was."
            ) from error

    def mend(self) -> str:
        return "it was lost"

    def interrupt(self) -> bool:
        return False

    def close(self, *, kill: bool) -> None:
        pass


def processes(jobs: int) -> list[Lane]:
    """So many worker processes on this machine."""
    if jobs < 1:
        raise IncenterError(f"`--jobs` must be 1 or more; got {jobs}.")
    return [Process() for _ in range(jobs)]


def shares(executor: Executor, workers: int) -> list[Lane]:
    """An executor that has so many workers."""
    return [Foreign(executor) for _ in range(workers)]


@contextlib.contextmanager
def dask(address: str) -> Iterator[list[Lane]]:
    """The workers of the Dask scheduler at an address such as tcp://10.0.0.1:8786, as long as they are needed."""
    try:
        from distributed import Client
    except ImportError:
        raise IncenterError("`--dask` needs Dask, which is not installed: pip install 'incenter[cluster]'") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise IncenterError(
            f"No Dask scheduler answers at {address} ({type(error).__name__}): start one, and give the address that it "
            "prints."
        ) from error
    with client:
        threads = client.nthreads()
        if not threads:
            raise IncenterError(f"The Dask scheduler at {address} has no workers: start some, dask worker {address}.")
        if any(count != 1 for count in threads.values()):
            raise IncenterError(
                f"The Dask workers at {address} have several threads each, and a run takes one: start them with "
                "--nthreads 1, and as many as there are processors with --nworkers."
            )
        yield shares(client.get_executor(pure=False), len(threads))


def _in_words(code: int | None) -> str:
    if code is None or code == 0:
        return "it ended without a word"
    if code > 0:
        return f"it ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"it was ended by {name}" + (", perhaps for want of memory" if name in _OF_MEMORY else "")
