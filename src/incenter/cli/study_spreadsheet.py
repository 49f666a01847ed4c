"""`incenter study spreadsheet`: the runs of a store as one table in a file, for other programs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from incenter.cli.study import STORE, StoreFile, say
from incenter.geometry.errors import IncenterError


def spreadsheet(
    file: Path,
    /,
    study: Annotated[str | None, Parameter(name=["STUDY"])] = None,
    *,
    store: StoreFile = STORE,
    results: Annotated[Path | None, Parameter(name="--from")] = None,
) -> None:
    """Write all runs into one table, a run a line: CSV, or Parquet.

    Parameters
    ----------
    file
        What to write: FILE.csv or FILE.parquet.
    study
        The name of a plan; without it, all runs.
    store
        The file that keeps what ran.
    results
        A folder of results to read instead, as `incenter study export` writes it.
    """
    from rich.console import Console

    from incenter.study.sources import opened, rows_of
    from incenter.study.spreadsheet import write_csv, write_parquet

    writers = {".csv": write_csv, ".parquet": write_parquet}
    if file.suffix not in writers:
        raise IncenterError(f"The file's name must end in .csv or .parquet; got {file}.")
    console = Console(stderr=True)
    with opened(store, results) as (source, problems):
        rows = rows_of(source, study)
        writers[file.suffix](rows, file)
        for sentence in (*problems, *source.damaged.values()):
            say(console, sentence)
    say(console, f"{file}: {len(rows)} runs.")
