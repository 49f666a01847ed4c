"""From gradients to what the rule makes of them, and what the record says of that."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from incenter.geometry.center import OPTIMAL_GAP
from incenter.geometry.long_rows import inner_products
from incenter.geometry.rows import read_gramian
from incenter.geometry.status import Status
from incenter.methods.rule import GramRule, Rule, unit_and_length

Numbers = NDArray[np.float64]


class Question(NamedTuple):
    """What a rule may ask for beside the gradients."""

    losses: list[torch.Tensor]
    state: Any
    key: Any
    extra: dict[str, Any]


class Solution(NamedTuple):
    """What a rule answers, in numbers; the update itself lies elsewhere."""

    weights: Numbers | None
    radius: float
    active: tuple[bool, ...]
    status: Status
    report: dict[str, float]
    state: Any


def solve_gram(rule: GramRule, K: torch.Tensor, question: Question) -> Solution:
    """The weights from the Gram matrix. Reading it, and the losses with it, is the step's one wait for the device."""
    m = len(K)
    values = [loss.detach().to(K).reshape(1) for loss in question.losses] if "losses" in rule.needs else []
    numbers = torch.cat([K.reshape(-1), *values]).cpu().numpy()
    gramian, losses = numbers[: m * m].reshape(m, m), numbers[m * m :] if values else None
    found = rule.weights(gramian, losses, question.state, question.key, **question.extra)
    report = {name: float(value) for name, value in found.report.items()}
    radius, active = _cosines(gramian, found.weights)
    return Solution(found.weights, radius, active, Status(int(found.status)), report, found.state)


def solve_matrix(rule: Rule, G: torch.Tensor, question: Question) -> tuple[Solution, torch.Tensor]:
    """The update of a rule that needs the entries, and the rest."""
    losses = None
    if "losses" in rule.needs:
        losses = torch.cat([loss.detach().double().reshape(1).to(G.device) for loss in question.losses])
    found = rule.combine(G, losses, question.state, question.key, **question.extra)
    weights = None if found.weights is None else found.weights.double().cpu().numpy()
    report = {name: float(value) for name, value in found.report.items()}
    active = _active(_row_cosines(G, found.update), OPTIMAL_GAP["float64" if G.dtype == torch.float64 else "float32"])
    radius, status = float(found.radius), Status(int(found.status))
    return Solution(weights, radius, active, status, report, found.state), found.update


def _cosines(gramian: Numbers, weights: Numbers) -> tuple[float, tuple[bool, ...]]:
    """Least cosine between sum_i weights_i g_i and a live g_i, and which have it."""
    rows = read_gramian(gramian)
    lengths = rows.relative_norms * weights
    inner = rows.cosines @ lengths
    length = float(np.sqrt(max(lengths @ inner, 0.0)))
    if not length > 0 or not rows.live.any():
        return 0.0, (False,) * len(weights)
    cosines = np.where(rows.live, inner / length, np.inf)
    return float(cosines.min()), _active(cosines, OPTIMAL_GAP["float64"])


def _row_cosines(G: torch.Tensor, update: torch.Tensor) -> Numbers:
    unit, length = unit_and_length(update.double())
    norms = torch.linalg.vector_norm(G, dim=1, dtype=torch.float64)
    cosines = torch.where(norms > 0, inner_products(G, unit) / norms, torch.inf)
    return (cosines if length > 0 else torch.full_like(cosines, torch.inf)).cpu().numpy()


def _active(cosines: Sequence[float] | Numbers, tolerance: float) -> tuple[bool, ...]:
    least = min(cosines)
    return tuple(bool(np.isfinite(cosine) and cosine <= least + tolerance) for cosine in cosines)
