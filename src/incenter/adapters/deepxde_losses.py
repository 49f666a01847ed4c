"""DeepXDE's losses one by one.

A model hands them out stacked, and to differentiate an entry of that is to carry zeros through all the others, which
doubles the time of a step. So the list is caught where `model.data` makes it.
"""

from collections.abc import Callable
from typing import Any


def losses_one_by_one(model: Any, compute: Callable[[], Any]) -> list[Any]:
    """The losses that `compute` (which gives the stacked ones) makes, times their weights."""
    data, made = model.data, []

    def listening(*arguments: Any, **named: Any) -> Any:
        found = type(data).losses_train(data, *arguments, **named)
        made.extend(found if isinstance(found, list) else [found])
        return found

    data.losses_train = listening
    try:
        stacked = compute()
    finally:
        del data.losses_train
    weights = [1.0] * len(made) if model.loss_weights is None else model.loss_weights
    of_regularizer = list(stacked[len(made) :])
    return [weight * loss for weight, loss in zip(weights, made, strict=True)] + of_regularizer
