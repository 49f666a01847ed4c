"""The examples do what their headers say; each number here would be another with a wrong sign or wrong weights."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_quiet_task_of_two_is_learned_too() -> None:
    digits = example("multitask_digits")
    training, others = digits.load()
    plain, combined = (
        digits.scores(digits.train(training, epochs=10, combined=combined), others) for combined in (False, True)
    )
    assert combined[0] > 0.8 > 0.6 > plain[0]
    assert combined[1] < 0.9  # of a deviation; 0.8 is what the mean alone has


@pytest.mark.slow
def test_preferences_order_the_rewards() -> None:
    toy = example("reward_tradeoff")
    runs = [toy.train(preference, steps=40) for preference in toy.PREFERENCES]
    assert all(new > old + 0.2 for before, after in runs for old, new in zip(before, after, strict=True))
    first, second = zip(*(after for _, after in runs), strict=True)
    assert first[0] < first[1] < first[2]
    assert second[0] > second[1] > second[2]
