"""One whole training step, side by side: ours, eager PyTorch, DeepXDE, jinns, and the floor of the matrix products.

python -m benchmarks.step [--problems burgers,heat] [--only "ours, Adam" ...] [--rounds N] [--json FILE]
                          [--write docs/performance.md]

A step is everything: points, losses, their gradients, the direction, Adam. Each contender has a process of its own,
pinned to one core which all share, with one thread; they take turns, block by block, and the block of least processor
time counts. Before that all compute the losses at the same parameters and points, which must agree.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from benchmarks.step_contenders import ENTRIES, Entry
from benchmarks.step_problems import NAMES
from benchmarks.step_report import Measured, Results, report
from benchmarks.step_worker import LostError, Taken, Worker
from benchmarks.timing import write_section

BLOCK = 0.4  # seconds of one contender's turn, about
MOST_STEPS = 1000


def main() -> int:
    options = _parser().parse_args()
    problems = options.problems.split(",")
    results: Results = {}
    for problem in problems:
        results[problem] = measure(problem, options.only or list(ENTRIES), options.rounds, options.core)
    text = report(results, options.rounds)
    print(text)
    if options.json:
        options.json.write_text(json.dumps({p: {n: asdict(m) for n, m in r.items()} for p, r in results.items()}))
    if options.write:
        write_section(options.write, "step", text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Time a whole training step beside the named rivals.")
    parser.add_argument("--problems", default=",".join(NAMES), help="comma-separated")
    parser.add_argument("--only", nargs="+", choices=list(ENTRIES), metavar="CONTENDER", help=", ".join(ENTRIES))
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--core", type=int, default=last_core(), help="which all contenders are pinned to")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    parser.add_argument("--write", type=Path, help="a page whose section `step` is replaced")
    return parser


def last_core() -> int:
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0


def measure(
    problem: str, names: list[str], rounds: int, core: int, entries: Mapping[str, Entry] = ENTRIES
) -> dict[str, Measured]:
    """All contenders on one problem, in turns."""
    found = {name: Measured() for name in names}
    with ExitStack() as stack:
        workers = {}
        for name in names:
            print(f"{problem}: {name}", file=sys.stderr)
            with _noted(found[name]):
                workers[name] = Worker(entries[name], problem, core)
                stack.callback(workers[name].close)
                found[name].first, found[name].setting = workers[name].first, workers[name].setting
        blocks = {}
        for name, worker in _present(workers, found):
            with _noted(found[name]):
                blocks[name] = _steps_of_a_block(worker)
        for _ in range(rounds):
            for name, worker in _present(workers, found):
                with _noted(found[name]):
                    found[name].best = _better(found[name].best, worker.steps(blocks[name]))
        for name, worker in _present(workers, found):
            with _noted(found[name]):
                found[name].losses = worker.losses()
    return found


def _present(workers: dict[str, Worker], found: dict[str, Measured]) -> list[tuple[str, Worker]]:
    return [(name, worker) for name, worker in workers.items() if not found[name].reason]


def _steps_of_a_block(worker: Worker) -> int:
    """So many steps that a block takes about BLOCK seconds; whatever they need compiled is compiled here."""
    one = min(worker.steps(1).processor for _ in range(3))
    count = round(min(MOST_STEPS, max(1, BLOCK / max(one, BLOCK / MOST_STEPS))))
    worker.prepare(count)
    return count


def _better(best: Taken | None, taken: Taken) -> Taken:
    return taken if best is None or taken.processor < best.processor else best


@contextmanager
def _noted(measured: Measured) -> Iterator[None]:
    """A contender that is lost is a dash with a reason; the others go on."""
    try:
        yield
    except LostError as reason:
        measured.reason = str(reason)


if __name__ == "__main__":
    sys.exit(main())
