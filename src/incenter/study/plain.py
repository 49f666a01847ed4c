"""A comparison as JSON has it."""

from typing import Any

from incenter.study.comparison import Answer, Comparison


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
        "radius": number(centre.radius),
        "gap": number(centre.gap),
        "status": centre.status.name,
        "active": [bool(active) for active in centre.active],
        "weights": _numbers(centre.weights),
        "methods": [_plain_answer(answer) for answer in comparison.answers],
    }


def number(value: Any) -> float | None:
    """Of any type; null where it is not finite."""
    plain = float(value)
    return plain if abs(plain) < float("inf") else None


def _plain_answer(answer: Answer) -> dict[str, Any]:
    if answer.status is None:
        return {"method": answer.method, "note": answer.note}
    return {
        "method": answer.method,
        "status": answer.status.name,
        "length": number(answer.length),
        "radius": number(answer.radius),
        "cosines": _numbers(answer.cosines),
        "weights": _numbers(answer.weights),
    }


def _numbers(values: Any) -> list[float | None] | None:
    return None if values is None else [number(value) for value in values]
