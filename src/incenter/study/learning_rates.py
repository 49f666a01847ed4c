"""The learning rates of the paper's two tables, read from `paper/learning_rates.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

_FILE = "paper/learning_rates.toml"
_SETTING = "standard"  # of inverse_heat, unless said otherwise
_ALIASES = {"adam": "sum"}


@cache
def table() -> dict[str, Any]:
    """The file as it stands."""
    return tomllib.loads(resources.files("incenter.study").joinpath(_FILE).read_text(encoding="utf-8"))


def rates(problem: str, problem_options: Mapping[str, Any], method: str) -> list[float]:
    """The rate that the paper selected for a cell of its tables; both candidates where it has none."""
    if problem == "inverse_heat":
        column = table()["inverse"][problem_options.get("setting", _SETTING)]
    else:
        column = table()["forward"].get(problem, {})
    selected = column.get(_ALIASES.get(method, method))
    return list(table()["candidates"]) if selected is None else [selected]
