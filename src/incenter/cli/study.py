"""`incenter study`: a plan, the store of its runs, and what is made of them."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from incenter.cli import INTERRUPTED

if TYPE_CHECKING:
    from rich.console import Console

    from incenter.study.runner import Report
    from incenter.study.store import Store

SOME_FAILED = 1  # exit code
STORE = Path("incenter-study.sqlite")

app = App(name="study", help="Run a plan of trainings, and make tables, figures and a report of it.")

StoreFile = Annotated[Path, Parameter(name="--store")]


@app.command
def run(
    plan: Annotated[str, Parameter(name=["PLAN"])],
    /,
    *,
    jobs: int = 1,
    dask: str | None = None,
    store: StoreFile = STORE,
    results: Annotated[Path | None, Parameter(name="--from")] = None,
) -> None:
    """Run everything in a plan that is not finished yet. Run it again to go on after whatever has happened.

    Parameters
    ----------
    plan
        A plan that `incenter study plans` lists, or FILE.toml.
    jobs
        How many runs at a time, each in a process of its own on one thread.
    dask
        The address of a Dask scheduler whose workers take the runs instead.
    store
        The file that keeps what ran. The checkpoints are in a folder beside it.
    results
        A folder of results, as `incenter study export` writes it: what is in it is not run again.
    """
    from rich.console import Console

    from incenter.cli.study_view import Display
    from incenter.study import lanes, plans
    from incenter.study.expansion import expand
    from incenter.study.runner import run_study
    from incenter.study.store import Store

    console = Console(stderr=True)
    read = plans.load(plan)
    planned = expand(read)
    with Store(store) as opened:
        if results is not None:
            _take_in(opened, results, console)
        chosen = lanes.processes(jobs) if dask is None else lanes.dask(dask)
        _say(console, f"{read.name}: {len(planned)} runs, {len(chosen)} at a time, into {store}")
        with Display(console) as display:
            report = run_study(opened, read.name, planned, chosen, watch=display)
    _end(report, console)


def _end(report: "Report", console: "Console") -> None:
    """What came of it, and what to type next."""
    for note in report.notes:
        _say(console, note)
    status = report.status
    if report.interrupted:
        again = shlex.join(["incenter", *sys.argv[1:]])
        _say(
            console,
            f"Interrupted with {status.done} of {status.total} runs done, and the others saved; this goes on:\n\n"
            f"    {again}\n",
        )
        sys.exit(INTERRUPTED)
    _say(console, f"{status.done} of {status.total} runs are done.")
    if report.failed:
        from incenter.cli.study_view import failures

        _say(console, failures(report.failed))
        sys.exit(SOME_FAILED)


def _take_in(store: "Store", folder: Path, console: "Console") -> None:
    from incenter.study.exchange import take_in

    found = take_in(store, folder)
    _say(console, f"{folder}: {found.new} results are new, {found.known} were in the store.")
    for problem in found.problems:
        _say(console, problem)


def _say(console: "Console", words: str) -> None:
    console.print(words, soft_wrap=True, highlight=False, markup=False)
