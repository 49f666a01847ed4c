"""`incenter problems` has every problem with what it is trained on."""

import pytest

from incenter.cli.problems import network_text
from incenter.pinn import MLP, Branches, problems
from tests.cli.running import run


@pytest.mark.parametrize("width", [80, 120])
def test_every_problem_has_its_card_and_nothing_is_wider_than_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert run("problems") == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= width
    places = [lines.index(name) for name in problems.names()]
    assert places == sorted(places)
    for start, end in zip(places, [*places[1:], len(lines)], strict=True):
        card = lines[start:end]
        heads = [line.split()[0] for line in card[1:] if line.startswith("  ") and line.strip()]
        assert {"points", "network", "training", "error", "options"} <= set(heads)
        words = " ".join(" ".join(card).split())
        problem = problems.by_name(lines[start])
        for name, term in problem.terms.items():
            assert f"{name} {term.size:,}" in words
        for option in problems.options(lines[start]):
            assert f"{option}=" in words
        equations = "".join("".join(problems.equations(lines[start])).split())
        assert equations in "".join("".join(card).split())


def test_networks_are_written_by_their_widths() -> None:
    assert network_text(MLP(50, 2), ("x", "t"), ("u",)) == "2-50-50-1 tanh"
    assert network_text(MLP(8, 1, "sin", inputs=("x",)), ("x", "t"), ("u", "v")) == "1-8-2 sin of x"
    branches = Branches(u=MLP(4, 1), a=MLP(3, 2, inputs=("x",)))
    assert network_text(branches, ("x", "t"), ("u", "a")) == "u: 2-4-1 tanh; a: 1-3-3-1 tanh of x"
