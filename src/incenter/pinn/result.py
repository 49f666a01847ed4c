"""What a run ends with."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from incenter.pinn.configuration import Configuration
from incenter.pinn.history import History

Array = np.ndarray[Any, np.dtype[Any]]


class Progress(NamedTuple):
    """What a `progress` callback is given, about five times a second."""

    step: int
    steps: int
    names: tuple[str, ...]
    losses: tuple[float, ...]  # of the last step
    radius: float
    error: float | None  # as last recorded
    seconds: float


@dataclass(frozen=True)
class Result:
    """The end of a run, or where it was stopped."""

    configuration: Configuration  # resolved: nothing is left to defaults
    theta: Array  # (n,)
    steps: int  # made
    relative_l2: float | None
    radius: float | None  # least cosine of the last update with a gradient; None where no step was made
    unknowns: dict[str, float]
    history: History
    seconds: float
    ms_per_step: float | None  # without compilation and records; None where no step was made
    stopped: str  # "steps", "radius", "error", "seconds", "interrupted" or "nonfinite"
    sentence: str  # the same in words, with what to do next
    notes: tuple[str, ...]  # what else there is to say, a sentence each
    predict: Callable[[Any], Array]  # points (N, d) -> outputs (N, k)

    @property
    def parameters(self) -> int:
        """How many there are."""
        return len(self.theta)

    def summary(self) -> dict[str, Any]:
        """The run on one line, as JSON has it."""
        plain = self.configuration.as_dict()
        fields = {name: plain[name] for name in ("problem", "method", "p", "lr", "optimizer")}
        return fields | {
            "steps": self.steps,
            "seed": plain["seed"],
            "set": self.configuration.changes(),
            "relative_l2": _number(self.relative_l2),
            "seconds": round(self.seconds, 3),
            "ms_per_step": _number(self.ms_per_step),
            "radius": _number(self.radius),
            "parameters": self.parameters,
            "stopped": self.stopped,
            "unknowns": {name: _number(value) for name, value in self.unknowns.items()},
        }


def in_words(stopped: str, step: int, configuration: Configuration, out: Path | None) -> str:
    """How a run ended, and what to do next."""
    if out is None:
        goes_on = "nothing was saved: give `out`, a folder, to be able to continue"
    else:
        goes_on = f"continue with the same call and resume=True (incenter train: --resume --out {out})"
    radius, error, seconds = configuration.stop_radius, configuration.stop_error, configuration.stop_seconds
    return {
        "steps": f"All {step:,} steps are made.",
        "radius": f"Stopped at step {step:,}: r* is at most {radius}, so no direction decreases every loss.",
        "error": f"Stopped at step {step:,}: the error is at most {error}.",
        "seconds": f"Stopped at step {step:,}: the {seconds} seconds are over; {goes_on}.",
        "interrupted": f"Interrupted at step {step:,}; {goes_on}.",
        "nonfinite": f"Given up at step {step:,}: the gradients stay non-finite; lower `lr` or set precision=64.",
    }[stopped]


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
