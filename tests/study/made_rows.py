"""Made-up rows for the tests of tables and figures, which read no store."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from incenter.study.packing import Array
from incenter.study.paper_numbers import Printed, data, read
from incenter.study.rows import Row, State, What

STEPS = {"inverse_heat": 30_000}


def made_row(
    problem: str = "burgers",
    method: str = "chebyshev",
    seed: int = 0,
    error: float | None = 0.1,
    *,
    lr: float = 1e-3,
    p: float = 2.0,
    status: State = "done",
    steps: int | None = None,
    seconds: float = 100.0,
    arrays: Mapping[What, Mapping[str, Array]] | None = None,
    traceback: str | None = None,
    **options: Any,
) -> Row:
    """A run that is done, or is not; `options` are those of its problem."""
    steps = steps or STEPS.get(problem, 50_000)
    done = status == "done"
    configuration = {
        "problem": problem, "problem_options": options, "method": method, "method_options": {}, "p": p, "lr": lr,
        "optimizer": "adam", "optimizer_options": {}, "steps": steps, "seed": seed, "precision": 32,
    }  # fmt: skip

    def load(_: str, what: What) -> dict[str, Array]:
        return dict((arrays or {}).get(what, {}))

    return Row(
        key=f"{problem}-{sorted(options.items())}-{method}-{p}-{lr}-{seed}", study="made", problem=problem,
        method=method, p=p, lr=lr, optimizer="adam", steps=steps, seed=seed, precision=32,
        options={f"problem.{name}": value for name, value in options.items()}, configuration=configuration,
        timeout_seconds=None, status=status, worker=None, step=steps, losses=(), latest_l2=None, beat=None,
        started=None, ended=None, attempts=1, error=traceback, summary={}, relative_l2=error if done else None,
        seconds=seconds if done else None, ms_per_step=1000 * seconds / steps if done else None,
        radius=None, stopped="steps", parameters=None, versions={}, machine=None, commit=None, load=load,
    )  # fmt: skip


def with_moments(mean: float, deviation: float, count: int = 3) -> list[float]:
    """Numbers with exactly this mean and deviation over n - 1."""
    shape = np.arange(count) - (count - 1) / 2
    return [float(value) for value in mean + deviation * shape / shape.std(ddof=1)]


def paper_cells(kind: str) -> list[tuple[str, dict[str, Any], str, Printed]]:
    """Problem, its options, method and number of every cell of a table of the paper's errors."""
    cells = []
    for column, methods in data("errors")[kind].items():
        if isinstance(methods, dict) and column != "left_out":
            problem = "inverse_heat" if kind == "inverse" else column
            options = {"setting": column} if kind == "inverse" else {}
            cells += [(problem, options, method, read(text, kind)) for method, text in methods.items()]
    return cells


def paper_rows(kind: str, seeds: Sequence[int] = (0, 1, 2)) -> list[Row]:
    """Runs whose errors are what the paper prints."""
    return [
        made_row(problem, method, seed, error, **options)
        for problem, options, method, printed in paper_cells(kind)
        for seed, error in zip(seeds, with_moments(printed.mean, printed.deviation or 0.0, len(seeds)), strict=True)
    ]
