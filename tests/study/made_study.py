"""A made-up study with everything that a report shows: two problems, three methods, two seeds, one run that failed."""

from typing import Any

import numpy as np

from incenter.study.rows import Row
from tests.study.made_rows import made_row

STEPS = np.arange(1, 101) * 500
LOSSES = {"burgers": ("residual", "boundary", "initial"), "helmholtz": ("residual", "boundary")}
ERRORS = {"sum": 0.2, "pcgrad": 0.1, "chebyshev": 0.05}
INERT = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\">"


def recorded(problem: str, method: str, seed: int) -> dict[str, Any]:
    """The error falls to its number at the end; the least cosine of Adam is below 0 in the first half."""
    count, falling = len(LOSSES[problem]), np.linspace(10, 1, 100)
    history = {
        "step": STEPS, "names": np.array(LOSSES[problem]),
        "error": ERRORS[method] * (1 + seed / 10) * falling,
        "radius": np.linspace(-0.5, 0.5, 100) if method == "sum" else np.full(100, 0.25),
        "r_star": np.full(100, 0.75),
        "losses": np.outer(falling, 10.0 ** -np.arange(count)),
    }  # fmt: skip
    return history if method == "pcgrad" else history | {"weights": np.ones((100, count))}


def painted(problem: str) -> dict[str, Any]:
    x = np.linspace(-1, 1, 64)
    u = np.sin(3 * x)[:, None] * np.cos(2 * x)
    return {"axis/x": x, f"axis/{'t' if problem == 'burgers' else 'y'}": x, "u": u + 0.01, "reference/u": u}


def made_study() -> list[Row]:
    """Of the last cell one run failed; a method's name is a script."""
    rows = [
        made_row(
            problem,
            method,
            seed,
            ERRORS[method] * (1 + seed / 10),
            arrays={"history": recorded(problem, method, seed), "fields": painted(problem)},
        )
        for problem in LOSSES
        for method in ERRORS
        for seed in (0, 1)
    ]
    traceback = "Traceback (most recent call last):\n  line 3\nValueError: <b>not</b> today"
    failed = made_row("helmholtz", f"my.py:{INERT}", 0, None, status="failed", traceback=traceback)
    return [*rows, failed]
