"""`incenter study spreadsheet`: the runs of a store as one table in a file, for other programs."""

from pathlib import Path

from incenter.cli.study import DEFAULT_STORE, Source, StudyName, say
from incenter.geometry.errors import IncenterError


def spreadsheet(
    file: Path,
    study: StudyName = None,
    /,
    *,
    source: Source = DEFAULT_STORE,
) -> None:
    """Write all runs into one table, a run a line: CSV, or Parquet.

    Parameters
    ----------
    file
        What to write: FILE.csv or FILE.parquet.
    """
    from rich.console import Console

    from incenter.study.spreadsheet import write_csv, write_parquet

    writers = {".csv": write_csv, ".parquet": write_parquet}
    if file.suffix not in writers:
        raise IncenterError(f"The file's name must end in .csv or .parquet; got {file}.")
    with source.rows(study) as rows:
        writers[file.suffix](rows, file)
    say(Console(stderr=True), f"{file}: {len(rows)} runs.")
