"""`FIELD=VALUE` in text reaches every field of a configuration.

    steps=2000  stop_radius=1e-8          fields of the configuration itself, which come first
    operator=divergence                   an argument of the problem's factory
    every=5                               a field of the rule
    momentum=0.9                          an option of the optimiser, the schedule or the finish

A name that two of the last three lines know needs a prefix: `problem.`, `method.`, `optimizer.`, `schedule.` or
`finish.`. Values are read by the type of what they set.
"""

import ast
import dataclasses
import inspect
import types
import typing
from collections.abc import Iterable
from typing import Any

from incenter.geometry.errors import IncenterError
from incenter.pinn.configuration import Configuration, unknown
from incenter.pinn.finish import finish_options
from incenter.pinn.loading import from_file, in_file
from incenter.pinn.optimizers import optimizer_factory, options_of, schedule_factory
from incenter.pinn.rules import rule_class

Kinds = dict[str, tuple[type, ...]]  # the types that each name takes; () for any

_OWNERS = ("problem", "method", "optimizer", "schedule", "finish")
_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_OBJECTS = {"problem", "method", "optimizer"}  # fields whose text is a name


def apply(configuration: Configuration, settings: Iterable[str]) -> Configuration:
    """`configuration` with every text applied; its own fields first, because they decide which options there are."""
    pairs = [_split(text) for text in settings]
    own = _own_kinds()
    # All at once: some are only possible together, as finish and finish_steps are.
    fields: dict[str, Any] = {name: parse(name, text, own[name]) for name, text in pairs if name in own}
    configuration = dataclasses.replace(configuration, **fields)
    pairs = [(name, text) for name, text in pairs if name not in own]
    if not pairs:
        return configuration
    options = {owner: _options(owner, configuration) for owner in _OWNERS}
    for name, text in pairs:
        owner, option = _find(name, options, own)
        field = f"{owner}_options"
        value = parse(name, text, options[owner][option])
        if (owner, option) == ("method", "p"):
            configuration = dataclasses.replace(configuration, p=value)
        else:
            changed: Any = {**getattr(configuration, field), option: value}
            configuration = dataclasses.replace(configuration, **{field: changed})
    return configuration


def parse(name: str, text: str, kinds: tuple[type, ...]) -> Any:
    """`text` as the first of `kinds` that it can be; as a Python literal, or else itself, where any will do."""
    if type(None) in kinds and text.lower() == "none":
        return None
    for kind in (bool, int, float):
        if kind in kinds:
            value = _number(kind, text)
            if value is not None:
                return value
    if str in kinds:
        return text
    if not kinds or any(kind not in (bool, int, float, type(None)) for kind in kinds):
        value = _literal(text)
        return tuple(value) if isinstance(value, list) else value
    wanted = " or ".join(_WORDS[kind] for kind in kinds if kind is not type(None))
    raise IncenterError(f"`{name}` takes {wanted}; got {name}={text}.")


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise IncenterError(f"A setting is FIELD=VALUE; got {text!r}; write for instance steps=2000.")
    return name.strip(), value.strip()


def _find(name: str, options: dict[str, Kinds], own: Kinds) -> tuple[str, str]:
    owner, dot, option = name.partition(".")
    if dot and owner in options:
        if option not in options[owner]:
            raise IncenterError(unknown(f"option of the {owner}", option, options[owner]))
        return owner, option
    owners = [owner for owner in _OWNERS if name in options[owner]]
    if len(owners) > 1:
        choices = " or ".join(f"{owner}.{name}" for owner in owners)
        raise IncenterError(f"`{name}` belongs to the {' and the '.join(owners)}; write {choices}.")
    if not owners:
        known = [*own, *(option for owner in _OWNERS for option in options[owner])]
        raise IncenterError(unknown("field", name, known))
    return owners[0], name


def _options(owner: str, configuration: Configuration) -> Kinds:
    value = getattr(configuration, owner)
    if owner == "problem":
        return problem_options(value)
    if owner == "method":
        return _fields(rule_class(value))
    if owner == "optimizer":
        return _arguments(options_of(optimizer_factory(value))) if isinstance(value, str) else {}
    if owner == "schedule":
        return _arguments(options_of(schedule_factory(value)))
    return _arguments(finish_options()) if value else {}


def problem_options(problem: Any) -> Kinds:
    """What the factory behind a problem's name, or a FILE.py:NAME that is a function, takes."""
    if in_file(problem):
        found = from_file(problem)
        return _arguments(inspect.signature(found).parameters) if inspect.isroutine(found) else {}
    if isinstance(problem, str):
        from incenter.pinn import problems

        return {name: _kinds_of(None, default) for name, default in problems.options(problem).items()}
    return {}


def _own_kinds() -> Kinds:
    hints = typing.get_type_hints(Configuration)
    kinds = {name: _kinds_of(hint, None) for name, hint in hints.items() if not name.endswith("_options")}
    return {name: (str,) if name in _OBJECTS else found for name, found in kinds.items()}


def _fields(rule: type) -> Kinds:
    if not dataclasses.is_dataclass(rule):
        return {}
    hints = typing.get_type_hints(rule)
    return {each.name: _kinds_of(hints[each.name], each.default) for each in dataclasses.fields(rule)}


def _arguments(parameters: Any) -> Kinds:
    return {name: _kinds_of(each.annotation, each.default) for name, each in parameters.items()}


def _kinds_of(hint: Any, default: Any) -> tuple[type, ...]:
    """The types in an annotation; where it does not name plain ones, that of the default."""
    members = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)
    if members and all(isinstance(member, type) and member in _WORDS for member in members):
        return tuple(members)
    if type(default) in _WORDS and default is not None:
        return (type(default),)
    return ()


def _number(kind: type, text: str) -> Any:
    if kind is bool:
        return _TRUTHS.get(text.lower())
    try:
        value = float(text)
    except ValueError:
        return None
    if kind is float:
        return value
    return int(value) if value.is_integer() else None


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


_WORDS: dict[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    type(None): "none",
}
