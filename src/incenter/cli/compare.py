"""`incenter compare`: what every rule would do with the same gradients."""

import json
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from incenter.study import examples, gradients_file
from incenter.study.comparison import Answer, Comparison
from incenter.study.comparison import compare as compare_all


def compare(
    gradients: Annotated[str, Parameter(name=["GRADIENTS"])],
    /,
    *,
    p: float = 2.0,
    as_json: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> None:
    """Compare the updates of all rules on the same gradients.

    Parameters
    ----------
    gradients
        An .npz file holding `gradients` (m, n), one row per loss, and optionally `names` (m,), `losses` (m,) and
        `step`; or the name of an example: toy, worked, cone.
    p
        The norm in which the Chebyshev center measures gradients, from 1 to inf.
    as_json
        Print one JSON object instead of tables.
    """
    source = examples.by_name(gradients) if gradients in examples.EXAMPLES else gradients_file.read(Path(gradients))
    comparison = compare_all(source, p)
    if as_json:
        print(json.dumps(as_plain(comparison), allow_nan=False))
    else:
        from rich.console import Console

        from incenter.cli.compare_view import show

        show(Console(), comparison)


def as_plain(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON has it; what is not a finite number is null."""
    source, centre = comparison.source, comparison.centre
    m, n = source.gradients.shape
    return {
        "source": source.title,
        "step": source.step,
        "names": list(source.names),
        "m": m,
        "n": n,
        "p": comparison.p if comparison.p != float("inf") else "inf",
        "radius": _number(centre.radius),
        "gap": _number(centre.gap),
        "status": centre.status.name,
        "active": [bool(active) for active in centre.active],
        "weights": _numbers(centre.weights),
        "methods": [_plain_answer(answer) for answer in comparison.answers],
    }


def _plain_answer(answer: Answer) -> dict[str, Any]:
    if answer.status is None:
        return {"method": answer.method, "note": answer.note}
    return {
        "method": answer.method,
        "status": answer.status.name,
        "length": _number(answer.length),
        "radius": _number(answer.radius),
        "cosines": _numbers(answer.cosines),
        "weights": _numbers(answer.weights),
    }


def _numbers(values: Any) -> list[float | None] | None:
    return None if values is None else [_number(value) for value in values]


def _number(value: Any) -> float | None:
    number = float(value)
    return number if abs(number) < float("inf") else None
