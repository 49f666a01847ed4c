"""One step: per-loss gradients in, their combination into `.grad`."""

from collections.abc import Sequence
from typing import Protocol

import torch

from incenter.geometry.errors import IncenterError
from incenter.geometry.status import Status
from incenter.methods.rule import GramRule, Rule
from incenter.torch.averaging import Average
from incenter.torch.low_memory import low_memory_gram
from incenter.torch.products import Row, add_to_grad, weighted_sum
from incenter.torch.scaling import Scale
from incenter.torch.solving import Question, Solution, solve_gram, solve_matrix
from incenter.torch.whole import WholeGradients


class Gradients(Protocol):
    """What a step asks of gradients, wherever they lie; `WholeGradients` describes the methods."""

    losses: list[torch.Tensor]
    params: list[torch.Tensor]
    passes: int  # backward passes so far

    def local_row(self, index: int) -> Row: ...

    def average(self, row: Row) -> Average: ...

    def gram(self, rows: list[Row]) -> torch.Tensor: ...

    def add_weighted(self, weights: Sequence[float]) -> None: ...


def take_low_memory_step(rule: GramRule, gradients: WholeGradients, scale: Scale, question: Question) -> Solution:
    """The Gram matrix block by block, then one pass of the weighted sum."""
    solution = solve_gram(rule, scale.unscaled_gram(low_memory_gram(gradients)), question)
    gradients.add_weighted(_written_weights(solution, scale))
    return solution


def take_fast_step(
    rule: Rule, gradients: Gradients, scale: Scale, question: Question, held: list[Row] | None
) -> Solution:
    """All gradients at once: one pass per loss. `held` are sums of earlier gradients to be added first."""
    if rule.gram_only and isinstance(rule, GramRule):
        return _by_gram(rule, gradients, scale, question, held)
    return _by_matrix(rule, gradients, scale, question, held)


def added(row: Row, held: Row) -> Row:
    """The sum of two gradients, in new arrays."""
    return [old if new is None else new if old is None else new + old for new, old in zip(row, held, strict=True)]


def _by_gram(
    rule: GramRule, gradients: Gradients, scale: Scale, question: Question, held: list[Row] | None
) -> Solution:
    begun = [_begun(gradients, index, held) for index in range(len(gradients.losses))]
    rows = [average.row() for average in begun]
    solution = solve_gram(rule, scale.unscaled_gram(gradients.gram(rows)), question)
    weights = _written_weights(solution, scale)
    for index, parameter in enumerate(gradients.params):
        parts = [row[index] for row in rows]
        for row in rows:
            row[index] = None  # freed as soon as it is used
        if any(part is not None for part in parts):
            add_to_grad(parameter, weighted_sum(weights, parts, parameter))
    return solution


def _by_matrix(rule: Rule, gradients: Gradients, scale: Scale, question: Question, held: list[Row] | None) -> Solution:
    params = gradients.params
    sizes = [parameter.numel() for parameter in params]
    dtype = torch.float64 if any(parameter.dtype == torch.float64 for parameter in params) else torch.float32
    G = torch.zeros(len(gradients.losses), sum(sizes), dtype=dtype, device=params[0].device)
    for index, target in enumerate(G):
        for place, part in zip(
            torch.split_with_sizes(target, sizes), _begun(gradients, index, held).row(), strict=True
        ):
            if part is not None:
                place.copy_(part.reshape(-1))
    solution, update = solve_matrix(rule, scale.unscaled(G), question)
    if solution.status is Status.NONFINITE and scale.active:
        update = G.sum(0)
    for parameter, part in zip(params, torch.split_with_sizes(scale.scaled(update), sizes), strict=True):
        add_to_grad(parameter, part.view_as(parameter).to(parameter))
    return solution


def _begun(gradients: Gradients, index: int, held: list[Row] | None) -> Average:
    row = gradients.local_row(index)
    return gradients.average(row if held is None else added(row, held[index]))


def _written_weights(solution: Solution, scale: Scale) -> Sequence[float]:
    """The rule's, or all ones where the scaler has to see what is not finite."""
    if solution.weights is None:
        raise IncenterError("The rule gave no weights from the Gram matrix; set its `gram_only` to False.")
    if solution.status is Status.NONFINITE and scale.active:
        return [1.0] * len(solution.weights)
    return [float(weight) for weight in solution.weights]
