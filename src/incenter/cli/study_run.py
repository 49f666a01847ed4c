"""`incenter study run`: everything in a plan that is not finished yet. `incenter study plans`: what there is to run."""

import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from incenter.cli.leaving import INTERRUPTED
from incenter.cli.study import STORE, Source, StoreFile, say, take_folder

if TYPE_CHECKING:
    from rich.console import Console

    from incenter.study.runner import Report

SOME_FAILED = 1  # exit code


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
    from incenter.pinn.interrupts import Interrupts
    from incenter.study import lanes, plans
    from incenter.study.expansion import expand
    from incenter.study.runner import run_study
    from incenter.study.store import Store

    console = Console(stderr=True)
    read = plans.load(plan)
    with Interrupts() as early:  # JAX swallows a KeyboardInterrupt now and then
        planned = expand(read)
    if early.asked:
        raise KeyboardInterrupt
    with Store(store) as opened:
        if results is not None:
            take_folder(opened, results, console)
        with contextlib.nullcontext(lanes.processes(jobs)) if dask is None else lanes.dask(dask) as chosen:
            say(console, f"{read.name}: {len(planned)} runs, {len(chosen)} at a time, into {store}")
            with Display(console) as display:
                report = run_study(opened, read.name, planned, chosen, watch=display)
    _end(report, Source(store).words(read.name), console)


def plans(name: Annotated[str | None, Parameter(name=["PLAN"])] = None, /) -> None:
    """List the plans that come with incenter, or print one, to be copied into a file and changed.

    Parameters
    ----------
    name
        The plan to print.
    """
    from rich.console import Console

    from incenter.cli.study_view import plans_table
    from incenter.study import plans as known

    if name is not None:
        known.load(name)
        print(known.text_of(name), end="")
        return
    Console().print(plans_table([known.load(each) for each in known.built_in()]))


def _end(report: "Report", source: list[str], console: "Console") -> None:
    """What came of it, and what to type next."""
    for note in report.notes:
        say(console, note)
    status = report.status
    if report.interrupted and status.done < status.total:
        again = shlex.join(["incenter", *sys.argv[1:]])
        say(
            console,
            f"Interrupted with {status.done} of {status.total} runs done, and the others saved; this goes on:\n\n"
            f"    {again}\n",
        )
        sys.exit(INTERRUPTED)
    say(console, f"{status.done} of {status.total} runs are done.")
    if status.done:
        say(console, f"Next: incenter study report {shlex.join(source)} (or tables, or figures, in place of report)")
    if report.failed:
        from incenter.cli.study_view import failures

        say(console, failures(report.failed))
        sys.exit(SOME_FAILED)
