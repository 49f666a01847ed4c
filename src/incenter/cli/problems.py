"""`incenter problems`: what there is to train, and how."""

import re
from typing import TYPE_CHECKING, Any

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from incenter.pinn import Problem

_INDENT = 2


def problems() -> None:
    """List the problems: their equations, losses, points and options."""
    from rich.console import Console

    from incenter.pinn import problems as registry

    console = Console()
    for name in registry.names():
        console.print(_card(name, console.width))
    console.print(
        Text(
            "An option is set with --set, such as --set points=1000. A problem of your own: FILE.py:NAME.", style="dim"
        )
    )


def _card(name: str, width: int) -> "RenderableType":
    """A problem's name, equations and settings, below each other."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table

    from incenter.pinn import problems as registry

    problem = registry.by_name(name)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for row in _rows(problem, registry.options(name)):
        table.add_row(*row)
    equations = Text("\n".join(_flow(registry.equations(name), width - 2 * _INDENT)), style="cyan")
    return Group(
        Text(name, style="bold"),
        Padding(registry.summary(name), (0, 0, 0, _INDENT)),
        Padding(equations, (0, 0, 0, 2 * _INDENT)),
        Padding(table, (0, 0, 1, _INDENT)),
    )


def _rows(problem: "Problem", options: dict[str, Any]) -> list[tuple[str, str]]:
    losses = [f"{name} {term.size:,}" for name, term in problem.terms.items()]
    settings = problem.settings
    return [
        ("points", ", ".join(losses)),
        ("network", network_text(problem.network, tuple(problem.domain.axes), tuple(problem.outputs))),
        ("training", f"{settings.steps:,} steps, lr {settings.lr:g}"),
        ("error", _reference(problem)),
        ("options", ", ".join(f"{name}={_short(value)}" for name, value in options.items()) or "none"),
    ]


def network_text(network: Any, axes: tuple[str, ...], outputs: tuple[str, ...]) -> str:
    """2-50-50-1 tanh; of branches, each with what it sees; other networks as they are written."""
    from incenter.pinn import MLP, Branches

    if isinstance(network, MLP):
        seen = network.inputs or axes
        sizes = [len(seen), *[network.width] * network.depth, len(outputs)]
        of = "" if network.inputs is None else f" of {', '.join(seen)}"
        return f"{'-'.join(map(str, sizes))} {network.activation}{of}"
    if isinstance(network, Branches):
        branches = [(names, tuple(names.split(","))) for names, _ in network.branches]
        texts = [
            network_text(branch, axes, owned)
            for (_, owned), (_, branch) in zip(branches, network.branches, strict=True)
        ]
        return "; ".join(f"{names}: {text}" for (names, _), text in zip(branches, texts, strict=True))
    return repr(network)


def _reference(problem: "Problem") -> str:
    if problem.reference is None:
        return "not measured: there is no reference"
    return f"of {', '.join(problem.reference.outputs)} at {len(problem.reference.points):,} points"


def _flow(lines: list[str], width: int) -> list[str]:
    """Lines that are longer than `width` broken where their parts, with two spaces or more between them, begin."""
    flowed: list[str] = []
    for line in lines:
        parts = re.split(r"\s{2,}", line)
        current = parts[0]
        for part in parts[1:]:
            if len(current) + 3 + len(part) > width:
                flowed.append(current)
                current = part
            else:
                current += "   " + part
        flowed.append(current)
    return flowed


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
