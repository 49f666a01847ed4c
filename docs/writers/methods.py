"""The parts of a method's page that its module, its class, its tests and the benchmarks know already.

A page `docs/methods/NAME.md` has two marked sections: `header`, the module's docstring, and `facts`, a table of what
the rule needs and keeps, its fields, and the reference. What stands between the sections is written by hand.
"""

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from griffe import Docstring, DocstringSectionParameters

from benchmarks.timing import section, table
from incenter.methods import Rule, by_name
from incenter.study.comparison import keeps_state
from tests.methods.test_property_matrix import CASES, PROMISES

PAGES = Path(__file__).parents[1]
_TEST = "../../tests/methods/test_property_matrix.py"
_PROMISES = {
    "increases no loss": "test_conflicts",
    "direction free of the losses' scales": "test_scaling_the_losses",
    "update free of the losses' order": "test_exchanging_the_losses",
}


def header(name: str) -> str:
    """What the module's docstring says, formulas in blocks; the name before its first colon is the page's title."""
    text, _ = _split(name)
    first, rest = text.split("\n", 1)
    summary = first.split(": ", 1)[-1]
    return f"{summary[0].upper()}{summary[1:]}\n\n{_with_formulas(rest)}"


def facts(name: str) -> str:
    """At a glance, variants, reference."""
    rule = by_name(name)
    glance = "\n".join(["| | |", "|---|---|", *(f"| {what} | {value} |" for what, value in _glance(rule))])
    _, reference = _split(name)
    return f"## At a glance\n\n{glance}\n\n{_variants(rule)}## Reference\n\n{_reference(reference)}"


def at_a_glance() -> str:
    """One line for each rule that the property matrix tests."""
    head = ["rule", *_PROMISES]
    rows = [[f"[{name}]({name}.md)", *("yes" if kept else "no" for kept in PROMISES[name])] for name in PROMISES]
    return table(head, rows)


def _split(name: str) -> tuple[str, str]:
    """The module's docstring before and from its line of reference."""
    module = inspect.getmodule(type(by_name(name)))
    text = inspect.cleandoc(module.__doc__ or "") if module else ""
    before, reference = re.split(r"\n(?=Reference: )", text, maxsplit=1)
    return before.strip(), reference.strip()


def _with_formulas(text: str) -> str:
    """Lines that are indented become a block, so that their letters stay as they are."""
    parts = []
    for piece in re.split(r"((?:^ {4}.*\n?|^\n(?= {4}))+)", text + "\n", flags=re.MULTILINE):
        lines = piece.strip("\n")
        in_words = lines.replace("r*", r"r\*")  # no emphasis begins there
        formulas = re.sub(r" {3,}(\(\d\))$", r"   \1", textwrap.dedent(lines), flags=re.MULTILINE)  # a page is narrow
        parts.append(f"```text\n{formulas}\n```" if lines.startswith("    ") else in_words)
    return "\n\n".join(part for part in parts if part.strip())


def _glance(rule: Rule) -> Iterator[tuple[str, str]]:
    for kept, (promise, test) in zip(PROMISES.get(rule.name, ()), _PROMISES.items(), strict=False):
        answer = f"yes, in all of {CASES} random cases" if kept else "no"
        yield promise, f"{answer} ([the test]({_TEST}#{test}))"
    yield "reads", "the Gram matrix of the gradients alone" if rule.gram_only else "the entries of the gradients"
    if rule.needs:
        yield "asks for", ", ".join(f"`{need}`" for need in sorted(rule.needs))
    yield "remembers", "a state, handed on from step to step" if keeps_state(rule.name) else "nothing"
    if rule.own_optimizer:
        yield "its own optimiser", "yes: step plainly, never under Adam"
    measured = _measured(rule.name)
    if measured:
        yield "time of one call", f"{measured} ([measured](../performance.md#every-rule))"


def _measured(name: str) -> str:
    """What the benchmark of all rules has in its row of this one."""
    lines = section((PAGES / "performance.md").read_text(), "rules").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    rows = {row[0]: row[1:] for row in cells}
    if name not in rows:
        return ""
    head = next(row[1:] for row in cells)
    return ", ".join(f"{time} at {size}" for size, time in zip(head, rows[name], strict=True))


def _variants(rule: Rule) -> str:
    """The dataclass's fields, with their meanings from its docstring."""
    meanings = _meanings(type(rule))
    rows = []
    for field in dataclasses.fields(rule):  # type: ignore[arg-type]
        default = getattr(rule, field.name)
        shown = f'"{default}"' if isinstance(default, str) else str(default)
        rows.append(f"| `{field.name}` | `{shown}` | {meanings[field.name]} |")
    return "\n".join(["## Variants\n", "| field | default | meaning |", "|---|---|---|", *rows, "", ""])


def _meanings(rule: type[Rule]) -> dict[str, str]:
    sections = Docstring(inspect.getdoc(rule) or "").parse("numpy", warnings=False)
    return {
        each.name: " ".join(each.description.split()).replace("|", r"\|")
        for part in sections
        if isinstance(part, DocstringSectionParameters)
        for each in part.value
    }


def _reference(text: str) -> str:
    cited, *differs = re.split(r"\s*Differs from it: ", text, maxsplit=1)
    own = f"\n\n**Here it differs:** {differs[0]}" if differs else ""
    return cited.removeprefix("Reference: ") + own
