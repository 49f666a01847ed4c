"""The Gram matrix of a few long rows: ours, NumPy's own product, and the floor of one pass over memory.

python -m benchmarks.gram [--columns N] [--write docs/performance.md]
"""

import argparse
from pathlib import Path

import benchmarks.one_thread  # noqa: F401  before NumPy reads the environment

# isort: split
import numpy as np

from benchmarks.timing import duration, interleaved, machine, table, write_section
from incenter.geometry.long_rows import gram

ROWS = (2, 3, 5, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the Gram matrix of a few long rows.")
    parser.add_argument("--columns", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=1.5, help="per row of the table")
    parser.add_argument("--write", type=Path, help="a page whose section `gram` is replaced")
    options = parser.parse_args()
    text = report(options.columns, options.seconds)
    print(text)
    if options.write:
        write_section(options.write, "gram", text)


def report(columns: int, seconds: float) -> str:
    rows = [measure(m, columns, dtype, seconds) for dtype in (np.float32, np.float64) for m in ROWS]
    head = ["rows", "ours", "G @ G.T", "floor a @ G", "G @ G.T / ours", "ours / floor", "our error", "its error"]
    where = machine("numpy")
    return f"n = {columns:,}; {where}.\n\n{table(head, rows)}\n\n{_NOTE}"


_NOTE = """\
Ours accumulates float32 rows in float64. The floor reads the rows once and does nothing else of note. Errors are the
largest of any entry, relative to the product of the two rows' norms, against the same product in a wider float."""


def measure(m: int, columns: int, dtype: type[np.floating], seconds: float) -> list[str]:
    G = np.random.default_rng(m).standard_normal((m, columns)).astype(dtype)
    weights = np.full(m, 1 / m, dtype=dtype)
    best = interleaved({"ours": lambda: gram(G), "numpy": lambda: G @ G.T, "floor": lambda: weights @ G}, seconds)
    exact = _exact(G)
    return [
        f"{m} x {np.dtype(dtype).name}",
        *[duration(best[name]) for name in ("ours", "numpy", "floor")],
        f"{best['numpy'] / best['ours']:.1f}",
        f"{best['ours'] / best['floor']:.1f}",
        f"{_error(gram(G), exact):.0e}",
        f"{_error(G @ G.T, exact):.0e}",
    ]


def _exact(G: np.ndarray) -> np.ndarray:
    wider = G.astype(np.float64 if G.dtype == np.float32 else np.longdouble)
    return np.array([[np.sum(row * other) for other in wider] for row in wider])


def _error(found: np.ndarray, exact: np.ndarray) -> float:
    norms = np.sqrt(np.diag(exact))
    return float(np.max(np.abs(found - exact) / np.outer(norms, norms)))


if __name__ == "__main__":
    main()
