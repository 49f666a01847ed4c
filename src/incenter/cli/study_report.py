"""`incenter study report`: one page of HTML."""

from pathlib import Path

from incenter.cli.study import DEFAULT_STORE, Source, StudyName, say
from incenter.whole_file import written_whole


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

    from incenter.study.extras import require_jinja
    from incenter.study.report import page

    require_jinja()  # before anything is read
    with source.rows(study) as rows:
        text = page(rows, study, source.words(study))
    with written_whole(out, "give another file to --out") as aside:
        aside.write_text(text, encoding="utf-8")
    say(Console(stderr=True), f"The report is in {out}: open it in a browser.")
