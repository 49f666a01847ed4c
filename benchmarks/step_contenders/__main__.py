"""One contender in a process of its own, on one core, at the orders of `benchmarks.step`.

python -m benchmarks.step_contenders MODULE PROBLEM VARIANT CORE

A line in, a line of JSON out: `build` imports (not counted), builds and makes the first step; `prepare K`; `run K`
makes K steps; `losses`. What the libraries print goes to the other stream.
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from benchmarks.step_contenders.protocol import Contender


def serve(module: str, problem: str, variant: str, orders: TextIO, answers: TextIO) -> None:
    contender: Contender | None = None
    for line in orders:
        order, *rest = line.split()
        try:
            if order == "build":
                contender, answer = _built(module, problem, variant)
            else:
                assert contender is not None
                answer = _obey(contender, order, [int(word) for word in rest])
        except Exception as error:  # whatever a library raises is told, and the others go on
            answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}
        print(json.dumps(answer), file=answers, flush=True)


def _built(module: str, problem: str, variant: str) -> tuple[Contender, dict[str, Any]]:
    build = importlib.import_module(f"benchmarks.step_contenders.{module}").build
    made: list[Contender] = []

    def first_step() -> None:
        made.append(build(problem, variant))
        made[0].run(1)

    answer: dict[str, Any] = _timed(first_step)
    return made[0], answer | {"setting": made[0].setting}


def _obey(contender: Contender, order: str, steps: list[int]) -> dict[str, Any]:
    if order == "run":
        return _timed(lambda: contender.run(*steps))
    if order == "prepare":
        contender.prepare(*steps)
        return {}
    return {"losses": contender.losses()}


def _timed(call: Callable[[], None]) -> dict[str, float]:
    wall, processor = time.perf_counter(), time.process_time()
    call()
    return {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}


def main() -> None:
    module, problem, variant, core = sys.argv[1:]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(module, problem, variant, sys.stdin, answers)


if __name__ == "__main__":
    main()
