"""What a contender is, and the little that it has in common with the others."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

RATE = 1e-3  # everybody's learning rate
_TRIAL = 0.5  # seconds of processor time by which two ways of doing the same are compared


class Contender(Protocol):
    """One problem, ready to be trained by one library."""

    setting: str  # what was chosen for it, in words

    def prepare(self, steps: int) -> None:
        """Whatever must be compiled before `run(steps)`."""

    def run(self, steps: int) -> None:
        """So many whole training steps; returns when the last one is done."""

    def losses(self) -> dict[str, float]:
        """By term, at the common points and parameters; "a+b" where the library knows their sum only."""


def faster(ways: Mapping[str, Callable[[], Contender]]) -> Contender:
    """The contender of the way that takes least processor time per step; the setting names it, and who lost."""
    made, taken = {}, {}
    for name, make in ways.items():
        made[name] = make()
        made[name].prepare(1)
        made[name].run(1)
        steps = max(2, min(200, round(_TRIAL / max(seconds_of(made[name], 1), 1e-6))))
        made[name].prepare(steps)
        taken[name] = min(seconds_of(made[name], steps) for _ in range(2)) / steps
    best = min(taken, key=taken.__getitem__)
    others = " or ".join(name for name in taken if name != best)
    made[best].setting += f"{best} rather than {others}"
    return made[best]


def seconds_of(contender: Contender, steps: int) -> float:
    start = time.process_time()
    contender.run(steps)
    return time.process_time() - start


def by_term(names: tuple[str, ...], sizes: tuple[int, ...], losses: Any) -> dict[str, float]:
    """Sums of consecutive `losses`, `sizes[i]` of them for the i-th term."""
    parts = np.split(np.asarray(losses, dtype=np.float64), np.cumsum(sizes)[:-1])
    return {name: float(part.sum()) for name, part in zip(names, parts, strict=True)}
