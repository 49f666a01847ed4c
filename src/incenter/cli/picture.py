"""`incenter picture`: cone, ball and directions, drawn."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def picture(
    path: Annotated[Path, Parameter(name=["PATH"])] = Path("geometry.png"),
    /,
    *,
    panels: Annotated[str, Parameter(name="--panels")] = "abcd",
) -> None:
    """Draw the paper's cone, ball and directions in three dimensions.

    Parameters
    ----------
    path
        Where the picture goes; its ending says which kind (.png, .svg, .pdf). A .png has an .svg put beside it.
    panels
        Which of them: a, the cone and the ball; b, their section; c, the directions of five rules; d, their cosines.
    """
    from rich.console import Console

    from incenter.study.examples import cone, toy
    from incenter.study.figure_file import save
    from incenter.study.geometry_figure import geometry_figure

    paths = [path, path.with_suffix(".svg")] if path.suffix == ".png" else [path]
    figure = geometry_figure(cone(), toy(), panels)
    for each in paths:
        save(figure, each)
    Console().print(
        f"The picture of cone, ball and directions: [bold]{' and '.join(map(str, paths))}[/bold]", soft_wrap=True
    )
