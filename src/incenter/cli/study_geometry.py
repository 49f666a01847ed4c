"""`incenter study geometry`: from the gradients that runs kept to small tables, and from these to pictures."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from incenter.geometry.errors import IncenterError


def geometry(
    runs: Annotated[Path | None, Parameter(name=["RUNS"])] = None,
    /,
    *,
    out: Path = Path("results/geometry"),
    draw: Path | None = None,
    form: Annotated[Literal["png", "svg", "pdf"], Parameter(name="--format")] = "png",
) -> None:
    """Say how the gradients stood to each other along a training: a small table for each run that kept them.

    Parameters
    ----------
    runs
        The folder of a study's runs, which is beside its store; without it, only what `out` holds is drawn.
    out
        The folder of the tables.
    draw
        A folder to draw every table of `out` into.
    form
        What kind of picture.
    """
    from rich.console import Console

    from incenter.cli.study import say
    from incenter.study.training_geometry import write
    from incenter.study.training_geometry_figure import draw as draw_tables

    console = Console(stderr=True)
    if runs is None and draw is None:
        raise IncenterError("There is nothing to do: give the folder of a study's runs, or --draw FOLDER.")
    made = [] if runs is None else write(runs, out)
    drawn = [] if draw is None else draw_tables(out, draw, form)
    for path in [*made, *drawn]:
        say(console, str(path))
    if draw is not None and not drawn:
        raise IncenterError(f"There is no table in {out} to draw: give the folder of a study's runs, or another --out.")
