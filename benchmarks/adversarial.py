"""How often the Chebyshev centre is wrong on inputs made to break it: `python -m benchmarks.adversarial --count 20000`.

Every answer is judged in n dimensions, in extended precision, by code that shares nothing with the library. Wanted are
no wrong answer, no conflict, no NaN and no exception (a warning counts as one); the exit status says whether that was
met. `--only kind:index` shows one sample with its answer. A sample depends on (seed, index) alone, and memory does not
grow with the count.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import timing
from incenter import Status, chebyshev_center
from tests.matrices import SAMPLERS, Floats, Sample, draw
from tests.oracles import Bounds, bounds, solve, unit_rows

FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)
TOLERANCE = {FLOAT64: 1e-9, FLOAT32: 1e-5}  # of the gap and the radius: cosines, so absolute
CONFLICT_FROM = {FLOAT64: 1e-7, FLOAT32: 1e-3}  # radii from which no loss may increase
FEASIBLE = {FLOAT64: 1e-12, FLOAT32: 1e-6}  # distance from the simplex and from the unit sphere
CLAIM_ROUNDINGS = 4  # of the dtype by which a claimed gap may be below the true one
REDUCED_SHARE = 1e-3
CHUNK = 200  # samples per task: half a minute at worst, so both processes end together
KEPT = 10  # failures remembered per kind
SOLVED = (Status.OPTIMAL, Status.ZERO_ROW)
WITH_DIRECTION = (*SOLVED, Status.REDUCED)
ADMITTED = (Status.REDUCED, Status.ITER_LIMIT)  # the answer says itself that it is not what was asked for
# JAX compiles once per shape, which takes seconds. Zero columns and repeated rows change no radius, so these suffice.
JAX_ROWS = (0, 3, 16, 72, 256)
JAX_COLUMNS = (64, 1024, 10_240, 262_144)


class Answer(NamedTuple):
    """A `ChebyshevCenter` in NumPy."""

    direction: Floats
    weights: Floats
    radius: float
    gap: float
    dropped: NDArray[np.bool_]
    status: Status

    @property
    def is_finite(self) -> bool:
        parts = (self.direction, self.weights, self.radius, self.gap)
        return all(bool(np.all(np.isfinite(part))) for part in parts)


@dataclass(frozen=True)
class Verdict:
    """What extended precision says of one answer."""

    faults: tuple[str, ...] = ()
    conflict: bool = False
    gap: float = 0.0


@dataclass
class Tally:
    """The counts of one kind."""

    tried: int = 0
    wrong: int = 0
    conflicts: int = 0
    nan: int = 0
    exceptions: int = 0
    gap64: float = 0.0
    gap32: float = 0.0
    slowest: tuple[float, str] = (0.0, "")  # milliseconds, and of which sample
    statuses: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        for name in ("tried", "wrong", "conflicts", "nan", "exceptions"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("gap64", "gap32", "slowest"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))
        self.statuses.update(other.statuses)
        self.failures = (self.failures + other.failures)[:KEPT]


Report = dict[str, Tally]


# Judging one answer.


def judge(sample: Sample, answer: Answer) -> Verdict:
    """Compares a finite answer with what is true of the gradients as rounded to their dtype."""
    faults = list(_misplaced(sample, answer))
    if answer.status in (Status.NONFINITE, Status.EMPTY) or answer.dropped.all():
        if np.any(answer.direction) or answer.radius != 0:
            faults.append("a direction or a radius where there is none")
        return Verdict(tuple(faults))
    units = unit_rows(sample.gradients[~answer.dropped], sample.p)
    found = bounds(units, answer.weights[~answer.dropped], answer.direction, sample.p)
    faults += _infeasible(sample, answer, found)
    faults += _inaccurate(sample, answer, found)
    if answer.status is Status.STATIONARY:
        faults += _not_stationary(sample, units, found)
    conflict = answer.status in WITH_DIRECTION and found.least <= 0 and _descent_exists(sample, units, found)
    return Verdict(tuple(faults), conflict, found.gap)


def _misplaced(sample: Sample, answer: Answer) -> Iterator[str]:
    if answer.status not in sample.statuses and answer.status not in ADMITTED:
        yield f"status {answer.status.name}, expected {'|'.join(s.name for s in sorted(sample.statuses))}"
    rows = sample.gradients
    largest = np.max(np.abs(rows), axis=1, initial=0)
    must = ~np.all(np.isfinite(rows), axis=1) | (largest == 0)
    may = must | (largest < np.finfo(rows.dtype).smallest_normal)
    if np.any(must & ~answer.dropped) or np.any(answer.dropped & ~may):
        yield f"dropped rows {np.flatnonzero(answer.dropped).tolist()}, expected {np.flatnonzero(must).tolist()}"
    if np.any(answer.weights[answer.dropped]):
        yield "weight on a dropped row"


def _infeasible(sample: Sample, answer: Answer, found: Bounds) -> Iterator[str]:
    if found.off_simplex > FEASIBLE[sample.dtype]:
        yield f"weights {found.off_simplex:.1e} off the simplex"
    if answer.status in WITH_DIRECTION and found.off_unit > FEASIBLE[sample.dtype]:
        yield f"direction {found.off_unit:.1e} off the unit sphere"
    if answer.status is Status.STATIONARY and np.any(answer.direction):
        yield "a direction at a stationary point"


def _inaccurate(sample: Sample, answer: Answer, found: Bounds) -> Iterator[str]:
    tolerance = TOLERANCE[sample.dtype]
    if answer.status in SOLVED and found.gap > tolerance:
        yield f"true gap {found.gap:.1e} of an answer called {answer.status.name}"
    if found.gap - answer.gap > CLAIM_ROUNDINGS * np.finfo(sample.dtype).eps:
        yield f"claimed gap {answer.gap:.1e}, true gap {found.gap:.1e}"
    low, high = (found.lower, found.upper) if sample.radius is None else (sample.radius, sample.radius)
    off = max(low - answer.radius, answer.radius - high)
    if answer.status not in ADMITTED and off > tolerance:
        yield f"radius {answer.radius:.9g}, which is {off:.1e} off"


def _not_stationary(sample: Sample, units: Any, found: Bounds) -> Iterator[str]:
    if found.upper > TOLERANCE[sample.dtype]:
        true = _lower_bound(sample, units)
        if true > TOLERANCE[sample.dtype]:
            yield f"STATIONARY, but the radius is at least {true:.1e}"


def _descent_exists(sample: Sample, units: Any, found: Bounds) -> bool:
    least = CONFLICT_FROM[sample.dtype]
    return found.upper >= least and _lower_bound(sample, units) >= least


def _lower_bound(sample: Sample, units: Any) -> float:
    if sample.radius is not None:
        return sample.radius
    return bounds(units, *solve(units.astype(np.float64), sample.p), sample.p).lower


# Trying one sample.


def attempt(kind: str, seed: int, index: int, library: str) -> Tally:
    """A tally of one."""
    sample = sample_for(library, kind, seed, index)
    tally = Tally(tried=1)
    start = time.perf_counter()
    try:
        answer = SOLVERS[library](sample)
    except Exception as error:  # whatever it is, it is a finding
        tally.exceptions = 1
        tally.failures = [f"{kind}:{index} p={sample.p:g} {sample.dtype} {type(error).__name__}: {error}"]
        return tally
    tally.slowest = (1e3 * (time.perf_counter() - start), f"{kind}:{index}")
    tally.statuses[answer.status.name] += 1
    if not answer.is_finite:
        tally.nan = 1
        tally.failures = [f"{kind}:{index} p={sample.p:g} {sample.dtype} NaN in the answer"]
        return tally
    verdict = judge(sample, answer)
    _record(tally, sample, answer, verdict, f"{kind}:{index}")
    return tally


def _record(tally: Tally, sample: Sample, answer: Answer, verdict: Verdict, name: str) -> None:
    tally.wrong, tally.conflicts = int(bool(verdict.faults)), int(verdict.conflict)
    remarks = [*verdict.faults, *(["CONFLICT"] if verdict.conflict else [])]
    if answer.status in ADMITTED:
        remarks.append(f"{answer.status.name}, true gap {verdict.gap:.1e}")
    if remarks:
        shape = "x".join(map(str, sample.gradients.shape))
        tally.failures = [f"{name} p={sample.p:g} {sample.dtype} {shape}: {'; '.join(remarks)}"]
    if answer.status in SOLVED:
        tally.gap64 = verdict.gap if sample.dtype == FLOAT64 else 0.0
        tally.gap32 = verdict.gap if sample.dtype == FLOAT32 else 0.0


def sample_for(library: str, kind: str, seed: int, index: int) -> Sample:
    sample = draw(kind, seed, index)
    if library != "jax":
        return sample
    m, n = sample.gradients.shape
    more_rows = next(rows for rows in JAX_ROWS if rows >= m) - m
    more_columns = next(columns for columns in JAX_COLUMNS if columns >= n) - n
    repeated = np.pad(sample.gradients, ((0, more_rows), (0, 0)), mode="edge") if more_rows else sample.gradients
    return replace(sample, gradients=np.pad(repeated, ((0, 0), (0, more_columns))))


def _with_numpy(sample: Sample) -> Answer:
    return _solved(sample.gradients, sample.p)


def _with_jax(sample: Sample) -> Answer:
    import jax

    return _solved(jax.numpy.asarray(sample.gradients), sample.p)


def _with_torch(sample: Sample) -> Answer:
    import torch

    return _solved(torch.from_numpy(sample.gradients), sample.p)


def _solved(gradients: Any, p: float) -> Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        center = chebyshev_center(gradients, p)
    direction, weights, dropped = (np.asarray(part) for part in (center.direction, center.weights, center.dropped))
    return Answer(direction, weights, float(center.radius), float(center.gap), dropped, Status(int(center.status)))


SOLVERS: dict[str, Callable[[Sample], Answer]] = {"numpy": _with_numpy, "jax": _with_jax, "torch": _with_torch}


# Many of them.


def run_range(kinds: Sequence[str], seed: int, start: int, stop: int, library: str = "numpy") -> Report:
    """Samples start..stop-1 of the stream that goes through the kinds in turn."""
    report = {kind: Tally() for kind in kinds}
    for position in range(start, stop):
        kind = kinds[position % len(kinds)]
        report[kind].add(attempt(kind, seed, position, library))
    return report


def run(kinds: Sequence[str], seed: int, count: int, library: str, jobs: int) -> Report:
    """The first `count` samples, over `jobs` processes of one thread each."""
    total = {kind: Tally() for kind in kinds}
    tasks = [(kinds, seed, start, min(start + CHUNK, count), library) for start in range(0, count, CHUNK)]
    with multiprocessing.get_context("spawn").Pool(jobs, _one_thread, (library,)) as pool:
        for done, report in enumerate(pool.imap(_run_task, tasks), 1):
            for kind in kinds:
                total[kind].add(report[kind])
            print(f"\r{min(done * CHUNK, count)}/{count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return total


def _run_task(task: tuple[Sequence[str], int, int, int, str]) -> Report:
    return run_range(*task)


def _one_thread(library: str) -> None:
    if library == "torch":
        import torch

        torch.set_num_threads(1)


# Telling it.


def totals(report: Report) -> Tally:
    total = Tally()
    for tally in report.values():
        total.add(tally)
    return total


def shortfalls(total: Tally) -> list[str]:
    """What was wanted and not met, in words."""
    counts = {"wrong": total.wrong, "in conflict": total.conflicts, "NaN": total.nan, "exceptions": total.exceptions}
    found = [f"{count} {name}" for name, count in counts.items() if count]
    admitted = sum(total.statuses[status.name] for status in ADMITTED)
    if admitted >= max(REDUCED_SHARE * total.tried, 1):
        found.append(f"{admitted} of {total.tried} REDUCED or ITER_LIMIT (wanted: under 1 in {1 / REDUCED_SHARE:.0f})")
    for name, gap, dtype in (("float64", total.gap64, FLOAT64), ("float32", total.gap32, FLOAT32)):
        if gap > TOLERANCE[dtype]:
            found.append(f"worst {name} gap {gap:.1e}")
    return found


def table(report: Report) -> Iterator[str]:
    """One line per kind and one for all, within 120 columns; `ms` is the slowest solve."""
    names = "".join(f"{status.name[:6]:>7}" for status in Status)
    yield f"{'kind':20}{'tried':>8}{'wrong':>6}{'confl':>6}{'NaN':>4}{'exc':>5}{'gap64':>7}{'gap32':>7}{names}{'ms':>7}"
    for kind, tally in [*report.items(), ("all", totals(report))]:
        counts = "".join(f"{tally.statuses[status.name] or '':>7}" for status in Status)
        yield (
            f"{kind:20}{tally.tried:8}{tally.wrong:6}{tally.conflicts:6}{tally.nan:4}{tally.exceptions:5}"
            f"{tally.gap64:7.0e}{tally.gap32:7.0e}{counts}{tally.slowest[0]:7.0f}"
        )


def page(report: Report, options: argparse.Namespace) -> str:
    """The same as a section of a page."""
    head = ["kind", "tried", "wrong", "conflicts", "NaN", "exceptions", "gap, double", "gap, single", "not optimal"]
    rows = []
    for kind, tally in [*report.items(), ("all", totals(report))]:
        counts = [tally.tried, tally.wrong, tally.conflicts, tally.nan, tally.exceptions]
        admitted = ", ".join(f"{tally.statuses[s.name]} {s.name}" for s in ADMITTED if tally.statuses[s.name])
        gaps = [f"{tally.gap64:.0e}", f"{tally.gap32:.0e}"]
        rows.append([kind.replace("_", " "), *(f"{count:,}" for count in counts), *gaps, admitted or "0"])
    total = totals(report)
    found = shortfalls(total)
    return (
        f"{total.tried:,} samples ({options.library}, seed {options.seed}); {timing.machine('numpy', 'scipy')}.\n\n"
        f"{timing.table(head, rows)}\n\n"
        f"Where none was found, fewer than 1 in {total.tried / 3:,.0f} is the 95 % bound. "
        + (f"Not met: {', '.join(found)}." if found else "All that is wanted is met.")
    )


def show(kind: str, seed: int, index: int, library: str) -> None:
    """One sample with its answer and everything that is known of it."""
    np.set_printoptions(linewidth=120, threshold=60)
    sample = sample_for(library, kind, seed, index)
    print(f"{kind}:{index} seed {seed}, p={sample.p:g}, {sample.dtype}, shape {sample.gradients.shape}")
    print(f"expected: radius {sample.radius}, status {'|'.join(s.name for s in sorted(sample.statuses))}")
    print(sample.gradients)
    answer = SOLVERS[library](sample)
    print(f"answer: {answer.status.name}, radius {answer.radius:.17g}, gap {answer.gap:.3e}, weights {answer.weights}")
    live = sample.gradients[~answer.dropped]
    if live.size and answer.is_finite:
        units = unit_rows(live, sample.p)
        print(f"true bounds: {bounds(units, answer.weights[~answer.dropped], answer.direction, sample.p)}")
        print(f"oracle's:    {bounds(units, *solve(units.astype(np.float64), sample.p), sample.p)}")
        print(judge(sample, answer))


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    # Read by NumPy, SciPy and JAX when they are imported: by the children, which start afresh.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", NPROC="1", JAX_ENABLE_X64="1")
    if options.only:
        kind, index = options.only.split(":")
        show(kind, options.seed, int(index), options.library)
        return 0
    start = time.perf_counter()
    report = run(options.kinds, options.seed, options.count, options.library, options.jobs)
    seconds = time.perf_counter() - start
    return _conclude(report, options, seconds)


def _conclude(report: Report, options: argparse.Namespace, seconds: float) -> int:
    total = totals(report)
    print("\n".join(table(report)))
    for tally in report.values():
        print("".join(f"  {failure}\n" for failure in tally.failures), end="")
    print(
        f"{total.tried} tried in {seconds:.0f} s ({options.library}, seed {options.seed}); "
        f"the slowest solve took {total.slowest[0]:.0f} ms ({total.slowest[1]})."
    )
    print(
        f"Where none was found, fewer than 1 in {total.tried / 3:.0f} is the 95 % bound (3/N = {3 / total.tried:.1e})."
    )
    if options.json:
        with open(options.json, "w") as file:
            json.dump(
                {"seed": options.seed, "seconds": seconds} | {k: asdict(t) for k, t in report.items()}, file, indent=1
            )
    if options.write:
        timing.write_section(options.write, "adversarial", page(report, options))
    found = shortfalls(total)
    print(f"Not met: {', '.join(found)}." if found else "All wanted figures are met.")
    return 1 if found else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.adversarial", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", type=_kinds, default=tuple(SAMPLERS), help="comma-separated; all by default")
    parser.add_argument("--library", choices=SOLVERS, default="numpy")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", metavar="FILE", help="write the counts there as well")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="a page whose section `adversarial` is replaced")
    parser.add_argument("--only", metavar="KIND:INDEX", help="show one sample, its answer and what is wrong with it")
    return parser


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(text.split(","))
    unknown = [kind for kind in kinds if kind not in SAMPLERS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no kind {unknown[0]!r}; there are {', '.join(SAMPLERS)}")
    return kinds


if __name__ == "__main__":
    sys.exit(main())
