"""How a comparison looks in a terminal: the certified centre on top, then one line per rule, deepest first."""

from typing import Any

from rich import box
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from incenter.study.comparison import Answer, Comparison

BEST, GOOD, CONFLICT, QUIET = "bold green", "green", "bold red", "dim"
_FIXED_WIDTH = 46  # of the columns that every table has, with their spaces
_NUMBER = 8  # the widest cosine or weight, with the space after it
_LONGEST_NAME = 12
_TIE = 1e-6  # rules this close to r* share its colour


def show(console: Console, comparison: Comparison) -> None:
    """Print the centre, the rules' directions, their weights, and what could not be computed."""
    answered = [answer for answer in comparison.answers if answer.status is not None]
    silent = [answer for answer in comparison.answers if answer.status is None]
    columns = [_cut(name) for name in comparison.source.names]
    width = sum(max(len(name) + 1, _NUMBER) for name in columns)
    console.print(_centre(comparison))
    if _FIXED_WIDTH + 2 * width + 2 <= console.width:
        console.print("[bold]Directions[/bold]: the cosine to each loss's gradient; update = sum of weight x gradient")
        console.print(_directions(comparison, answered, columns, weights=True))
    elif _FIXED_WIDTH + width <= console.width:
        console.print("[bold]Directions[/bold]: the cosine to each loss's gradient")
        console.print(_directions(comparison, answered, columns, weights=False))
        console.print("[bold]Weights[/bold]: update = sum of weight x gradient")
        console.print(_weights(answered, columns))
    else:
        console.print("[bold]Directions[/bold]")
        console.print(_summaries(comparison, answered))
        console.print(Text("Cosines and weights of each loss: --json", style=QUIET))
    if silent:
        console.print("[bold]No answer[/bold]")
        console.print(_silent(silent))


def _centre(comparison: Comparison) -> Panel:
    source, centre = comparison.source, comparison.centre
    m, n = source.gradients.shape
    at = "" if source.step is None else f", step {source.step:,}"
    lines = [
        Text.assemble("r* = ", (f"{float(centre.radius):.8g}", "bold"), f"   certified gap {float(centre.gap):.1e}"),
        Text.assemble((centre.status.name.lower(), _status_style(centre.status)), f": {centre.status.sentence}"),
        _binding(source.names, centre),
    ]
    norm = "inf" if comparison.p == float("inf") else f"{comparison.p:g}"
    size = f"{_many(m, 'loss', 'losses')}, {_many(n, 'parameter', 'parameters')}"
    title = Text.assemble((source.title, "bold"), f"{at}: {size}, p = {norm}")
    return Panel(Group(*lines), title=title, title_align="left", box=box.ROUNDED, border_style="blue", padding=(0, 1))


def _binding(names: tuple[str, ...], centre: Any) -> Text:
    active = [name for name, binds in zip(names, centre.active, strict=True) if binds]
    dropped = [name for name, gone in zip(names, centre.dropped, strict=True) if gone]
    text = Text.assemble("binding: ", (", ".join(active) or "none", "bold"), f" ({len(active)} of {len(names)})")
    if dropped:
        text.append(f"   dropped: {', '.join(dropped)}", style=CONFLICT)
    return text


def _directions(comparison: Comparison, answers: list[Answer], names: list[str], weights: bool) -> Table:
    table = _table()
    _head(table)
    for name in names:
        table.add_column(Text(f"cos\n{name}"), justify="right")
    if weights:
        for name in names:
            table.add_column(Text(f"weight\n{name}"), justify="right")
    for answer in answers:
        cosines = [_cosine(value) for value in _list(answer.cosines)]
        shares = [_weight(value) for value in _list(answer.weights, len(names))] if weights else []
        table.add_row(*_start(comparison, answer), *cosines, *shares)
    return table


def _weights(answers: list[Answer], names: list[str]) -> Table:
    table = _table()
    table.add_column("method")
    for name in names:
        table.add_column(Text(name), justify="right", min_width=9)
    for answer in answers:
        table.add_row(_name(answer), *[_weight(value) for value in _list(answer.weights, len(names))])
    return table


def _summaries(comparison: Comparison, answers: list[Answer]) -> Table:
    table = _table()
    _head(table)
    table.add_column("least at")
    table.add_column("cos < 0", justify="right")
    for answer in answers:
        cosines = _list(answer.cosines)
        conflicts = sum(value < -_TIE for value in cosines)
        least = comparison.source.names[cosines.index(min(cosines))] if any(cosines) else "-"
        count = Text(str(conflicts), style=CONFLICT if conflicts else QUIET)
        table.add_row(*_start(comparison, answer), Text(_cut(least)), count)
    return table


def _silent(answers: list[Answer]) -> Table:
    table = _table()
    table.add_column("method")
    table.add_column("because it", style=QUIET)
    for answer in answers:
        table.add_row(_name(answer), Text(answer.note or ""))
    return table


def _head(table: Table) -> None:
    table.add_column("\nmethod", no_wrap=True)
    table.add_column("\nstatus", no_wrap=True)
    table.add_column("\nlength", justify="right", no_wrap=True)
    table.add_column("least\ncosine", justify="right", no_wrap=True)


def _start(comparison: Comparison, answer: Answer) -> tuple[Text, Text, Text, Text]:
    assert answer.status is not None
    status = Text(_STATUS_WORDS.get(answer.status.name, answer.status.name.lower()), style=_status_style(answer.status))
    deepest = comparison.p == 2 and answer.radius >= float(comparison.centre.radius) - _TIE
    style = CONFLICT if answer.radius < -_TIE else BEST if deepest and answer.radius > _TIE else ""
    return _name(answer), status, Text(_short(answer.length)), Text(f"{answer.radius + 0.0:.4f}", style=style)


_STATUS_WORDS = {"OPTIMAL": "ok", "ZERO_ROW": "zero row", "ITER_LIMIT": "iterations"}


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)


def _name(answer: Answer) -> Text:
    return Text(answer.method, style="bold" if answer.method == "chebyshev" else "")


def _cosine(value: float) -> Text:
    return Text(f"{value:.4f}" if abs(value) >= 5e-5 else "0.0000", style=CONFLICT if value < -_TIE else "")


def _weight(value: float | None) -> Text:
    if value is None:
        return Text("-", style=QUIET)
    style = CONFLICT if value < 0 else QUIET if value == 0 else ""
    return Text(_short(value), style=style)


def _short(value: float) -> str:
    """At most 9 characters, four digits."""
    if value == 0:
        return "0"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e3 else f"{value:.2e}"


def _list(values: Any, count: int = 0) -> list[Any]:
    return [None] * count if values is None else [float(value) for value in values]


def _status_style(status: Any) -> str:
    return {"OPTIMAL": GOOD, "NONFINITE": CONFLICT, "EMPTY": CONFLICT}.get(status.name, "yellow")


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _many(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"
