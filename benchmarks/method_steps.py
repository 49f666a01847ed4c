"""One whole training step with every method of the paper's tables, side by side, on one core.

python -m benchmarks.method_steps [--problems burgers,heat] [--rounds N] [--write results/costs.json]

Every method has a process of its own, pinned to one core which all share; they take turns, block by block, and the
block of least processor time counts (`benchmarks.step` has the machinery). Rules are those of the plan paper-forward.
Seconds of a whole training are this times the paper's number of steps.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.step import last_core, measure
from benchmarks.step_contenders import Entry
from benchmarks.step_problems import NAMES
from benchmarks.step_report import PACKAGES, Measured
from benchmarks.timing import machine, table
from incenter.study import plans
from incenter.study.layout import method_title
from incenter.study.surroundings import commit

PLAN = "paper-forward"
_NEEDED = ("jax", "equinox", "optax")


def main() -> int:
    options = _parser().parse_args()
    entries = {name: Entry("ours", rule, _NEEDED) for name, rule in rules().items()}
    found = {p: measure(p, list(entries), options.rounds, options.core, entries) for p in options.problems.split(",")}
    print(report(found))
    if options.write:
        options.write.parent.mkdir(parents=True, exist_ok=True)
        options.write.write_text(json.dumps(content(found, options.rounds), indent=1) + "\n", encoding="utf-8")
    return 0


def rules() -> dict[str, str]:
    """The methods of the plan, each with its fields as they are typed."""
    methods = plans.load(PLAN).grids[0].methods
    return {each.name: " ".join([each.name, *(f"{k}={v}" for k, v in each.options.items())]) for each in methods}


def report(found: dict[str, dict[str, Measured]]) -> str:
    """Milliseconds of a step, and what is missing."""
    names = next(iter(found.values()))
    rows = [[method_title(name), *[_cell(measured[name]) for measured in found.values()]] for name in names]
    missing = [f"- {name}, {p}: {one.reason}" for p, m in found.items() for name, one in m.items() if one.reason]
    return "\n\n".join(filter(None, [table(["ms per step", *found], rows), "\n".join(missing)]))


def content(found: dict[str, dict[str, Measured]], rounds: int) -> dict[str, Any]:
    """What the file holds; processor and wall time of a step in milliseconds."""
    steps = {
        problem: {
            name: {"processor": round(1e3 * one.best.processor, 4), "wall": round(1e3 * one.best.wall, 4)}
            for name, one in measured.items()
            if one.best is not None and not one.reason
        }
        for problem, measured in found.items()
    }
    about = {"machine": machine(*PACKAGES[:4]), "commit": commit(), "rounds": rounds, "unit": "ms per step"}
    return about | {"steps": steps}


def _cell(one: Measured) -> str:
    return "-" if one.best is None or one.reason else f"{1e3 * one.best.processor:.3g}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Time a whole training step with every method of the paper's tables.")
    parser.add_argument("--problems", default=",".join(NAMES), help="comma-separated")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--core", type=int, default=last_core(), help="which all methods are pinned to")
    parser.add_argument("--write", type=Path, help="a file for the numbers")
    return parser


if __name__ == "__main__":
    sys.exit(main())
