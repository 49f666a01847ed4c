"""The pages' Python is run as it stands, what it prints is what they say, and their links lead somewhere."""

import doctest
import re
import textwrap
from pathlib import Path

import pytest

import incenter

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(ROOT.glob("docs/**/*.md"))
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
MADE_WITH_THE_SITE = {"cone_explorer.html"}
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")


def blocks(page: Path) -> list[str]:
    return [textwrap.dedent(block) for block in BLOCK.findall(page.read_text())]


def run_session(block: str, names: dict[str, object], page: str) -> None:
    """What the block shows below each >>> is what it gives."""
    session = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
    wrong: list[str] = []
    doctest.DocTestRunner(verbose=False).run(session, out=wrong.append, clear_globs=False)
    assert not wrong, "".join(wrong)
    names.update(session.globs)


# Tutorials have commands between their code, and a test of their own.
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page) and page.parent.name != "tutorials"], ids=lambda page: page.name
)
def test_the_code_of_a_page_runs_from_top_to_bottom(page: Path) -> None:
    names: dict[str, object] = {}
    for block in blocks(page):
        if ">>> " in block:
            run_session(block, names, page.name)
        else:
            exec(compile(block, str(page), "exec"), names)


def test_the_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in blocks(ROOT / "README.md"):
        exec(compile(block, "README.md", "exec"), names)
        printed = capsys.readouterr().out.splitlines()
        promised = re.findall(r"print\(.*\)\s+# (.*)$|^# (.*)$", block, re.MULTILINE)
        for line, (beside, below) in zip(printed, promised, strict=True):
            # A remark may follow the value, after a colon.
            assert (beside or below).split(":")[0].strip() == line.strip()


def test_the_readme_names_every_rule() -> None:
    content = (ROOT / "README.md").read_text()
    assert [name for name in incenter.methods.names() if f"`{name}`" not in content] == []


def test_every_rule_has_its_line_and_its_page_in_the_docs() -> None:
    lines = (ROOT / "docs/methods/index.md").read_text().splitlines()
    for name in incenter.methods.names():
        assert sum(line.startswith(f"- [{name}]({name}.md): ") for line in lines) == 1, name
        page = ROOT / f"docs/methods/{name}.md"
        assert page.read_text().startswith(f"# {name}\n")
        assert any(">>> " in block for block in blocks(page)), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    missing = [link for link in LINK.findall(prose) if not (page.parent / link).exists()]
    assert set(missing) <= MADE_WITH_THE_SITE
