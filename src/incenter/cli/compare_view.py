"""How a comparison looks in a terminal: the certified centre on top, then one line per rule, deepest first."""

from typing import Any

from rich import box
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from incenter.study.comparison import Answer, Comparison

BEST, GOOD, CONFLICT, QUIET = "bold green", "green", "bold red", "dim"
_FIXED_WIDTH = 48  # of the columns that every table has, with their spaces
_NUMBER = 8  # the widest cosine or weight, with the space after it
_LONGEST_NAMES = (14, 10, 7)  # tried in this order
_FEW_NAMES = 8
_TIE = 1e-6  # rules this close to r* share its colour


def show(console: Console, comparison: Comparison) -> None:
    """Print the centre, the rules' directions, their weights, and what could not be computed."""
    answered = [answer for answer in comparison.answers if answer.status is not None]
    silent = [answer for answer in comparison.answers if answer.status is None]
    console.print(_centre(comparison))
    console.print("[bold]Directions[/bold]: cosine to each loss; update = sum of weight x gradient")
    names, weights_beside = _fitting(comparison.source.names, console.width)
    if names is None:
        console.print(_summaries(comparison, answered))
        console.print(Text("Cosines and weights of each loss: --json", style=QUIET))
    else:
        console.print(_directions(comparison, answered, names, weights_beside))
        if not weights_beside:
            console.print("[bold]Weights[/bold]")
            console.print(_weights(answered, names))
    if silent:
        console.print("[bold]No answer[/bold]")
        console.print(_silent(silent))


def _fitting(names: tuple[str, ...], width: int) -> tuple[list[str] | None, bool]:
    """Names short enough for a column each, and whether weights find room beside the cosines; None if nothing fits."""
    for columns_per_name in (2, 1):
        for longest in _LONGEST_NAMES:
            cut = [_cut(name, longest) for name in names]
            if _FIXED_WIDTH + columns_per_name * sum(max(len(name) + 1, _NUMBER) for name in cut) <= width:
                return cut, columns_per_name == 2
    return None, False


def _centre(comparison: Comparison) -> Panel:
    source, centre = comparison.source, comparison.centre
    m, n = source.gradients.shape
    at = "" if source.step is None else f", step {source.step:,}"
    lines = [
        Text.assemble("r* = ", (f"{float(centre.radius):.8g}", "bold"), f"   certified gap {float(centre.gap):.1e}"),
        Text.assemble((_word(centre.status), _status_style(centre.status)), f": {centre.status.sentence}"),
        _binding(source.names, centre),
    ]
    norm = "inf" if comparison.p == float("inf") else f"{comparison.p:g}"
    size = f"{_many(m, 'loss', 'losses')}, {_many(n, 'parameter', 'parameters')}"
    title = Text.assemble((source.title, "bold"), f"{at}: {size}, p = {norm}")
    return Panel(Group(*lines), title=title, title_align="left", box=box.ROUNDED, border_style="blue", padding=(0, 1))


def _binding(names: tuple[str, ...], centre: Any) -> Text:
    active = [name for name, binds in zip(names, centre.active, strict=True) if binds]
    dropped = [name for name, gone in zip(names, centre.dropped, strict=True) if gone]
    text = Text.assemble("binding: ", (_listed(active), "bold"), f" ({len(active)} of {len(names)})")
    if dropped:
        text.append(f"   dropped: {_listed(dropped)}", style=CONFLICT)
    return text


def _listed(names: list[str]) -> str:
    others = len(names) - _FEW_NAMES
    return (", ".join(names[:_FEW_NAMES]) or "none") + (f" and {others} more" if others > 0 else "")


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
        shares = _weights_of(answer, len(names)) if weights else []
        table.add_row(*_start(comparison, answer), *cosines, *shares)
    return table


def _weights(answers: list[Answer], names: list[str]) -> Table:
    table = _table()
    table.add_column("method")
    for name in names:
        table.add_column(Text(name), justify="right", min_width=9)
    for answer in answers:
        table.add_row(_name(answer), *_weights_of(answer, len(names)))
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
    status = Text("ok" if answer.status.name == "OPTIMAL" else _word(answer.status), style=_status_style(answer.status))
    deepest = comparison.p == 2 and answer.radius >= float(comparison.centre.radius) - _TIE
    style = CONFLICT if answer.radius < -_TIE else BEST if deepest and answer.radius > _TIE else ""
    return _name(answer), status, Text(_short(answer.length)), Text(f"{answer.radius + 0.0:.4f}", style=style)


def _word(status: Any) -> str:
    return str(status.name).lower().replace("_", " ")


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


def _weights_of(answer: Answer, count: int) -> list[Text]:
    weights = _list(answer.weights, count)
    largest = max((abs(value) for value in weights if value is not None), default=0.0)
    # What is rounding beside the largest weight is shown as the 0 it stands for.
    return [_weight(value if value is None or abs(value) > 1e-12 * largest else 0.0) for value in weights]


def _short(value: float) -> str:
    """At most 9 characters, four digits."""
    if value == 0:
        return "0"
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e3 else f"{value:.2e}"


def _list(values: Any, count: int = 0) -> list[Any]:
    return [None] * count if values is None else [float(value) for value in values]


def _status_style(status: Any) -> str:
    return {"OPTIMAL": GOOD, "NONFINITE": CONFLICT, "EMPTY": CONFLICT}.get(status.name, "yellow")


def _cut(name: str, longest: int = _LONGEST_NAMES[0]) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _many(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"
