"""Training: a problem and a configuration in, a result out.

result = train("burgers", method="chebyshev", lr=1e-3, steps=5000, out="runs/burgers")
result = train("burgers", method="chebyshev", lr=1e-3, steps=5000, out="runs/burgers", resume=True)
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

from incenter.geometry.errors import IncenterError
from incenter.pinn.configuration import Configuration
from incenter.pinn.interrupts import Interrupts
from incenter.pinn.loading import from_file, in_file
from incenter.pinn.result import Progress, Result
from incenter.pinn.run import Run


def train(
    problem: Any,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    **fields: Any,
) -> Result:
    """Train `problem`: a Problem, a name, FILE.py:NAME, or a whole Configuration, in which `fields` are set.

    With `out`, the run is saved there, and `resume=True` continues what is there, bit for bit. Ctrl-C saves and returns
    what there is.

    >>> from incenter.pinn import MLP, Box, Boundary, Interior, Problem, train
    >>> bend = Problem(
    ...     domain=Box(x=(0, 1)),
    ...     terms={"residual": Interior(20, lambda u: u.xx - 2), "ends": Boundary(2, lambda u: u)},
    ...     network=MLP(width=8, depth=1),
    ... )
    >>> result = train(bend, method="chebyshev", lr=1e-2, steps=10, record_every=5)
    >>> result.stopped, result.steps, result.predict([[0.5]]).shape
    ('steps', 10, (1, 1))
    """
    from incenter.pinn.assembly import Objective

    if isinstance(problem, Configuration):
        fields = {name: getattr(problem, name) for name in problem.as_dict()} | fields
    else:
        fields = {"problem": problem} | fields
    configuration = Configuration.from_mapping(fields)
    if resume and out is None:
        raise IncenterError("resume=True needs `out`, the folder of the run to continue.")
    with Interrupts() as interrupts, jax.enable_x64(configuration.precision == 64):
        found = problem_of(configuration)
        objective = Objective(found, configuration.precision, configuration.devices)
        made = Run(configuration.resolved(found), objective, None if out is None else Path(out), progress)
        return made.complete(interrupts, resume=resume)


def run(
    configuration: Configuration,
    objective: Any,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """The same for a resolved configuration and the objective of its problem, in its precision."""
    with Interrupts() as interrupts, jax.enable_x64(configuration.precision == 64):
        made = Run(configuration, objective, None if out is None else Path(out), progress)
        return made.complete(interrupts, resume=resume)


def problem_of(configuration: Configuration) -> Any:
    """The Problem that a configuration names."""
    named, options = configuration.problem, configuration.problem_options
    if isinstance(named, str) and not in_file(named):
        from incenter.pinn import problems

        return problems.by_name(named, **options)
    found = from_file(named) if in_file(named) else named
    if hasattr(found, "terms"):
        if options:
            given = ", ".join(options)
            raise IncenterError(f"A Problem takes no options; got {given}. Give a function that makes it of them.")
        return found
    if not callable(found):
        raise IncenterError(f"`problem` must be a Problem, a name, or FILE.py:NAME; got {found!r}.")
    try:
        made = found(**options)
    except TypeError as error:
        raise IncenterError(f"The problem {named!r} cannot be made with these options ({error}).") from error
    if not hasattr(made, "terms"):
        raise IncenterError(f"{named!r} must make a Problem; it made {type(made).__name__}.")
    return made
