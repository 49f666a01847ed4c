"""The costs of the paper's methods: the plan's rules, and what the file and the table say."""

from benchmarks.method_steps import content, report, rules
from benchmarks.step_contenders.ours import Ours
from benchmarks.step_report import Measured
from benchmarks.step_worker import Taken


def test_the_rules_are_those_of_the_plan_with_their_fields() -> None:
    assert rules()["mgda"] == "mgda iterations=20 tolerance=1e-06"
    assert rules()["chebyshev"] == "chebyshev"
    assert len(rules()) == 11


def test_a_rule_with_fields_makes_its_steps() -> None:
    Ours("burgers", rules()["mgda"]).run(2)


def test_a_method_that_is_lost_is_missing_from_the_file_and_named_in_the_table() -> None:
    found = {"burgers": {"sum": Measured(best=Taken(0.002, 0.0015)), "mgda": Measured(reason="it ended")}}
    made = content(found, 3)
    assert made["steps"] == {"burgers": {"sum": {"processor": 1.5, "wall": 2.0}}}
    assert made["rounds"] == 3
    assert "| Adam        |     1.5 |" in report(found)
    assert "- mgda, burgers: it ended" in report(found)
