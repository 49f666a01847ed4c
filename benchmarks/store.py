"""What the record of a study costs: committing a result, listing ten thousand runs, and making tables of them.

python -m benchmarks.store [--runs N] [--folder DIR]

A result has 500 records of three losses and two fields of 64 x 64 values. Beside it: what the same disk takes to write
as many bytes to a plain file and to sync them. A commit need not wait for that, because a run outlives a power cut in
its checkpoints; the store syncs soon after, while the worker goes on.
"""

import argparse
import dataclasses
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from incenter.study.packing import pack
from incenter.study.rows import Outcome, Planned
from incenter.study.selection import chosen
from incenter.study.store import Store

COMMITS = 200
_PROBLEMS = ("helmholtz", "kovasznay", "burgers", "heat", "klein_gordon")
_METHODS = ("sum", "lra", "relobralo", "mgda", "pcgrad", "imtl_g", "dcgd_center", "config", "harmonic", "chebyshev")


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the store of a study.")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="on the disk to measure; a temporary one if not given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        measure(Path(folder), options.runs)
    return 0


def measure(folder: Path, count: int) -> None:
    result = made_up()
    size = len(pack(result.history)) + len(pack(result.fields))
    synced = middle(lambda: _write(folder / "plain", size), 30)
    with Store(folder / "study.sqlite") as store:
        planned = [Planned(f"{seed:016x}", _configuration(seed), None) for seed in range(count)]
        store.add("study", planned)
        claims = iter([claim for _ in range(COMMITS) if (claim := store.claim("study", "worker"))])
        committed = middle(lambda: _finish(store, next(claims).key, result), COMMITS)
        for each in planned[COMMITS:]:
            store.enter(each, result)
        start = time.perf_counter()
        rows = store.rows("study")
        listed = time.perf_counter() - start
        assert len(rows) == count
        made = chosen(rows, None, None)
        texts = [text for each in made for text in (each.markdown(), each.latex(), each.csv())]
        tabulated = time.perf_counter() - start
        assert all(texts)
    print(f"a result of {size / 1e3:.0f} kB: committed in {1e3 * committed:.2f} ms (median of {COMMITS})")
    print(f"  the same bytes in a plain file, synced: {1e3 * synced:.2f} ms, {synced / committed:.1f} times as long")
    print(
        f"{count:,} runs with results: listed in {listed:.2f} s, {1e6 * listed / count:.0f} us a run; listed and made"
    )
    print(f"  into {len(made)} tables, paired tests among them, as Markdown, LaTeX and CSV, in {tabulated:.2f} s")


def made_up() -> Outcome:
    draw = np.random.default_rng(0)
    history = {name: draw.random((500, 3)) for name in ("losses", "weights", "norms")} | {"step": np.arange(500)}
    fields = {name: draw.random((64, 64)).astype(np.float32) for name in ("u", "reference/u")}
    summary = {"relative_l2": 0.1, "seconds": 1.0, "steps": 500, "stopped": "steps"}
    return dataclasses.replace(Outcome(summary, history, "0" * 64, fields), started=0.0, ended=1.0)


def middle(call: Callable[[], object], count: int = COMMITS) -> float:
    """The median of the seconds that one call takes, by the clock: most of it is waiting for the disk."""
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def _finish(store: Store, key: str, result: Outcome) -> None:
    assert store.finish(key, "worker", result)


def _write(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.write(bytes(size))
        file.flush()
        os.fsync(file.fileno())


def _configuration(number: int) -> dict[str, object]:
    """Of the run with this number: five problems, ten methods, and so many seeds as it takes."""
    rest, problem = divmod(number, len(_PROBLEMS))
    seed, method = divmod(rest, len(_METHODS))
    return {
        "problem": _PROBLEMS[problem], "problem_options": {}, "method": _METHODS[method], "method_options": {},
        "p": 2.0, "lr": 1e-3, "optimizer": "adam", "optimizer_options": {}, "steps": 50_000, "seed": seed,
        "precision": 32,
    }  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
