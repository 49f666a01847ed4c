"""What a training run shows while it goes on, and at its end.

On a terminal there is one bar with the numbers below it; where the output is a file or a pipe there is a line every
`_EVERY` seconds. Both are on stderr, so that stdout is the result alone.
"""

import shlex
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from incenter.cli.live import LiveDisplay

if TYPE_CHECKING:
    from incenter.pinn.result import Progress, Result

_EVERY = 10.0  # seconds between two plain lines
_SPEED_OVER = 20.0  # seconds: the speed shown is that of about so much time
_GAP = 3  # columns between two numbers
QUIET = "dim"


@dataclass(frozen=True)
class Now:
    """Where a run is."""

    step: int
    steps: int
    names: Sequence[str]
    losses: Sequence[float]
    radius: float
    error: float | None

    @classmethod
    def of(cls, progress: "Progress") -> "Now":
        """What the training reports."""
        error = None if progress.error is None else float(progress.error)
        return cls(progress.step, progress.steps, progress.names, progress.losses, progress.radius, error)


class Speed:
    """Steps per second over the last while, from reports of where the run is."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.seen: list[tuple[float, int]] = []

    def note(self, step: int) -> None:
        """The run has reached `step` now."""
        now = self.clock()
        recent = [each for each in self.seen if now - each[0] <= _SPEED_OVER]
        self.seen = [*(recent or self.seen[-1:]), (now, step)]

    @property
    def per_second(self) -> float | None:
        """None before the second report: the first one follows the compilation."""
        if len(self.seen) < 2:
            return None
        (first, start), (last, end) = self.seen[0], self.seen[-1]
        return (end - start) / (last - first) if last > first and end > start else None

    def left(self, steps: int) -> float | None:
        """Seconds until `steps` are made."""
        return None if self.per_second is None else (steps - self.seen[-1][1]) / self.per_second


class Display(LiveDisplay):
    """Called with each `Now`; entered and left around a run."""

    def __init__(self, console: Console, bar: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.speed = Speed(clock)
        self.now: Now | None = None
        super().__init__(console, bar, clock)  # which draws already

    def __call__(self, now: Now) -> None:
        """Show where the run is."""
        self.now = now
        self.speed.note(now.step)
        if self.live is None and (self.clock() - self.printed >= _EVERY or now.step >= now.steps):
            self.printed = self.clock()
            self.console.print(self._line(now), soft_wrap=True, highlight=False, markup=False)

    def render(self) -> Any:
        """The bar, and the numbers below it."""
        if self.now is None:
            return Text("compiling ...", style=QUIET)
        now = self.now
        bar = Table.grid(expand=True, padding=(0, 2, 0, 0))
        bar.add_column(ratio=1)
        for _ in range(3):
            bar.add_column(justify="right", no_wrap=True)
        bar.add_row(
            ProgressBar(total=max(1, now.steps), completed=now.step),
            f"{now.step:,} of {now.steps:,}",
            _speed(self.speed.per_second),
            Text(_left(self.speed.left(now.steps)), style=QUIET),
        )
        return Group(bar, _numbers(now, self.console.width))

    def _line(self, now: Now) -> str:
        losses = " ".join(f"{name} {loss:.2e}" for name, loss in zip(now.names, now.losses, strict=True))
        speed = [_speed(self.speed.per_second), _left(self.speed.left(now.steps))] if self.speed.per_second else []
        measures = [f"{name} {value}" for name, value in _measures(now)]
        return " | ".join([f"step {now.step:,} of {now.steps:,}", *speed, losses, *measures])


def _numbers(now: Now, width: int) -> Text:
    """Losses, radius and error, in as many lines as they need."""
    losses = [(name, f"{loss:.2e}", "") for name, loss in zip(now.names, now.losses, strict=True)]
    measures = [(name, value, "bold") for name, value in _measures(now)]
    text, used = Text(), 0
    for name, value, style in [*losses, *measures]:
        long = len(name) + 1 + len(value)
        if used:
            text.append("\n" if used + _GAP + long > width else " " * _GAP)
            used = 0 if used + _GAP + long > width else used + _GAP
        text.append(f"{name} ", style=QUIET).append(value, style=style)
        used += long
    return text


def _measures(now: Now) -> list[tuple[str, str]]:
    return [("radius", f"{now.radius:.3f}")] + ([] if now.error is None else [("error", f"{now.error:.4g}")])


def _speed(per_second: float | None) -> str:
    if per_second is None:
        return "- steps/s"
    return f"{per_second:,.0f} steps/s" if per_second >= 10 else f"{per_second:.2g} steps/s"


def _left(seconds: float | None) -> str:
    return "" if seconds is None else f"{clock_time(seconds)} left"


def clock_time(seconds: float) -> str:
    """1:02:03, or 2:03."""
    hours, rest = divmod(round(max(0.0, seconds)), 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def summary(result: "Result", out: Path) -> Table:
    """What came of one run, and what to type next."""
    configuration = result.configuration
    table = Table(box=box.SIMPLE, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style=QUIET, no_wrap=True)
    table.add_column(overflow="fold")
    name = f"{configuration.problem}, {configuration.method}, lr {configuration.lr:g}, seed {configuration.seed}"
    table.add_row("run", Text(name, style="bold"))
    if result.relative_l2 is not None:
        table.add_row("relative L2 error", Text(f"{result.relative_l2:.4g}", style="bold green"))
    for unknown, value in result.unknowns.items():
        table.add_row(unknown, f"{value:.6g}")
    table.add_row("least cosine", _number(result.radius))
    table.add_row("time", _time_of(result))
    table.add_row("end", result.sentence if result.stopped != "interrupted" else f"interrupted at {result.steps:,}")
    table.add_row("saved in", str(out))
    table.add_row("see it", Text(f"incenter plot {shlex.quote(str(out))}", style="bold"))
    return table


def seeds_table(results: "Sequence[Result]") -> Table:
    """The seeds of a run below each other, with their mean and deviation."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False)
    for name in ("seed", "relative L2 error", "least cosine", "steps", "ms per step"):
        table.add_column(name, justify="right")
    for result in results:
        step = "-" if result.ms_per_step is None else f"{result.ms_per_step:.2f}"
        error, radius = _number(result.relative_l2), _number(result.radius)
        table.add_row(str(result.configuration.seed), error, radius, f"{result.steps:,}", step)
    errors = [result.relative_l2 for result in results if result.relative_l2 is not None]
    if len(errors) == len(results):
        table.add_section()
        table.add_row("mean", Text(f"{statistics.mean(errors):.4g} +- {statistics.stdev(errors):.2g}", style="bold"))
    return table


def _number(value: float | None) -> str:
    """Of what was measured: a run that is interrupted before its first step has no cosine yet."""
    return "-" if value is None else f"{value:.4g}"


def _time_of(result: "Result") -> str:
    per_step = "" if result.ms_per_step is None else f", {result.ms_per_step:.2f} ms per step"
    return f"{clock_time(result.seconds)}{per_step}"
