"""From a question of the page to its answer: JSON in, JSON out, every number by the library."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import incenter
from incenter.geometry.arrays import Matrix
from incenter.geometry.errors import IncenterError
from incenter.study.comparison import Answer, Comparison, compare, keeps_state
from incenter.study.examples import Gradients
from incenter.study.explorer.scene import look, scene, shadows
from incenter.study.paper_numbers import data
from incenter.study.plain import as_plain

NORMS = (1, 1.5, 2, 3, 4, "inf")  # offered on the page
_DRAGGED = 3
_FEW = 30  # entries that are written out


def answer(question: Mapping[str, Any], held: Mapping[str, Gradients]) -> dict[str, Any]:
    """What every rule does with the gradients of `question`: three of its own, or those `held` under a name."""
    source = _source(question, held)
    comparison = _without_memory(source, _norm(question.get("p", 2)))
    view = look(source.gradients, _shown(question.get("shown", [0, 1, 2])))
    plain = as_plain(comparison)
    directions = shadows(comparison, view)
    for method in plain["methods"]:
        method["label"] = _label(method["method"])
        method["direction"] = directions.get(method["method"])
    centre = comparison.centre
    return {
        **plain,
        "sentence": centre.status.sentence,
        "dropped": [bool(dropped) for dropped in centre.dropped],
        "scene": scene(comparison, view),
        "python": _in_python(source, comparison.p),
    }


def _label(method: str) -> str:
    """As the tables have it; here no optimiser is on top of the sum, and DCGD's center stands beside its siblings."""
    names = data("names")["methods"] | {"sum": "Sum", "dcgd_center": "DCGD center"}
    return str(names.get(method, method)).replace(",", "")


def _in_python(source: Gradients, p: float) -> str:
    """The lines that give the same numbers; gradients that are many entries are read from their file."""
    G, norm = source.gradients, 'float("inf")' if p == math.inf else f"{p:g}"
    rows = ",\n              ".join(map(repr, G.tolist()))
    made = f"np.array([{rows}])" if G.size <= _FEW else f'np.load({source.title!r})["gradients"]'
    return f"import numpy as np, incenter\nG = {made}\nprint(incenter.chebyshev_center(G, p={norm}))"


def _source(question: Mapping[str, Any], held: Mapping[str, Gradients]) -> Gradients:
    name = question.get("held")
    if name is None:
        G = _dragged(question.get("gradients"))
        return Gradients(G, tuple(f"g{i + 1}" for i in range(len(G))), "")
    if not isinstance(name, str) or name not in held:
        raise IncenterError(f"The server holds no gradients called {name!r} any more; load the file again.")
    return held[name]


def _dragged(rows: Any) -> Matrix:
    try:
        G = np.array(rows, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise IncenterError(f"`gradients` must be {_DRAGGED} rows of {_DRAGGED} numbers; got {rows!r:.80}.") from error
    if G.shape != (_DRAGGED, _DRAGGED):
        raise IncenterError(f"`gradients` must be {_DRAGGED} rows of {_DRAGGED} numbers; got shape {G.shape}.")
    return G


def _shown(rows: Any) -> tuple[int, ...]:
    if not isinstance(rows, list) or not all(isinstance(row, int) for row in rows):
        raise IncenterError(f"`shown` must be a list of rows, counted from 0; got {rows!r:.80}.")
    return tuple(rows)


def _norm(p: Any) -> float:
    try:
        return math.inf if p == "inf" else float(p)
    except (TypeError, ValueError, OverflowError) as error:
        raise IncenterError(f"`p` must be a number from 1 to inf; got {p!r:.80}.") from error


def _without_memory(source: Gradients, p: float) -> Comparison:
    """The comparison in which a rule that remembers earlier steps says so: gradients alone do not settle it."""
    comparison = compare(source, p, [name for name in incenter.methods.names() if not _remembers(name)])
    silent = tuple(Answer(name, note=_MEMORY) for name in incenter.methods.names() if _remembers(name))
    return replace(comparison, answers=comparison.answers + silent)


_MEMORY = "remembers earlier steps, which these gradients do not tell"


def _remembers(name: str) -> bool:
    # Of one that needs traces `compare` says so, which comes first.
    return keeps_state(name) and "traces" not in incenter.methods.by_name(name).needs
