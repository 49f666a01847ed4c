"""The tutorials are done from top to bottom, each in an empty folder: files are saved, commands typed, Python run.

A block with a title is saved under that name. A line of a `console` block that begins with `$` is typed; what it must
print may stand below it, `...` for anything. A page may say `<!-- tested with 200 for 20000 -->`: that number in its
commands is made small here. One that says `<!-- tested by make check -->` takes a minute and is left to the long tests.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs/tutorials"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)
SMALLER = re.compile(r"<!-- tested with (\S+) for (\S+) -->")
PAGES = [
    pytest.param(page, marks=[pytest.mark.slow] if "<!-- tested by make check -->" in page.read_text() else [])
    for page in sorted(FOLDER.glob("*.md"))
    if BLOCK.search(page.read_text())
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
# Importing plotting and cluster libraries warns of their own affairs; what is shown here is ours.
@pytest.mark.filterwarnings("default")
def test_a_tutorial_works_from_top_to_bottom(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    names: dict[str, object] = {}
    for language, title, block in BLOCK.findall(text):
        if title:
            Path(title).write_text(block)
        elif language == "console":
            for command, expected in commands(block):
                check(typed(made_small(command, text)), expected)
        elif language == "python":
            exec(compile(block, str(page), "exec"), names)


def commands(block: str) -> list[tuple[str, str]]:
    """Each command with the lines below it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, expected) for command, _, expected in (part.partition("\n") for part in parts)]


def made_small(command: str, page: str) -> str:
    for small, large in SMALLER.findall(page):
        command = re.sub(rf"(?<= ){re.escape(large)}\b", small, command)
    return command


def typed(command: str) -> str:
    """What a command prints, run by the interpreter that runs the tests."""
    program, *arguments = shlex.split(command)
    interpreter = {"incenter": [sys.executable, "-m", "incenter"], "python": [sys.executable]}[program]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [*interpreter, *arguments], capture_output=True, text=True, timeout=240, env=os.environ | {"PATH": path}
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def check(printed: str, expected: str) -> None:
    if expected.strip():
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert doctest.OutputChecker().check_output(expected, printed, flags), printed
