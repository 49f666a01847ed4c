"""The numbers of the interactive curves, as JSON.

    {"problems": [{"title": "Burgers", "quantities": [{"title": "relative L2 error", "log": true}, ...],
                   "methods": [{"title": "Chebyshev", "color": "#D55E00", "dash": "", "width": 2.6,
                                "curves": [{"steps": [100, 50000], "median": [...]}, null, ...]}, ...]}, ...]}

A method has a curve, or null, for each quantity of its problem, with `low` and `high` where it is of several seeds. Its
values are equally far apart between the two steps. Four digits are more than a screen shows.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from incenter.study.figures import histories, styles
from incenter.study.layout import Column, Layout, Line
from incenter.study.packing import Array
from incenter.study.seed_curve import SeedCurve, seed_curve

_DIGITS = 4

Recorded = Mapping[str, Array]


class _Quantity(NamedTuple):
    """A column of a history, or of a column that has a value for each loss that of one loss."""

    title: str
    column: str
    place: int | None = None
    logarithmic: bool = False


_WHOLE = (
    _Quantity("relative L2 error", "error", logarithmic=True),
    _Quantity("least cosine of update and gradients", "radius"),
    _Quantity("r*, the largest least cosine there is", "r_star"),
)


def curves_of(layout: Layout) -> dict[str, Any]:
    """All that was recorded of the reported runs, of the problems of which anything was."""
    found = [_problem(layout, column) for column in layout.columns]
    return {"problems": [each for each in found if each["quantities"]]}


def as_json(curves: Mapping[str, Any]) -> str:
    """For a script of a page: no text in it can end the script."""
    text = json.dumps(curves, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _problem(layout: Layout, column: Column) -> dict[str, Any]:
    recorded = histories(layout, column)
    style = styles(layout.lines)
    quantities = [each for each in _quantities(recorded) if any(_curve(own, each) for own in recorded.values())]
    return {
        "title": column.title,
        "quantities": [{"title": each.title, "log": each.logarithmic} for each in quantities],
        "methods": [_method(line, style[line], own, quantities) for line, own in recorded.items()],
    }


def _quantities(recorded: Mapping[Line, Sequence[Recorded]]) -> list[_Quantity]:
    """Those of the whole, and one for each loss and each weight, named as any of the runs names its losses."""
    named = (history["names"] for own in recorded.values() for history in own if "names" in history)
    losses = [(place, str(name)) for place, name in enumerate(next(named, ()))]
    return [
        *_WHOLE,
        *(_Quantity(f"loss: {name}", "losses", place, logarithmic=True) for place, name in losses),
        *(_Quantity(f"weight: {name}", "weights", place) for place, name in losses),
    ]


def _method(
    line: Line, style: Mapping[str, Any], recorded: Sequence[Recorded], quantities: Sequence[_Quantity]
) -> dict[str, Any]:
    dash = "" if style["linestyle"] == "-" else " ".join(str(2 * length) for length in style["linestyle"][1])
    curves = [_curve(recorded, each) for each in quantities]
    return {"title": line.title, "color": style["color"], "dash": dash, "width": style["linewidth"], "curves": curves}


def _curve(recorded: Sequence[Recorded], quantity: _Quantity) -> dict[str, Any] | None:
    found = seed_curve(recorded, quantity.column, quantity.place)
    return None if found is None else _plain(found)


def _plain(curve: SeedCurve) -> dict[str, Any]:
    ends = [round(float(curve.steps[place])) for place in (0, -1)]
    plain: dict[str, Any] = {"steps": ends, "median": _rounded(curve.median)}
    return plain if curve.seeds == 1 else plain | {"low": _rounded(curve.low), "high": _rounded(curve.high)}


def _rounded(values: Array) -> list[float]:
    return [float(np.format_float_scientific(value, _DIGITS - 1)) for value in values]
