"""`incenter compare`: what it prints at several widths, what it says of bad input, and its JSON."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import incenter
from incenter.cli.compare_view import show
from incenter.study.comparison import compare
from incenter.study.examples import Gradients, toy, worked
from tests.cli.running import run

RANDOM = np.random.default_rng(5)
SOURCES = {
    "toy": toy(),
    "worked": worked(),
    "long names": Gradients(
        RANDOM.standard_normal((4, 9)), ("residual [strong form]", "boundary", "initial", "x"), "a"
    ),
    "many": Gradients(RANDOM.standard_normal((30, 100)), tuple(f"[loss] {i}" for i in range(30)), "b", step=1200),
    "one": Gradients(RANDOM.standard_normal((1, 3)), ("g1",), "c"),
    "zero row": Gradients(np.array([[0.0, 0.0], [1.0, 2.0]]), ("g1", "g2"), "d"),
    "not finite": Gradients(np.array([[np.nan, 0.0], [1.0, 2.0]]), ("g1", "g2"), "e"),
    "stationary": Gradients(np.array([[1.0, 0.0], [-1.0, 0.0]]), ("g1", "g2"), "f"),
}


def printed(source: Gradients, width: int) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    show(console, compare(source))
    return console.export_text()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", SOURCES)
def test_nothing_is_wider_than_the_terminal_or_broken_over_lines(name: str, width: int) -> None:
    lines = printed(SOURCES[name], width).splitlines()
    assert max(map(len, lines)) <= width
    for method in incenter.methods.names():
        assert sum(line.split()[:1] == [method] for line in lines) in (1, 2)  # its direction, and its weights or reason


def test_the_centre_is_on_top() -> None:
    lines = printed(toy(), 80).splitlines()
    assert "3 losses, 3 parameters, p = 2" in lines[0]
    assert "r* = 0.70710678" in lines[1]
    assert "certified gap" in lines[1]
    assert "binding: g1, g2 (2 of 3)" in lines[3]


def test_weights_stand_beside_the_cosines_where_there_is_room() -> None:
    assert "Weights" in printed(toy(), 80)
    assert "Weights" not in printed(toy(), 120)
    assert "--json" in printed(SOURCES["many"], 120)


def test_json_holds_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", "toy", "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["radius"] == pytest.approx(1 / np.sqrt(2), abs=1e-12)
    assert found["active"] == [True, True, False]
    methods = {method["method"]: method for method in found["methods"]}
    assert methods["config"]["weights"] == pytest.approx([1.06363636, 3.27272727, -6.13636364], abs=1e-8)
    assert "note" in methods["ntk"]
    assert sorted(methods) == incenter.methods.names()


def test_json_of_numbers_that_are_not_finite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "g.npz", gradients=SOURCES["not finite"].gradients)
    assert run("compare", str(tmp_path / "g.npz"), "--json") == 0
    assert json.loads(capsys.readouterr().out)["status"] == "NONFINITE"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["compare", "nowhere.npz"], "incenter: There is no file nowhere.npz."),
        (["compare", "toy", "--p", "0.5"], "`p` must be in [1, inf]; got p=0.5."),
        (["compare", "toy", "--p", "two"], 'unable to convert "two"'),
        (["compare"], "requires an argument"),
        (["compere", "toy"], "compere"),
        (["picture", "picture.bmp"], "must end in .png, .svg or .pdf"),
    ],
)
def test_what_the_user_can_mend_ends_in_a_sentence_and_exit_code_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    output = capsys.readouterr()
    assert sentence in output.err
    assert output.out == ""
    assert "Traceback" not in output.err
