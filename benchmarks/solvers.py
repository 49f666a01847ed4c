"""The Chebyshev center beside QP solvers and TorchJD, every one from gradients to direction, on one thread.

python -m benchmarks.solvers [--rows 2,3,10] [--json FILE] [--write docs/performance.md]
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import benchmarks.one_thread  # noqa: F401  before NumPy reads the environment

# isort: split
import numpy as np
import torch

import incenter
from benchmarks.contenders import QP_SOLVERS, SETTINGS, TORCHJD, RefusedError, Solver, direction_by
from benchmarks.timing import (
    Call,
    TooSlowError,
    duration,
    interleaved,
    limit,
    machine,
    once,
    table,
    write_section,
)
from incenter.geometry.arrays import Matrix

PACKAGES = ("numpy", "scipy", "quadprog", "clarabel", "osqp", "highspy", "torch", "torchjd")
OURS = "incenter"
COLUMNS = 1000
PATIENCE = 60.0  # seconds that a contender may take for one call
MATRICES = 5  # for the comparison of answers; 1 where m is large

Times = dict[int, dict[str, float]]
Remarks = dict[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the Chebyshev center beside QP solvers and TorchJD.")
    parser.add_argument("--rows", default="2,3,10,100,1000")
    parser.add_argument("--seconds", type=float, default=4.0, help="of timing per number of rows")
    parser.add_argument("--json", type=Path, help="where the seconds per call go")
    parser.add_argument("--write", type=Path, help="a page whose section `solvers` is replaced")
    options = parser.parse_args()
    sizes = [int(size) for size in options.rows.split(",")]
    times, errors, remarks = measure(sizes, options.seconds)
    text = report(sizes, times, errors, remarks)
    print(text)
    if options.json:
        options.json.write_text(json.dumps({"seconds": times, "errors": errors, "remarks": remarks}, indent=2))
    if options.write:
        write_section(options.write, "solvers", text)


def measure(sizes: list[int], seconds: float) -> tuple[Times, Times, Remarks]:
    """Seconds per call and largest errors of the radius, by number of rows and contender."""
    times: Times = {}
    errors: Times = {}
    remarks: Remarks = {}
    for m in sizes:
        calls = {name: call for name, call in contenders(gradients(m, 0)).items() if probed(name, m, call, remarks)}
        times[m] = interleaved(calls, seconds)
        errors[m] = {name: worst_error(solve, name, m, remarks) for name, solve in QP_SOLVERS.items() if name in calls}
    return times, errors, remarks


def gradients(m: int, index: int) -> Matrix:
    """Independent Gaussian rows of lengths from 0.1 to 10."""
    random = np.random.default_rng([m, index])
    return random.standard_normal((m, COLUMNS)) * 10.0 ** random.uniform(-1, 1, (m, 1))


def contenders(G: Matrix) -> dict[str, Call]:
    """Each contender's whole way from `G`, ours with its certificate; TorchJD's start from a tensor."""
    jacobian = torch.from_numpy(G)

    def by_solver(solve: Solver) -> Call:
        return lambda: direction_by(solve, G)

    def by_aggregator(make: Callable[[], Callable[[torch.Tensor], object]]) -> Call:
        aggregator = make()
        return lambda: aggregator(jacobian)

    return (
        {OURS: lambda: incenter.chebyshev_center(G)}
        | {name: by_solver(solve) for name, solve in QP_SOLVERS.items()}
        | {name: by_aggregator(make) for name, make in TORCHJD.items()}
    )


def probed(name: str, m: int, call: Call, remarks: Remarks) -> bool:
    """Whether the contender answers at all, and in time; if not, that is a remark."""
    try:
        with limit(PATIENCE):
            once(call)
    except TooSlowError:
        remarks[f"{name}, m = {m}"] = f"stopped after {PATIENCE:.0f} s in its first call"
    except RefusedError as refusal:
        remarks[f"{name}, m = {m}"] = f"refused: {refusal}"
    else:
        return True
    return False


def worst_error(solve: Solver, name: str, m: int, remarks: Remarks) -> float:
    """Largest difference of its radius from ours, which is certified, over several matrices."""
    worst = 0.0
    for index in range(MATRICES if m <= 100 else 1):
        G = gradients(m, index)
        try:
            radius = direction_by(solve, G)[1]
        except RefusedError as refusal:
            remarks[f"{name}, m = {m}, matrix {index}"] = f"refused: {refusal}"
            continue
        worst = max(worst, abs(radius - float(incenter.chebyshev_center(G).radius)))
    return worst


def report(sizes: list[int], times: Times, errors: Times, remarks: Remarks) -> str:
    """All tables, the remarks, and what was wanted."""
    names = [OURS, *QP_SOLVERS, *TORCHJD]
    head = ["", *[f"m = {m}" for m in sizes]]
    timing = table(head, [[name, *[_cell(times[m].get(name), duration) for m in sizes]] for name in names])
    ratios = table(
        head, [[name, *[_cell(_ratio(times[m], name), "{:.3g}".format) for m in sizes]] for name in names[1:]]
    )
    answers = table(
        head, [[name, *[_cell(errors[m].get(name), "{:.0e}".format) for m in sizes]] for name in QP_SOLVERS]
    )
    own = table(head, [["certified gap", *[f"{incenter.chebyshev_center(gradients(m, 0)).gap:.0e}" for m in sizes]]])
    parts = [
        f"n = {COLUMNS:,}, float64, Gaussian gradients; {machine(*PACKAGES)}. {SETTINGS}.",
        f"Time of one call, from gradients to direction (incenter: with its certificate):\n\n{timing}",
        f"As a multiple of incenter's time:\n\n{ratios}",
        f"Largest error of the radius of those that solve the same problem, against incenter's:\n\n{answers}\n\n{own}",
        "\n".join(f"- {who}: {what}." for who, what in remarks.items()),
        "Wanted:\n\n" + "\n".join(f"- {line}" for line in wanted(times)),
    ]
    return "\n\n".join(part for part in parts if part)


def wanted(times: Times) -> list[str]:
    """What this library sets out to reach, and whether it did."""
    goals = [(3, name, 1.0, "faster than") for name in TORCHJD]
    goals += [(3, "UPGrad", 5.0, "at least 5 times faster than"), (100, "quadprog", 0.5, "at most 2 times")]
    goals += [(100, "UPGrad", 100.0, "at least 100 times faster than"), (1000, "quadprog", 1.0, "faster than")]
    lines = []
    for m, name, least, words in goals:
        ratio = _ratio(times.get(m, {}), name)
        met = "met" if ratio is not None and ratio >= least else "MISSED"
        verdict = "not measured" if ratio is None else f"{met} ({name} takes {ratio:.3g} times as long)"
        lines.append(f"m = {m}, {words} {name}: {verdict}")
    return lines


def _ratio(times: dict[str, float], name: str) -> float | None:
    return times[name] / times[OURS] if name in times and OURS in times else None


def _cell(value: float | None, show: Callable[[float], str]) -> str:
    return "-" if value is None else show(value)


if __name__ == "__main__":
    main()
