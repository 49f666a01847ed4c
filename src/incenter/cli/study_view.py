"""What a study shows while it runs: how many runs are where, the running ones with their progress, and the time left.

Every run that ends gets a line. On a terminal the rest is drawn below these lines; where the output is a file or a pipe
there is a line of it every `_EVERY` seconds. All of it is on stderr.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from incenter.cli.live import LiveDisplay
from incenter.cli.train_view import QUIET, clock_time

if TYPE_CHECKING:
    from incenter.study.plans import Plan
    from incenter.study.rows import Row, Status
    from incenter.study.runner import Snapshot

_EVERY = 30.0  # seconds between two plain lines
_MOST_FAILURES = 20  # that are listed at the end


class Display(LiveDisplay):
    """Called with each `Snapshot`; entered and left around a study."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self.snapshot: Snapshot | None = None
        super().__init__(console, console.is_terminal, clock)  # which draws already

    def __call__(self, snapshot: "Snapshot") -> None:
        """Show where the study is."""
        self.snapshot = snapshot
        for row in snapshot.ended:
            self.console.print(ended_line(row), soft_wrap=True, highlight=False)
        if self.live is None and self.clock() - self.printed >= _EVERY:
            self.printed = self.clock()
            running = "".join(f"; {name_of(row)}: {_progress(row)}" for row in snapshot.running)
            self.console.print(summary(snapshot) + running, soft_wrap=True, highlight=False, markup=False)

    def render(self) -> Any:
        """The bar of the study, and one line for each run that is running here."""
        if self.snapshot is None:
            return Text("starting ...", style=QUIET)
        status = self.snapshot.status
        whole = Table.grid(expand=True, padding=(0, 2, 0, 0))
        whole.add_column(ratio=1)
        whole.add_column(justify="right", no_wrap=True)
        whole.add_row(ProgressBar(total=max(1, status.total), completed=status.done), summary(self.snapshot))
        runs = Table.grid(padding=(0, 2, 0, 0))
        for row in self.snapshot.running:
            runs.add_row(Text(name_of(row)), Text(_progress(row), style=QUIET))
        return Group(whole, runs)


def summary(snapshot: "Snapshot") -> str:
    """How many runs are where."""
    status = snapshot.status
    parts = [f"{status.done} of {status.total} done", f"{status.running} running"]
    parts += [f"{status.failed} failed"] if status.failed else []
    parts += [f"{clock_time(snapshot.seconds_left)} left"] if snapshot.seconds_left and status.left else []
    return ", ".join(parts)


def name_of(row: "Row") -> str:
    """What a reader knows a run by."""
    norm = "" if row.p == 2 else f", p {row.p:g}"
    options = "".join(f", {name.partition('.')[2]} {value}" for name, value in row.options.items())
    return f"{row.problem}, {row.method}{norm}{options}, lr {row.lr:g}, seed {row.seed}"


def ended_line(row: "Row") -> str:
    """How a run ended, with marks for rich."""
    if row.status == "failed":
        return f"[red]failed[/red]  {escape(name_of(row))}: {escape(reason_of(row))}"
    error = "" if row.relative_l2 is None else f"error {row.relative_l2:.4g}, "
    return f"[green]done[/green]    {escape(name_of(row))}: {error}{clock_time(row.seconds or 0.0)}"


def reason_of(row: "Row") -> str:
    """The last line of what a run failed of."""
    lines = (row.error or "").strip().splitlines()
    return lines[-1] if lines else "nothing is known of why"


def failures(rows: "Sequence[Row]") -> str:
    """The runs that failed, and what to do."""
    lines = [f"    {row.key}  {name_of(row)}: {reason_of(row)}" for row in rows[:_MOST_FAILURES]]
    more = [f"    and {len(rows) - _MOST_FAILURES} more"] if len(rows) > _MOST_FAILURES else []
    count = f"{len(rows)} runs failed" if len(rows) > 1 else "1 run failed"
    last = "`incenter study status --traceback KEY` shows all of an error; run the study again to try them again."
    return "\n".join([f"{count}:", *lines, *more, last])


def status_table(found: "Mapping[str, Status]") -> Table:
    """The studies of a store below each other."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("study")
    for name in ("runs", "done", "running", "waiting", "failed"):
        table.add_column(name, justify="right")
    for name, each in found.items():
        counts = (each.total, each.done, each.running, each.waiting, each.failed)
        table.add_row(name, *(str(count) for count in counts))
    return table


def running_table(rows: "Sequence[Row]") -> Table:
    """The runs that are running anywhere, and how far they are."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False)
    for name in ("running", "at step", "worker", "since"):
        table.add_column(name)
    for row in rows:
        since = "" if row.started is None else clock_time(time.time() - row.started)
        table.add_row(name_of(row), _progress(row), (row.worker or "").partition(":")[0], since)
    return table


def plans_table(plans: "Sequence[Plan]") -> Table:
    """The plans that come with the library."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 2, 0, 0), pad_edge=False)
    for name in ("plan", "problems", "methods", "seeds", "what it is"):
        table.add_column(name)
    for plan in plans:
        grids = plan.grids
        counts = (sum(len(getattr(grid, what)) for grid in grids) for what in ("problems", "methods", "seeds"))
        table.add_row(plan.name, *map(str, counts), plan.title)
    return table


def _progress(row: "Row") -> str:
    steps = row.steps or 0
    error = "" if row.latest_l2 is None else f", error {row.latest_l2:.4g}"
    return f"{row.step:,} of {steps:,}{error}" if row.step else "starting"
