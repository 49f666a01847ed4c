"""`incenter study report`: one page of HTML."""

import os
from pathlib import Path

from incenter.cli.study import DEFAULT_STORE, Source, StudyName, say
from incenter.geometry.errors import IncenterError


def report(
    study: StudyName = None,
    /,
    *,
    source: Source = DEFAULT_STORE,
    out: Path = Path("incenter-report.html"),
) -> None:
    """Write one page of HTML with all that is known of the runs, which needs no network.

    It holds the tables, interactive curves, the figures, every setting, and the command that reproduces each number.

    Parameters
    ----------
    out
        The file of the page.
    """
    from rich.console import Console

    from incenter.study.report import page

    with source.rows(study) as rows:
        text = page(rows, study, source.words(study))
    _write(out, text)
    say(Console(stderr=True), f"The report is in {out}: open it in a browser.")


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            aside.write_text(text, encoding="utf-8")
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise IncenterError(f"{path} cannot be written ({error.strerror}): give another file to --out.") from error
