r"""A table of short texts for a terminal, in Markdown and in LaTeX.

The best entry of a column is bold and the second underlined. A line of small print below another line belongs to it. A
terminal that is too narrow for all columns gets them in several blocks, each with the names of the lines.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

Mark = Literal["", "best", "second"]
NOTHING = "\N{EM DASH}"  # in a cell without a number
_STYLES = {"": "", "best": "bold", "second": "underline"}
_PADDING = 1
_GAP = _PADDING + 1  # between columns: rich puts its own divider there


@dataclass(frozen=True)
class Entry:
    """What stands in a cell."""

    text: str
    mark: Mark = ""
    runs: tuple[str, ...] = ()  # the keys of those that the number is made of


@dataclass(frozen=True)
class Body:
    """A line of the grid."""

    title: str
    entries: tuple[Entry, ...]
    small: bool = False
    rule: bool = False  # a rule above it


@dataclass(frozen=True)
class Grid:
    """All that is printed of a table."""

    title: str
    corner: str  # above the names of the lines
    columns: tuple[str, ...]
    lines: tuple[Body, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Terminal:
    """A grid as rich prints it, as wide as the console allows."""

    grid: Grid

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich import box
        from rich.table import Table
        from rich.text import Text

        yield Text(self.grid.title, style="bold")
        yield ""
        for chosen in self._blocks(options.max_width):
            table = Table(box=box.SIMPLE_HEAD, padding=(0, _PADDING, 0, 0), pad_edge=False, show_edge=False)
            table.add_column(self.grid.corner, no_wrap=True)
            for column in chosen:
                table.add_column(Text(self.grid.columns[column]), no_wrap=True)
            for line in self.grid.lines:
                if line.rule:
                    table.add_section()
                style = "dim" if line.small else ""
                entries = (line.entries[column] for column in chosen)
                texts = (Text.assemble((each.text, _STYLES[each.mark])) for each in entries)
                table.add_row(Text(f"  {line.title}" if line.small else line.title), *texts, style=style)
            yield table
            yield ""
        for note in self.grid.notes:
            yield Text(note, style="dim")

    def _blocks(self, width: int) -> Iterator[list[int]]:
        """The numbers of the columns that fit beside each other."""
        first = max([len(self.grid.corner), *(len(line.title) + 2 * line.small for line in self.grid.lines)])
        block: list[int] = []
        left = width - first
        for column, title in enumerate(self.grid.columns):
            needed = _GAP + max([len(title), *(len(line.entries[column].text) for line in self.grid.lines)])
            if block and needed > left:
                yield block
                block, left = [], width - first
            block.append(column)
            left -= needed
        yield block


class Rendered(ABC):
    """What has a grid, in every form."""

    @abstractmethod
    def grid(self) -> Grid:
        """Its entries, in lines and columns."""

    def terminal(self) -> Terminal:
        """To be printed by a `rich.console.Console`."""
        return Terminal(self.grid())

    def markdown(self) -> str:
        return markdown(self.grid())

    def latex(self) -> str:
        return latex(self.grid())


def markdown(grid: Grid) -> str:
    """A heading, a table, and the notes."""
    lines = [f"### {_markdown_text(grid.title)}", ""]
    lines.append(_markdown_line([_markdown_text(grid.corner), *map(_markdown_text, grid.columns)]))
    lines.append(_markdown_line([":--", *("--:" for _ in grid.columns)]))
    for line in grid.lines:
        wrap = "<sub>{}</sub>" if line.small else "{}"
        texts = [_markdown_text(line.title), *map(_markdown_entry, line.entries)]
        lines.append(_markdown_line([wrap.format(text) if text else "" for text in texts]))
    for note in grid.notes:
        lines += ["", _markdown_text(note)]
    return "\n".join(lines) + "\n"


def latex(grid: Grid) -> str:
    """A table for a document that uses booktabs."""
    lines = [r"\begin{table}[t]", r"\centering", rf"\caption{{{_latex_text(grid.title)}}}", r"\small"]
    lines.append(rf"\begin{{tabular}}{{l{'c' * len(grid.columns)}}}")
    lines += [r"\toprule", _latex_line(map(_latex_text, (grid.corner, *grid.columns))), r"\midrule"]
    for line in grid.lines:
        if line.rule:
            lines.append(r"\midrule")
        texts = [_latex_text(line.title), *map(_latex_entry, line.entries)]
        lines.append(_latex_line(rf"{{\footnotesize {text}}}" if line.small and text else text for text in texts))
    lines += [r"\bottomrule", r"\end{tabular}"]
    if grid.notes:
        lines += ["", r"\smallskip", r"\begin{minipage}{\linewidth}\footnotesize"]
        lines += [rf"{_latex_text(note)}\par" for note in grid.notes]
        lines.append(r"\end{minipage}")
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _markdown_line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _markdown_entry(entry: Entry) -> str:
    text = _markdown_text(entry.text)
    return {"": text, "best": f"**{text}**", "second": f"<ins>{text}</ins>"}[entry.mark]


def _markdown_text(text: str) -> str:
    return re.sub(r"([\\|*_<>`#\[\]])", r"\\\1", text)


def _latex_line(texts: Iterable[str]) -> str:
    return " & ".join(texts) + r" \\"


def _latex_entry(entry: Entry) -> str:
    text = _latex_text(entry.text)
    return {"": text, "best": rf"\textbf{{{text}}}", "second": rf"\underline{{{text}}}"}[entry.mark]


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\(<\)", ">": r"\(>\)", NOTHING: r"\textemdash{}",
    "\N{MULTIPLICATION SIGN}": r"\(\times\)",
}  # fmt: skip
# A power of ten, a number with its sign, and everything that has a meaning of its own.
_TOKENS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)(?!\w)|(?<![\w(])([+-]\d+(?:\.\d+)?)(?!\w)|(.)", re.DOTALL)


def _latex_text(text: str) -> str:
    return _TOKENS.sub(_latex_token, text)


def _latex_token(found: re.Match[str]) -> str:
    digits, power, signed, single = found.groups()
    if digits is not None:
        factor = "" if float(digits) == 1 else rf"{digits}\times "
        return rf"\({factor}10^{{{int(power)}}}\)"
    return rf"\({signed}\)" if signed is not None else _LATEX.get(single, single)
