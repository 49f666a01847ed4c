"""The command of a stored run, typed: it asks for the very same run."""

import dataclasses
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from incenter.pinn import Configuration
from incenter.pinn.training import problem_of
from incenter.study import plans
from incenter.study.commands import DEFAULTS, command_of
from incenter.study.expansion import expand
from incenter.study.rows import Planned
from tests.cli.running import run

OWN = """
[base]
steps = 300
optimizer = "sgd"
optimizer_options = { momentum = 0.5, nesterov = true }
precision = 64
schedule = "exponential"
save_gradients = 7
checkpoint_every = 11
stop_error = 1e-2
nonfinite = "rollback"
finish = "lbfgs"
finish_steps = 20

[[grid]]
problems = [{ name = "heat", operator = "divergence" }, { name = "inverse_heat", setting = "fewer-data" }]
methods = ["sum", { name = "lra", rate = 0.1, every = 5 }]
seeds = [3, 4]

[[vary]]
stop_radius = [1e-9]
"""
NORMS = """
[[grid]]
problems = ["burgers"]
methods = ["chebyshev"]
lr = [3e-4, 1e-7]

[[vary]]
p = [1, 1.5, inf]
"""


class Asked(Exception):
    """The configuration that a training was called with."""


def stored(planned: Planned) -> dict[str, Any]:
    """As it comes back from a store."""
    return dict(json.loads(json.dumps(dict(planned.configuration))))


def asked_by(command: str, monkeypatch: pytest.MonkeyPatch) -> list[Configuration]:
    """What the command would train, nothing left to defaults."""
    asked: list[Configuration] = []

    def train(configuration: Configuration, **_: object) -> None:
        asked.append(configuration.resolved(problem_of(configuration)))
        raise Asked

    with monkeypatch.context() as patched:
        patched.setattr("incenter.pinn.training.train", train)
        program, *words = shlex.split(command)
        assert program == "incenter"
        with pytest.raises(Asked):
            run(*words)
    return asked


@pytest.mark.parametrize("source", [*plans.built_in(), OWN, NORMS])
def test_it_asks_for_the_run_with_the_same_fingerprint(
    source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = plans.read(source, "own") if "\n" in source else plans.load(source)
    cells = {repr(dict(each.configuration) | {"seed": 0}): each for each in expand(plan)}  # seeds apart, all the same
    for planned in cells.values():
        (found,) = asked_by(command_of(stored(planned)), monkeypatch)
        assert found.fingerprint() == planned.key


def test_what_goes_unsaid_is_the_default() -> None:
    defaults = {each.name: each.default for each in dataclasses.fields(Configuration)}
    plain = {name: value for name, value in defaults.items() if not name.endswith("_options")}
    del plain["problem"], plain["method"], plain["seed"]
    assert {name: value for name, value in plain.items() if value is not None} == DEFAULTS


def test_several_devices_are_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = Configuration("burgers", devices=4)
    command = command_of(wanted.as_dict())
    assert "--devices 4" in command
    (found,) = asked_by(command, monkeypatch)
    assert found.devices == 4


def test_several_seeds_are_one_command() -> None:
    configuration = Configuration("burgers", lr=1e-3, steps=10).as_dict()
    assert command_of(configuration, (0, 1, 2)) == (
        "incenter train burgers --method chebyshev --lr 0.001 --steps 10 --seeds 0,1,2"
    )


def test_a_shell_reads_it_as_it_is() -> None:
    configuration = {"problem": "my own.py:wave", "method": "sum", "seed": 0, "problem_options": {"name": "a b;c"}}
    assert shlex.split(command_of(configuration)) == [
        "incenter", "train", "my own.py:wave", "--method", "sum", "--seeds", "0", "--set", "problem.name=a b;c",
    ]  # fmt: skip
