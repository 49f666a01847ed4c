"""The tables of a study on stdout, or as a file each in a folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from rich.console import Console

from incenter.study.selection import AnyTable
from incenter.whole_file import written_whole

Form = Literal["terminal", "markdown", "latex", "csv"]
Written = Literal["markdown", "latex", "csv"]
_ENDINGS: dict[Written, str] = {"markdown": "md", "latex": "tex", "csv": "csv"}


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
    for each in made:
        for form, ending in _ENDINGS.items():
            paths.append(folder / f"{each.name}.{ending}")
            with written_whole(paths[-1], "give another folder to --out") as aside:
                aside.write_text(_text(each, form), encoding="utf-8")
    return paths


def _text(made: AnyTable, form: Written) -> str:
    return {"markdown": made.markdown, "latex": made.latex, "csv": made.csv}[form]()
