"""One call of every rule, side by side: `python -m benchmarks.rules [--write docs/performance.md]`.

NumPy arrays in double precision, rules at their defaults, with losses, a key and traces for those that ask. A rule with
memory is given the state of its step before, so that starting costs nobody anything.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import Call, duration, interleaved, machine, table, write_section
from incenter.methods import by_name, names

SIZES = ((3, 1_000), (8, 1_000), (3, 100_000))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10, help="per column of the table")
    parser.add_argument("--write", type=Path, help="a page whose section `rules` is replaced")
    options = parser.parse_args()
    text = report(options.seconds)
    print(text)
    if options.write:
        write_section(options.write, "rules", text)


def report(seconds: float) -> str:
    """The table, a row for each rule."""
    best = [interleaved({name: call(name, m, n) for name in names()}, seconds) for m, n in SIZES]
    rows = [[name, *(duration(column[name]) for column in best)] for name in names()]
    return f"{machine('numpy', 'scipy')}.\n\n{table(['rule', *(f'{m} x {n:,}' for m, n in SIZES)], rows)}"


def call(name: str, m: int, n: int) -> Call:
    """A step of the rule in the middle of training, on Gaussian gradients that share a direction."""
    rng = np.random.default_rng(m)
    G = rng.standard_normal((m, n))
    G[:, 0] += 10.0  # so that all losses can decrease
    rule: Any = by_name(name)
    inputs: dict[str, Any] = {"losses": np.ones(m), "key": 0}
    if "traces" in rule.needs:
        inputs["traces"] = np.ones(m)
    return partial(rule.combine, G, state=rule.combine(G, **inputs).state, **inputs)


if __name__ == "__main__":
    main()
