"""The benchmark problems, one per file: the PDE in its header, its settings, its reference and what good results are.

>>> from incenter.pinn import problems
>>> problems.by_name("burgers", points=1280).terms["residual"].count
1280

A problem is a function called as its module is; its keywords are the problem's options. Options that come as text, as
from a command line, are read as what the function says they are.
"""

import difflib
import importlib
import inspect
import itertools
import typing
from collections.abc import Callable
from typing import Any

from incenter.geometry.errors import IncenterError
from incenter.pinn.problem import Problem

_NAMES = ("helmholtz", "kovasznay", "burgers", "heat", "klein_gordon", "inverse_heat")


def names() -> list[str]:
    """The names of all problems, in the order of the paper's tables."""
    return list(_NAMES)


def by_name(name: str, **options: Any) -> Problem:
    """The problem called `name`, with its options set."""
    make = _factory(name)
    kinds = inspect.get_annotations(make)
    return make(**{option: _read(name, option, value, kinds) for option, value in options.items()})


def summary(name: str) -> str:
    """What the problem is, in one line."""
    return (inspect.getmodule(_factory(name)).__doc__ or "").splitlines()[0]


def equations(name: str) -> list[str]:
    """The problem's equations, a line each, as its header has them."""
    lines = (inspect.getmodule(_factory(name)).__doc__ or "").splitlines()[2:]
    return [line.strip() for line in itertools.takewhile(str.strip, lines)]


def options(name: str) -> dict[str, Any]:
    """The problem's options with their defaults."""
    return {key: value.default for key, value in inspect.signature(_factory(name)).parameters.items()}


def _factory(name: str) -> Callable[..., Problem]:
    if name not in _NAMES:
        hint = _hint(name, _NAMES)
        own = "" if hint.startswith("Did") else " One of your own is FILE.py:NAME."
        raise IncenterError(f"There is no problem called {name!r}. {hint}{own}")
    make: Callable[..., Problem] = getattr(importlib.import_module(f"{__name__}.{name}"), name)
    return make


def _read(name: str, option: str, value: Any, kinds: dict[str, Any]) -> Any:
    """The value as the kind that the problem declares for this option."""
    known = tuple(kind for kind in kinds if kind != "return")
    if option not in known:
        raise IncenterError(f"The problem {name!r} has no option {option!r}. {_hint(option, known)}")
    kind = kinds[option]
    choices = typing.get_args(kind)
    if choices:
        if value not in choices:
            raise IncenterError(f"`{option}` of {name!r} must be one of {', '.join(choices)}; got {value!r}.")
        return value
    try:
        number = kind(value)
    except (TypeError, ValueError):
        number = None
    if number is None or isinstance(value, bool) or (not isinstance(value, str) and number != value):
        raise IncenterError(f"`{option}` of {name!r} must be {_ARTICLE[kind]}; got {value!r}.")
    return number


def _hint(name: Any, known: tuple[str, ...]) -> str:
    close = difflib.get_close_matches(str(name), known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(known)}."


_ARTICLE = {int: "a whole number", float: "a number"}
