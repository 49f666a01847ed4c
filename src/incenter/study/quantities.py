"""What a table can be of: where a number comes from, how it is written, and what the paper has beside it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from incenter.study.paper_numbers import Printed, error_of, rate_of, seconds_of
from incenter.study.rows import Row

_LEAST_FIXED = 1e-3  # below it four decimals say too little


@dataclass(frozen=True)
class Quantity:
    """A number of a run."""

    name: str
    title: str
    of: Callable[[Row], float | None]
    shown: Callable[[float, float | None], str]  # mean and deviation
    paper: Callable[[Row], Printed | None]
    absent: str  # why a finished run may have no such number
    beside_paper: str = ""  # what stands beside the paper's number
    averaged: bool = True
    ranked: bool = False  # the less the better

    def note(self, least: int, most: int, steps: int | None) -> str:
        """What the numbers are, for cells of `least` to `most` seeds; `steps` where all runs have as many."""
        after = "" if steps is None else f", {steps:,} steps"
        if not self.averaged:
            return f"Of each cell the learning rate with the best error{after}."
        if most == 1:
            return f"One seed, which has no deviation{after}."
        return f"Mean (deviation) over {most if least == most else f'{least} to {most}'} seeds{after}."


def short(number: float) -> str:
    """A power of ten without what is not needed: 3e-4."""
    if not math.isfinite(number):
        return str(number)
    digits, _, power = f"{number:.3e}".partition("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"


def _scientific(number: float) -> str:
    digits, _, power = f"{number:.2e}".partition("e")
    return f"{digits}e{int(power)}"


def _error(mean: float, deviation: float | None) -> str:
    if not math.isfinite(mean):
        return "not finite"
    write = "{:.4f}".format if mean >= _LEAST_FIXED else _scientific
    return write(mean) if deviation is None else f"{write(mean)} ({write(deviation)})"


def _decimals(count: int) -> Callable[[float, float | None], str]:
    def shown(mean: float, deviation: float | None) -> str:
        return f"{mean:.{count}f}" if deviation is None else f"{mean:.{count}f} ({deviation:.{count}f})"

    return shown


def _rate(mean: float, _: float | None) -> str:
    return short(mean)


def _nothing(_: Row) -> None:
    return None


ERROR = Quantity(
    name="errors",
    title="Relative L2 error",
    of=lambda row: row.relative_l2,
    shown=_error,
    paper=error_of,
    absent="there is no reference to measure against",
    beside_paper=", and the difference in units of its deviation (of 0.00005 where it prints 0.0000)",
    ranked=True,
)
LEARNING_RATE = Quantity(
    name="learning-rates",
    title="Selected learning rate",
    of=lambda row: row.lr,
    shown=_rate,
    paper=rate_of,
    absent="the learning rate is not known",
    averaged=False,
)
SECONDS = Quantity(
    name="seconds",
    title="Seconds of a whole run",
    of=lambda row: row.seconds,
    shown=_decimals(2),
    paper=seconds_of,
    absent="the time was not measured",
)
MS_PER_STEP = Quantity(
    name="ms-per-step",
    title="Milliseconds per step",
    of=lambda row: row.ms_per_step,
    shown=_decimals(3),
    paper=_nothing,
    absent="the time was not measured",
)
