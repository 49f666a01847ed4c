"""`incenter study`: a plan, the store of its runs, and what is made of them."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from incenter.geometry.errors import IncenterError

if TYPE_CHECKING:
    from rich.console import Console

    from incenter.study.rows import Row
    from incenter.study.store import Store

STORE = Path("incenter-study.sqlite")

app = App(name="study", help="Run a plan of trainings, and make tables, figures and a report of it.")
app.command("incenter.cli.study_run:run", help="Run what is not finished of a plan; again, to go on after anything.")
app.command("incenter.cli.study_geometry:geometry", help="Table and draw how gradients stood to each other.")
app.command("incenter.cli.study_run:plans", help="List the plans that come with incenter, or print one to be copied.")
app.command("incenter.cli.study_report:report", help="Write one page of HTML with all that is known of the runs.")
app.command("incenter.cli.study_spreadsheet:spreadsheet", help="Write all runs into one CSV or Parquet file.")

StoreFile = Annotated[Path, Parameter(name="--store")]
StudyName = Annotated[str | None, Parameter(name=["STUDY"], help="The name of a plan; without it, all runs.")]


@Parameter(name="*")
@dataclass(frozen=True)
class Source:
    """The runs that something is made of.

    Parameters
    ----------
    store
        The file that keeps what ran.
    results
        A folder of results to read instead, as `incenter study export` writes it.
    """

    store: StoreFile = STORE
    results: Annotated[Path | None, Parameter(name="--from")] = None

    @contextlib.contextmanager
    def rows(self, study: str | None) -> "Iterator[list[Row]]":
        """The runs, whose arrays are read while this is open; what is damaged is said at its end."""
        from rich.console import Console

        from incenter.study.sources import opened, rows_of

        with opened(self.store, self.results) as (source, problems):
            yield rows_of(source, study)
            for sentence in (*problems, *source.damaged.values()):
                say(Console(stderr=True), sentence)

    def words(self, study: str | None) -> list[str]:
        """How the runs are named on a command line."""
        named = [] if study is None else [study]
        if self.results is not None:
            return [*named, "--from", str(self.results)]
        return named if self.store == STORE else [*named, "--store", str(self.store)]


DEFAULT_STORE = Source()


@app.command
def status(
    study: Annotated[str | None, Parameter(name=["STUDY"])] = None,
    /,
    *,
    store: StoreFile = STORE,
    traceback: Annotated[str | None, Parameter(name="--traceback")] = None,
) -> None:
    """Say how many runs are where, which ones run, and which ones failed of what; also while they run.

    Parameters
    ----------
    study
        The name of a plan; without it, of all.
    store
        The file that keeps what ran.
    traceback
        The key of a failed run: print the whole of what it failed of.
    """
    from rich.console import Console

    from incenter.cli.study_view import failures, running_table, status_table
    from incenter.study.store import Store

    console = Console()
    with Store(store, create=False) as opened:
        if traceback is not None:
            say(console, opened.row(traceback).error or f"Run {traceback} has not failed.")
            return
        names = opened.studies()
        if study is not None and study not in names:
            raise IncenterError(f"There is no study {study!r} in {store}; there are: {', '.join(names) or 'none yet'}.")
        chosen = names if study is None else [study]
        console.print(status_table({name: opened.status(name) for name in chosen}))
        running, failed = opened.rows(study, "running"), opened.rows(study, "failed")
        if running:
            console.print(running_table(running))
        if failed:
            say(console, failures(failed))
        for sentence in opened.damaged.values():
            say(console, sentence)


@app.command
def tables(
    study: StudyName = None,
    /,
    *,
    source: Source = DEFAULT_STORE,
    form: Annotated[Literal["terminal", "markdown", "latex", "csv"], Parameter(name="--format")] = "terminal",
    only: str | None = None,
    against: str | None = None,
    out: Path | None = None,
) -> None:
    """Print tables of what is done: errors beside the paper's, learning rates, times, and paired tests.

    Parameters
    ----------
    form
        How they are printed.
    only
        One table: errors, learning-rates, seconds, ms-per-step or paired-tests.
    against
        The method that the paired tests compare the others with: ours, where nothing is said.
    out
        A folder to write each table into, as Markdown, LaTeX and CSV, instead of printing.
    """
    from rich.console import Console

    from incenter.cli.study_tables import print_tables, write_tables
    from incenter.study.selection import chosen

    with source.rows(study) as rows:
        made = chosen(rows, only, against)
    if out is None:
        print_tables(Console(), made, form)
        return
    written = write_tables(out, made)
    say(Console(stderr=True), f"{len(written)} files are in {out}.")


@app.command
def figures(
    study: StudyName = None,
    /,
    *,
    source: Source = DEFAULT_STORE,
    out: Path = Path("incenter-figures"),
    form: Annotated[Literal["png", "svg", "pdf"], Parameter(name="--format")] = "png",
) -> None:
    """Draw what is done: error and least cosine over the steps, times, and recovered coefficients.

    Parameters
    ----------
    out
        The folder of the pictures.
    form
        What kind of picture.
    """
    from rich.console import Console

    from incenter.study.figures import draw

    console = Console(stderr=True)
    with source.rows(study) as rows:
        paths = draw(rows, out, form)
    for path in paths:
        say(console, str(path))
    if not paths:
        say(console, "No run is done yet, so there is nothing to draw.")


@app.command
def export(
    folder: Path,
    /,
    study: Annotated[str | None, Parameter(name=["STUDY"])] = None,
    *,
    store: StoreFile = STORE,
    fields: Literal["first", "drawn", "all", "none"] = "first",
) -> None:
    """Write finished runs into a folder of small text files, which can live in git.

    Parameters
    ----------
    folder
        Where to; what is there stays.
    study
        The name of a plan; without it, all runs.
    store
        The file that keeps what ran.
    fields
        Of which runs the final fields are written: of the first seed of each cell, of those that are drawn, all, none.
    """
    from rich.console import Console

    from incenter.study.exchange import export as write
    from incenter.study.store import Store

    console = Console(stderr=True)
    with Store(store, create=False) as opened:
        found = write(opened, folder, study, fields=fields)
    say(console, f"{folder}: {found.written} results written, {found.unchanged} were there.")
    for problem in found.problems:
        say(console, problem)


@app.command(name="import")
def import_(folder: Path, /, *, store: StoreFile = STORE) -> None:
    """Take the results in a folder into a store; they are not run again.

    Parameters
    ----------
    folder
        As `incenter study export` writes it.
    store
        The file that keeps what ran; it is made where there is none.
    """
    from rich.console import Console

    from incenter.study.store import Store

    with Store(store) as opened:
        take_folder(opened, folder, Console(stderr=True))


def take_folder(store: "Store", folder: Path, console: "Console") -> None:
    """Take results in, and say what came of it."""
    from incenter.study.exchange import take_in

    found = take_in(store, folder)
    say(console, f"{folder}: {found.new} results are new, {found.known} were in the store.")
    for problem in found.problems:
        say(console, problem)


def say(console: "Console", words: str) -> None:
    """Print as it stands."""
    console.print(words, soft_wrap=True, highlight=False, markup=False)
