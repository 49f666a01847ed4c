"""The tables of a study on stdout, or as a file each in a folder."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from rich.console import Console

from incenter.geometry.errors import IncenterError
from incenter.study.paired_table import PairedTable, paired_table
from incenter.study.rows import Row
from incenter.study.tables import Table, tables

Form = Literal["terminal", "markdown", "latex", "csv"]
Written = Literal["markdown", "latex", "csv"]
AnyTable = Table | PairedTable
_ENDINGS: dict[Written, str] = {"markdown": "md", "latex": "tex", "csv": "csv"}
_TWO = 2


def chosen(rows: Sequence[Row], only: str | None, against: str | None) -> list[AnyTable]:
    """All tables, or the one called `only`; paired tests where there are two methods and two seeds."""
    made: list[AnyTable] = list(tables(rows))
    comparable = len(made[0].lines) >= _TWO and len({row.seed for row in rows if row.status == "done"}) >= _TWO
    if comparable or against is not None or only == PairedTable.name:
        made.append(paired_table(rows, against))
    if only is None:
        return made
    names = [each.name for each in made]
    if only not in names:
        close = difflib.get_close_matches(only, names, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(names)}."
        raise IncenterError(f"There is no table called {only!r}. {hint}")
    return [made[names.index(only)]]


def print_tables(console: Console, made: Sequence[AnyTable], form: Form) -> None:
    """One below the other."""
    for place, each in enumerate(made):
        if place:
            print()
        if form == "terminal":
            console.print(each.terminal())
        else:
            print(_text(each, form), end="")


def write_tables(folder: Path, made: Sequence[AnyTable]) -> list[Path]:
    """Each as Markdown, LaTeX and CSV."""
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for each in made:
            for form, ending in _ENDINGS.items():
                paths.append(folder / f"{each.name}.{ending}")
                paths[-1].write_text(_text(each, form), encoding="utf-8")
    except OSError as error:
        raise IncenterError(f"{folder} cannot be written ({error.strerror}): give another folder to --out.") from error
    return paths


def _text(made: AnyTable, form: Written) -> str:
    return {"markdown": made.markdown, "latex": made.latex, "csv": made.csv}[form]()
