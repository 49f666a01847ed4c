"""`incenter plot`: a training run, drawn."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def plot(directory: Annotated[Path, Parameter(name=["DIR"])], /) -> None:
    """Draw how a training run went and what it learnt.

    Parameters
    ----------
    directory
        The folder of the run, which the pictures go into: training.png has losses, error, radius and weights over the
        steps, solution.png what was learnt beside the reference.
    """
    from rich.console import Console

    from incenter.study.run_figures import draw_run

    paths, notes = draw_run(directory)
    for note in notes:
        Console(stderr=True).print(note, soft_wrap=True, highlight=False, markup=False)
    for path in paths:
        Console().print(str(path), soft_wrap=True, highlight=False, markup=False)
