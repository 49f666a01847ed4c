"""The time left: steps to come at the speed of those that were made."""

import pytest

from incenter.study.forecast import Forecast


def test_nothing_is_known_before_the_first_run() -> None:
    assert Forecast().left([("burgers", 100)], 2) is None


def test_each_problem_has_its_speed_and_an_unknown_one_that_of_all() -> None:
    forecast = Forecast()
    forecast.learn("burgers", 1000, 2.0)
    forecast.learn("helmholtz", 1000, 6.0)
    assert forecast.left([("burgers", 500)], 1) == pytest.approx(1.0)
    assert forecast.left([("burgers", 500), ("helmholtz", 500)], 2) == pytest.approx(2.0)
    assert forecast.left([("heat", 1000)], 1) == pytest.approx(4.0)
