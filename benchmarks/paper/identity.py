"""Four methods that are one update for two losses: when their trajectories part, and how far apart they end."""

from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks.paper.results import Results, joined, listed, not_run, seeds_of
from incenter.study.layout import OURS, lay_out, method_title
from incenter.study.paper_numbers import data
from incenter.study.quantities import ERROR
from incenter.study.rows import Row
from incenter.study.tables import of_layout

START, WHOLE = "paper-identity-start", "paper-identity"
_APART = (1e-6, 1e-3, 1e-1)  # relative differences of the summed loss


def section(results: Results) -> str:
    return joined(_start(results), _end(results))


def _start(results: Results) -> str:
    rows = results.done(START)
    lines = []
    for (problem, precision), runs in _by_place(rows).items():
        ours = next((row for row in runs if row.method == OURS), None)
        for row in runs:
            if ours is not None and row is not ours:
                title = data("names")["problems"][problem]
                lines.append([f"{title}, float{precision}, {method_title(row.method)}", *_parting(ours, row)])
    if not lines:
        return not_run(START)
    columns = [*(f"first by {share:g}" for share in _APART), "most"]
    words = "At which recorded step the summed loss differs from that of our method's run, relatively:"
    return joined(words, listed("", "run", columns, lines), seeds_of(results.rows(START)))


def _by_place(rows: list[Row]) -> dict[tuple[str, int], list[Row]]:
    found: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        found[row.problem, row.precision].append(row)
    return dict(found)


def _parting(ours: Row, other: Row) -> list[str]:
    here, there = ours.history(), other.history()
    steps, mine, theirs = _common(here, there)
    apart = np.abs(theirs - mine) / np.abs(mine)
    firsts = [steps[apart > share] for share in _APART]
    return [
        *(f"step {first[0]:,}" if len(first) else f"not by {steps[-1]:,}" for first in firsts),
        f"{apart.max():.0e}",
    ]


def _common(here: dict[str, Any], there: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The steps that both recorded, and the summed losses there."""
    steps, first, second = np.intersect1d(here["step"], there["step"], return_indices=True)
    sums = (np.asarray(each["losses"], dtype=float).sum(axis=1) for each in (here, there))
    mine, theirs = sums
    return steps, mine[first], theirs[second]


def _end(results: Results) -> str:
    if not results.done(WHOLE):
        return not_run(WHOLE)
    return joined(of_layout(lay_out(results.rows(WHOLE)), ERROR).markdown(), seeds_of(results.rows(WHOLE)))
