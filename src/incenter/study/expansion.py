"""The runs of a plan: every configuration resolved and checked, before anything runs."""

import dataclasses
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from incenter.geometry.errors import IncenterError
from incenter.study.commands import typed
from incenter.study.learning_rates import rates
from incenter.study.plans import Grid, Named, Plan
from incenter.study.rows import Planned

if TYPE_CHECKING:
    from incenter.pinn import Configuration


def expand(plan: Plan) -> list[Planned]:
    """Every run of a plan once, the seeds of one cell after each other; this imports JAX."""
    checked = _Checked()
    chosen: dict[str, Planned] = {}
    try:
        for wanted in _configurations(plan):
            configuration = checked.resolved(wanted)
            key = configuration.fingerprint()
            chosen.setdefault(key, Planned(key, configuration.as_dict(), plan.timeout_seconds))
    except IncenterError as error:
        raise IncenterError(f"{plan.source}: {error}") from error
    return list(chosen.values())


def _configurations(plan: Plan) -> "Iterator[Configuration]":
    for grid in plan.grids:
        for problem in grid.problems:
            for method in grid.methods:
                for change in ({}, *({name: value} for name, value in plan.vary)):
                    cell = _cell(problem, method, plan.base | change)
                    for lr in _rates(grid, cell):
                        for seed in grid.seeds:
                            yield dataclasses.replace(cell, lr=lr, seed=seed)


def _cell(problem: Named, method: Named, fields: dict[str, Any]) -> "Configuration":
    """A configuration without its learning rate and seed."""
    from incenter.pinn import Configuration

    own = {each.name for each in dataclasses.fields(Configuration)}
    direct = {name: value for name, value in fields.items() if name in own}
    options = {"problem_options": dict(problem.options), "method_options": dict(method.options)}
    for name, given in options.items():  # those of [base] first, those beside the name last
        direct[name] = {**direct.get(name, {}), **given}
    named = Configuration.from_mapping(direct | {"problem": problem.name, "method": method.name})
    return named.with_settings(f"{name}={typed(value)}" for name, value in fields.items() if name not in own)


def _rates(grid: Grid, cell: "Configuration") -> tuple[float | None, ...]:
    if grid.lr == "paper":
        return tuple(rates(cell.problem, cell.problem_options, cell.method))
    return (cell.lr,) if grid.lr is None else grid.lr


# An optimiser is only made here, and asks its objective nothing before it is used.
_ANY_OBJECTIVE: Any = SimpleNamespace(unravel=None, traces=None)


class _Checked:
    """Problems are made once each, and rules and optimisers tried on them."""

    def __init__(self) -> None:
        self._problems: dict[str, Any] = {}
        self._tried: set[str] = set()

    def resolved(self, configuration: "Configuration") -> "Configuration":
        """The configuration with nothing left to defaults, if it can be run."""
        found = self._problem(configuration)
        resolved = configuration.resolved(found)
        self._try(resolved, found)
        return resolved

    def _problem(self, configuration: "Configuration") -> Any:
        from incenter.pinn.training import problem_of

        place = repr((configuration.problem, sorted(configuration.problem_options.items())))
        if place not in self._problems:
            self._problems[place] = problem_of(configuration)
        return self._problems[place]

    def _try(self, configuration: "Configuration", problem: Any) -> None:
        """What a run would say at its start is said now."""
        from incenter.pinn.finish import finisher
        from incenter.pinn.optimizers import optimizer_of
        from incenter.pinn.rules import rule_of

        place = repr(dataclasses.replace(configuration, seed=0))
        if place in self._tried:
            return
        self._tried.add(place)
        rule = rule_of(configuration, problem.residual_rows)
        optimizer_of(configuration, _ANY_OBJECTIVE, plain=rule.own_optimizer)
        if configuration.finish is not None:
            finisher(configuration, _ANY_OBJECTIVE)
