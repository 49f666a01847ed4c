"""A plan of a study, written in TOML: which problems, methods, learning rates and seeds, and what all runs share.

    name = "mine"
    timeout_seconds = 3600                      # of one run; no limit without it

    [base]                                      # any field of a configuration
    steps = 5000

    [[grid]]                                    # every problem with every method, learning rate and seed
    problems = ["burgers", { name = "heat", operator = "divergence" }, "my.py:membrane"]
    methods = ["chebyshev", { name = "mgda", iterations = 20 }, "my.py:MyRule"]
    lr = [1e-3, 3e-4]                           # or "paper", what the paper selected; the problem's own without it
    seeds = [0, 1, 2]

    [[vary]]                                    # all of this again with one field changed, once for each value
    precision = [64]

A file is read without JAX. What its fields may be is known to `expansion`, which makes the runs.
"""

import difflib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from incenter.geometry.errors import IncenterError

_SUFFIX = ".toml"
_FOLDER = "plans"
_PLAN = ("name", "title", "timeout_seconds", "base", "grid", "vary")
_GRID = ("problems", "methods", "lr", "seeds")
_OF_GRID = {"problem": "problems", "method": "methods", "lr": "lr", "seed": "seeds"}
_EXAMPLE = 'problems = ["burgers"], methods = ["chebyshev", "sum"], seeds = [0]'


@dataclass(frozen=True)
class Named:
    """A problem or a method, with its options."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Grid:
    """Every problem with every method, learning rate and seed."""

    problems: tuple[Named, ...]
    methods: tuple[Named, ...]
    lr: tuple[float, ...] | Literal["paper"] | None
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """What a file says."""

    name: str
    title: str
    grids: tuple[Grid, ...]
    base: dict[str, Any]
    vary: tuple[tuple[str, Any], ...]  # a field and one value of it each
    timeout_seconds: float | None
    source: str  # what to call the file in a sentence


def built_in() -> list[str]:
    """The names of the plans that come with the library."""
    folder = resources.files("incenter.study").joinpath(_FOLDER)
    return sorted(path.name.removesuffix(_SUFFIX) for path in folder.iterdir() if path.name.endswith(_SUFFIX))


def text_of(name: str) -> str:
    """The file of a plan that comes with the library."""
    return resources.files("incenter.study").joinpath(_FOLDER, name + _SUFFIX).read_text(encoding="utf-8")


def load(name: str) -> Plan:
    """The plan called `name`, or in the file of this name."""
    if not name.endswith(_SUFFIX):
        if name in built_in():
            return read(text_of(name), name)
        raise IncenterError(f"There is no plan called {name!r}. {_nearest(name, built_in(), 'or a FILE.toml')}")
    try:
        return read(Path(name).read_text(encoding="utf-8"), name)
    except OSError as error:
        raise IncenterError(
            f"{name} cannot be read ({error.strerror}): name another file, or one of {', '.join(built_in())}."
        ) from error
    except UnicodeDecodeError as error:
        raise IncenterError(f"{name} is not text: save it as UTF-8.") from error


def read(text: str, source: str) -> Plan:
    """The plan in a text; `source` is what it is called where it is wrong."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise IncenterError(f"{source} is not TOML ({error}): mend that place.") from error
    try:
        return _plan(content, source)
    except IncenterError as error:
        raise IncenterError(f"{source}: {error}") from error


def _plan(content: Mapping[str, Any], source: str) -> Plan:
    _check_names("entry of a plan", content, _PLAN)
    name = content.get("name", Path(source).stem)
    title = content.get("title", name)
    for what, value in (("name", name), ("title", title)):
        if not isinstance(value, str) or not value.strip():
            raise IncenterError(f'`{what}` must be text, such as {what} = "mine"; got {value!r}.')
    base = content.get("base", {})
    if not isinstance(base, dict):
        raise IncenterError(f"`base` must be a table, [base]; got {base!r}.")
    for each in ("problem", "method", "seed"):
        if each in base:
            raise IncenterError(f"[base] cannot hold `{each}`: write {_OF_GRID[each]} = [...] in [[grid]].")
    grids = tuple(_grid(each) for each in _tables("grid", content.get("grid", [])))
    if not grids:
        raise IncenterError(f"a plan needs a [[grid]]: write for instance {_EXAMPLE} in it.")
    return Plan(
        name=name,
        title=title,
        grids=grids,
        base=base,
        vary=tuple(_variations(_tables("vary", content.get("vary", [])))),
        timeout_seconds=_limit(content.get("timeout_seconds")),
        source=source,
    )


def _grid(table: Mapping[str, Any]) -> Grid:
    _check_names("entry of a [[grid]]", table, _GRID)
    return Grid(
        problems=_named("problems", table.get("problems")),
        methods=_named("methods", table.get("methods")),
        lr=_rates(table.get("lr")),
        seeds=tuple(_seed(value) for value in _list("seeds", table.get("seeds", [0]))),
    )


def _named(what: str, given: Any) -> tuple[Named, ...]:
    return tuple(_one(what, value) for value in _list(what, given))


def _one(what: str, value: Any) -> Named:
    if isinstance(value, str):
        return Named(value)
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return Named(value["name"], {key: option for key, option in value.items() if key != "name"})
    raise IncenterError(
        f'each of `{what}` must be a name, or {{ name = "...", OPTION = VALUE }} with its options; got {value!r}.'
    )


def _rates(given: Any) -> tuple[float, ...] | Literal["paper"] | None:
    if given is None or given == "paper":
        return None if given is None else "paper"
    if isinstance(given, list) and given:
        return tuple(_rate(value) for value in given)
    raise IncenterError(f'`lr` must be a list such as [1e-3, 3e-4], or "paper"; got {given!r}.')


def _rate(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise IncenterError(f"each of `lr` must be a number; got {value!r}.")
    return float(value)


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise IncenterError(f"each of `seeds` must be a whole number; got {value!r}.")
    return value


def _variations(tables: Iterable[Mapping[str, Any]]) -> Iterable[tuple[str, Any]]:
    for table in tables:
        for name, values in table.items():
            if name in _OF_GRID:
                raise IncenterError(f"[[vary]] cannot change `{name}`: write {_OF_GRID[name]} = [...] in [[grid]].")
            for value in _list(name, values):
                yield name, value


def _limit(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise IncenterError(f"`timeout_seconds` must be a positive number; got {value!r}.")
    return float(value)


def _list(what: str, given: Any) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise IncenterError(f"`{what}` must be a list of at least one, {what} = [...]; got {given!r}.")
    return given


def _tables(what: str, given: Any) -> list[dict[str, Any]]:
    if isinstance(given, list) and all(isinstance(each, dict) for each in given):
        return given
    raise IncenterError(f"`{what}` must be written [[{what}]], in two pairs of brackets; got {given!r}.")


def _check_names(what: str, content: Mapping[str, Any], known: Iterable[str]) -> None:
    for name in content:
        if name not in known:
            raise IncenterError(f"there is no {what} called {name!r}. {_nearest(name, known)}")


def _nearest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join([*known, otherwise]).strip(', ')}."
