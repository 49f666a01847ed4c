"""Every statement of the paper points to the test that checks it, and the test is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(((?:\.\./)+(?:tests|src|examples)/[^)#]+)#([^)]+)\)")
POINTERS = [
    (page, *link)
    for page in sorted((ROOT / "docs").rglob("*.md"))
    for link in sorted(set(LINK.findall(page.read_text())))
]


@pytest.mark.parametrize(("page", "link", "name"), POINTERS, ids=[f"{page.stem}-{name}" for page, _, name in POINTERS])
def test_the_test_that_a_page_points_to_exists(page: Path, link: str, name: str) -> None:
    assert re.search(rf"^(def|class) {re.escape(name)}\b", (page.parent / link).read_text(), re.MULTILINE)


def test_every_statement_has_its_test() -> None:
    lines = (ROOT / "docs/mathematics.md").read_text().splitlines()
    table = [line for line in lines if line.startswith("| ")][1:]
    assert len(table) >= 20
    assert [line for line in table if "/test_" not in line] == []
