"""Write all of it again: `python -m docs.writers`; tests fail while a page is stale."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import section, with_section
from docs.writers.commands import commands
from docs.writers.methods import PAGES, at_a_glance, facts, header
from incenter.methods import names


def written() -> Iterator[tuple[Path, str]]:
    """Every page that has such parts, and what it should hold."""
    for name in names():
        page = PAGES / f"methods/{name}.md"
        yield page, with_section(with_section(page.read_text(), "header", header(name)), "facts", facts(name))
    for page, part, text in (
        (PAGES / "methods/index.md", "promises", at_a_glance()),
        (PAGES / "reference/commands.md", "commands", commands()),
        (PAGES.parent / "README.md", "speed", speed()),
    ):
        yield page, with_section(page.read_text(), part, text)


def speed() -> str:
    """The first table that `benchmarks.step` has written, with the line above it that says where it was measured."""
    where, title, table, *_ = section((PAGES / "performance.md").read_text(), "step").split("\n\n")
    title, machine = title.removesuffix(":"), where.split(";")[1].strip()
    return f"{title}, as `python -m benchmarks.step` measures it ({machine}):\n\n{table}"


def main() -> None:
    for page, content in written():
        if page.read_text() != content:
            page.write_text(content)
            print(f"written: {page.relative_to(PAGES.parent)}")


if __name__ == "__main__":
    main()
