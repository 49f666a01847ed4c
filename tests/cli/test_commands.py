"""The other commands, and how the program is started."""

import subprocess
import sys
from pathlib import Path

import pytest

import incenter
from tests.cli.running import run


def test_methods_lists_every_rule_with_a_line_of_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert run("methods") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    for name in incenter.methods.names():
        (line,) = [line for line in lines if line.startswith(f" {name} ")]
        assert len(line.split()) > 4  # from, memory, needs, and a summary
    (chebyshev,) = [line for line in lines if line.startswith(" chebyshev ")]
    assert chebyshev.split()[1:4] == ["Gram", "no", "-"]


def test_picture_puts_an_svg_beside_the_png(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("picture", str(tmp_path / "geometry.png")) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["geometry.png", "geometry.svg"]
    assert "geometry.png" in capsys.readouterr().out.replace("\n", "")


def test_python_dash_m_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "incenter", "compare", "nowhere.npz"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("incenter: There is no file nowhere.npz.")
    assert len(done.stderr.splitlines()) == 1


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\nfrom incenter.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'matplotlib', 'jax', 'torch', 'scipy'} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for command in ("compare", "methods", "picture", "plot", "problems", "train"):
        assert command in done.stdout
