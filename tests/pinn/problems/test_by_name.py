"""Problems by name, with options; what is said of wrong ones."""

import importlib
from typing import Any

import pytest

from incenter.geometry.errors import IncenterError
from incenter.pinn import Problem, problems


def counts(problem: Problem) -> dict[str, int | None]:
    """The numbers of points that the terms name."""
    return {name: getattr(term, "count", None) for name, term in problem.terms.items()}


def test_the_names_are_those_of_the_paper_in_its_order() -> None:
    assert problems.names() == ["helmholtz", "kovasznay", "burgers", "heat", "klein_gordon", "inverse_heat"]


@pytest.mark.parametrize("name", problems.names())
def test_every_problem_knows_its_name_and_tells_what_it_is(name: str) -> None:
    problem = problems.by_name(name)
    assert isinstance(problem, Problem)
    assert problem.name == name
    assert problems.summary(name).endswith(".")
    header = importlib.import_module(f"incenter.pinn.problems.{name}").__doc__ or ""
    assert all(word in header for word in ("Settings:", "Error:", "Good:"))


@pytest.mark.parametrize("name", problems.names())
def test_the_defaults_can_be_said_and_change_nothing(name: str) -> None:
    defaults = problems.options(name)
    assert {"points", "width", "depth"} <= set(defaults)
    as_text = {option: str(value) for option, value in defaults.items()}
    for problem in (problems.by_name(name, **defaults), problems.by_name(name, **as_text)):
        assert counts(problem) == counts(problems.by_name(name))


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("burger", {}, "There is no problem called 'burger'. Did you mean 'burgers'?"),
        ("poisson", {}, "There are: helmholtz, kovasznay, burgers, heat, klein_gordon, inverse_heat."),
        ("plate.py", {}, "One of your own is FILE.py:NAME."),
        ("heat", {"operater": "paper"}, "The problem 'heat' has no option 'operater'. Did you mean 'operator'?"),
        ("kovasznay", {"zeta": 1}, "There are: nu, points, boundary_points, width, depth."),
        ("heat", {"operator": "weak"}, "`operator` of 'heat' must be one of paper, divergence; got 'weak'."),
        ("inverse_heat", {"setting": "noisy"}, "must be one of standard, higher-noise, fewer-data; got 'noisy'."),
        ("burgers", {"nu": "thick"}, "`nu` of 'burgers' must be a number; got 'thick'."),
        ("burgers", {"points": 10.5}, "`points` of 'burgers' must be a whole number; got 10.5."),
        ("burgers", {"points": "1e3"}, "`points` of 'burgers' must be a whole number; got '1e3'."),
        ("burgers", {"points": True}, "`points` of 'burgers' must be a whole number; got True."),
        ("burgers", {"nu": 0.0001}, "nu from 0.0008 to 0.2; got nu=0.0001"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(name: str, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(IncenterError) as caught:
        problems.by_name(name, **options)
    assert sentence in str(caught.value)


def test_text_becomes_numbers() -> None:
    problem = problems.by_name("burgers", points="128", nu="0.05")
    assert counts(problem)["residual"] == 128


def test_an_option_that_a_term_refuses_is_refused() -> None:
    with pytest.raises(IncenterError):
        problems.by_name("helmholtz", points=-5)
