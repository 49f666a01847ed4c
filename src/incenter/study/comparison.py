"""Every rule on the same gradients: what each would have done, and how that looks from each loss."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import incenter
from incenter.geometry.arrays import Matrix, Vector, Weights
from incenter.geometry.errors import IncenterError
from incenter.geometry.status import Status
from incenter.study.examples import Gradients


@dataclass(frozen=True)
class Answer:
    """One rule's update, seen from each loss; or the sentence why there is none."""

    method: str
    note: str | None = None
    status: Status | None = None
    length: float = 0.0
    radius: float = 0.0  # least cosine to a gradient
    cosines: Vector | None = None  # to each gradient, 0 for a zero row
    weights: Weights | None = None
    direction: Vector | None = None  # the update at unit length, zeros where there is none


@dataclass(frozen=True)
class Comparison:
    """The certified centre of the cone, and what every rule would have done instead."""

    source: Gradients
    p: float
    centre: Any  # of `incenter.chebyshev_center`
    answers: tuple[Answer, ...]


def compare(source: Gradients, p: float = 2.0, methods: Iterable[str] | None = None) -> Comparison:
    """All rules (or `methods`) on `source`, deepest first; those without an answer last."""
    centre = incenter.chebyshev_center(source.gradients, p)
    names = incenter.methods.names() if methods is None else list(methods)
    answers = [_answer(name, source, p) for name in names]
    digits = 9 if source.gradients.dtype == np.float64 else 5
    return Comparison(source, p, centre, tuple(sorted(answers, key=lambda answer: _order(answer, digits))))


def _order(answer: Answer, digits: int) -> tuple[bool, float, bool, str]:
    # Rounding must not order rules that agree; among those the centre itself comes first.
    return (answer.note is not None, -round(answer.radius, digits), answer.method != "chebyshev", answer.method)


def _answer(name: str, source: Gradients, p: float) -> Answer:
    fields = {"p": p} if name == "chebyshev" else {}
    try:
        rule = incenter.methods.by_name(name, **fields)
        absent = [_ABSENT.get(need, need) for need in sorted(rule.needs - _present(source))]
        if absent:
            return Answer(name, note=f"needs {' and '.join(absent)}")
        out = rule.combine(source.gradients, losses=source.losses, key=source.step or 0)
    except IncenterError as error:
        return Answer(name, note=str(error))
    direction, length = unit(np.asarray(out.update))
    weights = None if out.weights is None else np.asarray(out.weights)
    cosines = unit_rows(source.gradients) @ direction
    return Answer(name, None, Status(int(out.status)), length, float(out.radius), cosines, weights, direction)


def _present(source: Gradients) -> set[str]:
    return {"key"} if source.losses is None else {"key", "losses"}


# A rule that draws at random gets the step as its key, so the same file gives the same answer.
_ABSENT = {
    "losses": "the values of the losses: store them as `losses`",
    "traces": "the traces of the losses' tangent kernels, which gradients alone do not tell",
}


@cache
def keeps_state(name: str) -> bool:
    """Whether the rule hands a state to its next step, found by asking it once."""
    rule: Any = incenter.methods.by_name(name)
    traces = {"traces": np.ones(2)} if "traces" in rule.needs else {}
    return rule.combine(np.eye(2), losses=np.ones(2), key=0, **traces).state is not None


def unit(vector: Vector) -> tuple[Vector, float]:
    """`vector` at Euclidean length 1, and its length; a zero or non-finite vector gives zeros."""
    vector = vector.astype(np.float64)
    largest = float(np.max(np.abs(vector), initial=0.0))
    if largest == 0 or not np.isfinite(largest):
        return np.zeros_like(vector), largest
    scaled = vector / largest  # its square neither overflows nor vanishes
    length = float(np.linalg.norm(scaled))
    return scaled / length, length * largest


def unit_rows(gradients: Matrix) -> Matrix:
    """Each row at Euclidean length 1."""
    return np.stack([unit(row)[0] for row in gradients])
