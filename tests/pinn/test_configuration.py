"""Configurations: what they refuse, how they are written down, and how text reaches every field."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incenter import IncenterError
from incenter.pinn.configuration import Configuration
from incenter.pinn.loading import from_file
from incenter.pinn.training import problem_of
from incenter.study.expansion import expand
from incenter.study.plans import load

SOURCE = """
from dataclasses import dataclass
from typing import ClassVar
from incenter.methods import GramRule, Weighing

@dataclass(frozen=True)
class Loudest(GramRule):
    name: ClassVar[str] = "loudest"
    share: float = 0.5

    def weigh(self, rows, losses=None, state=None, key=None):
        return Weighing(rows.relative_norms * 0 + self.share)

def mine(points: int = 100, operator: str = "paper", *, scale=0.1):
    return type("Made", (), {"terms": {}, "points": points, "operator": operator, "scale": scale})()

number = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "own.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"lr": 0.0}, "`lr` must be a positive number; got 0.0"),
        ({"lr": float("nan")}, "`lr` must be a positive number; got nan"),
        ({"lr": "fast"}, "`lr` must be a positive number; got 'fast'"),
        ({"steps": -1}, "`steps` must be a whole number, 0 or more; got -1"),
        ({"steps": 1.5}, "`steps` must be a whole number, 0 or more; got 1.5"),
        ({"seed": -1}, "`seed` must be a whole number, 0 or more; got -1"),
        ({"seed": 2**32}, r"`seed` must be below 2\^32"),
        ({"devices": 0}, "`devices` must be a whole number, 1 or more; got 0"),
        ({"precision": 16}, "`precision` must be 32 or 64; got 16"),
        ({"p": 0.5}, r"`p` must be in \[1, inf\]; got p=0.5"),
        ({"stop_radius": -1e-6}, "`stop_radius` must be a 0 or positive number"),
        ({"stop_error": 0.0}, "`stop_error` must be a positive number"),
        ({"stop_seconds": -1.0}, "`stop_seconds` must be a positive number"),
        ({"record_every": 0}, "`record_every` must be a whole number, 1 or more; got 0"),
        ({"nonfinite": "ignore"}, '`nonfinite` must be "hold" or "rollback"; got \'ignore\''),
        ({"finish": "bfgs", "finish_steps": 1}, '`finish` must be "lbfgs" or None'),
        ({"finish": "lbfgs"}, "`finish` and `finish_steps` go together"),
        ({"method_options": [1]}, r"`method_options` must be a dictionary; got \[1\]"),
        ({"learning_rate": 0.1}, "no field of a configuration called 'learning_rate'"),
        ({"stepz": 3}, "Did you mean 'steps'"),
    ],
)
def test_impossible_fields_are_one_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(IncenterError, match=sentence):
        Configuration.from_mapping({"problem": "burgers"} | fields)


def test_a_problem_is_needed() -> None:
    with pytest.raises(IncenterError, match="needs a `problem`"):
        Configuration.from_mapping({"lr": 0.1})


def test_what_is_written_is_read_again() -> None:
    """Through JSON and back, with the same fingerprint, which every field but none of its order decides."""
    one = Configuration("burgers", problem_options={"points": 3}, lr=1e-3, steps=7, stop_error=0.1, finish_steps=0)
    other = Configuration.from_mapping(dict(reversed(json.loads(one.as_json()).items())))
    assert other == one
    assert other.fingerprint() == one.fingerprint()
    different: list[dict[str, Any]] = [
        {"seed": 1},
        {"lr": 2e-3},
        {"problem_options": {"points": 4}},
        {"p": 2.5},
        {"stop_radius": None},
        {"devices": 2},
    ]
    prints = {Configuration.from_mapping(one.as_dict() | change).fingerprint() for change in different}
    assert len(prints | {one.fingerprint()}) == 7


def test_the_fingerprint_is_for_good() -> None:
    """A store of runs finds them by it: a change here is a change of what every stored run is called."""
    assert Configuration("burgers", lr=1e-3, steps=7).fingerprint() == "a04d8bb7e74cdac2"
    first_of_the_paper = expand(load("paper-forward"))[0]
    assert first_of_the_paper.key == "8463ba9a3b6b7c2f"


def test_one_device_is_not_written_down() -> None:
    """Runs were kept before there was a choice: their records, and those of the same runs today, are one text."""
    one = Configuration("burgers")
    assert "devices" not in one.as_dict()
    assert Configuration.from_mapping(one.as_dict()).devices == 1
    several = Configuration("burgers", devices=2)
    assert several.as_dict() == one.as_dict() | {"devices": 2}
    assert several.changes() == {"devices": 2}
    assert Configuration.from_mapping(several.as_dict()) == several


def test_numpy_numbers_are_numbers() -> None:
    found = Configuration("burgers", seed=np.int64(3), lr=np.float32(0.5))  # type: ignore[arg-type]
    assert (type(found.seed), type(found.lr)) == (int, float)


def test_objects_are_written_by_name_and_not_read() -> None:
    found = Configuration(type("Heat", (), {"name": "my heat", "terms": {}})())
    assert found.as_dict()["problem"] == "python:my heat"
    with pytest.raises(IncenterError, match="'my heat', was given as a Python object"):
        Configuration.from_mapping(found.as_dict())


def test_what_is_left_open_is_the_problems_own() -> None:
    problem = type("P", (), {"settings": type("S", (), {"lr": 3e-4, "steps": 30_000})()})()
    found = Configuration("p").resolved(problem)
    assert (found.lr, found.steps, found.record_every, found.checkpoint_every) == (3e-4, 30_000, 60, 1500)
    assert Configuration("p", lr=1.0).resolved(problem).lr == 1.0
    assert Configuration("p").resolved(None).steps == 50_000


class TestSettings:
    """FIELD=VALUE."""

    @pytest.mark.parametrize(
        ("setting", "field", "value"),
        [
            ("steps=2000", "steps", 2000),
            ("steps=2e3", "steps", 2000),
            ("stop_radius=1e-8", "stop_radius", 1e-8),
            ("stop_radius=none", "stop_radius", None),
            ("nonfinite=rollback", "nonfinite", "rollback"),
            ("p=1.5", "p", 1.5),
            ("method.p=3", "p", 3.0),
            ("method=lra", "method", "lra"),
            ("length=sum", "method_options", {"length": "sum"}),
            ("b1=0.5", "optimizer_options", {"b1": 0.5}),
            ("optimizer.nesterov=yes", "optimizer_options", {"nesterov": True}),
            ("points=1280", "problem_options", {"points": 1280}),
            ("problem.points=1280", "problem_options", {"points": 1280}),
        ],
    )
    def test_text_reaches_its_field(self, setting: str, field: str, value: Any) -> None:
        found = getattr(Configuration("burgers").with_settings([setting]), field)
        assert found == value
        assert type(found) is type(value)

    def test_names_decide_which_options_there_are_whatever_the_order(self) -> None:
        texts = ["every=5", "momentum=0.9", "end=0.1", "method=lra", "optimizer=sgd", "schedule=cosine"]
        found = Configuration("burgers").with_settings(texts)
        assert found.method_options == {"every": 5}
        assert found.optimizer_options == {"momentum": 0.9}
        assert found.schedule_options == {"end": 0.1}

    def test_a_file_has_options_too(self, file: Path) -> None:
        found = Configuration(f"{file}:mine", method=f"{file}:Loudest")
        found = found.with_settings(["operator=divergence", "scale=3", "share=0.25"])
        assert found.problem_options == {"operator": "divergence", "scale": 3.0}
        assert found.method_options == {"share": 0.25}
        made = problem_of(found)
        assert (made.points, made.operator, made.scale) == (100, "divergence", 3.0)

    def test_a_name_of_two_owners_needs_a_prefix(self) -> None:
        both = Configuration("burgers", method="multiadam", optimizer="adam")
        with pytest.raises(IncenterError, match=r"`eps` belongs to .*; write method.eps or optimizer.eps"):
            both.with_settings(["eps=1e-6"])
        assert both.with_settings(["method.eps=1e-6"]).method_options == {"eps": 1e-6}

    @pytest.mark.parametrize(
        ("setting", "sentence"),
        [
            ("steps", "A setting is FIELD=VALUE; got 'steps'"),
            ("=3", "A setting is FIELD=VALUE"),
            ("stepz=3", "no field called 'stepz'. Did you mean 'steps'"),
            ("method.lenght=sum", "no option of the method called 'lenght'. Did you mean 'length'"),
            ("steps=many", "`steps` takes a whole number; got steps=many"),
            ("steps=1.5", "`steps` takes a whole number; got steps=1.5"),
            ("lr=fast", "`lr` takes a number; got lr=fast"),
            ("lr=-1", "`lr` must be a positive number"),
            ("nesterov=perhaps", "`nesterov` takes true or false; got nesterov=perhaps"),
        ],
    )
    def test_what_cannot_be_set_is_one_sentence(self, setting: str, sentence: str) -> None:
        with pytest.raises(IncenterError, match=sentence):
            Configuration("burgers").with_settings([setting])


class TestFiles:
    """FILE.py:NAME."""

    def test_the_same_file_is_run_once(self, file: Path) -> None:
        assert from_file(f"{file}:Loudest") is from_file(f"{file}:Loudest")

    def test_another_content_is_another_module(self, file: Path) -> None:
        before = from_file(f"{file}:number")
        file.write_text(SOURCE + "number = 4\n")
        assert (before, from_file(f"{file}:number")) == (3, 4)

    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("{stem}s.py:mine", r"There is no file .*owns.py"),
            ("{file}:mein", "Did you mean 'mine'"),
            ("{file}:number", "`problem` must be a Problem, a name, or FILE.py:NAME"),
            ("{file}:dataclass", "must make a Problem|cannot be made"),
        ],
    )
    def test_what_is_wrong_with_a_name_is_one_sentence(self, file: Path, name: str, sentence: str) -> None:
        named = name.format(file=file, stem=file.with_suffix(""))
        with pytest.raises(IncenterError, match=sentence):
            problem_of(Configuration(named))

    def test_a_file_that_fails_says_with_what(self, file: Path) -> None:
        file.write_text("1 / 0\n")
        with pytest.raises(IncenterError, match=r"own.py stops with ZeroDivisionError \(division by zero\)"):
            from_file(f"{file}:mine")
