"""Every rule behind one interface.

>>> import numpy as np, incenter
>>> rule = incenter.methods.by_name("mgda")
>>> rule.combine(np.array([[3.0, 0.0], [-1.0, 2.0]])).update
array([0.6, 1.2])

Each module here holds one rule, called as its module is; adding one is adding a file. `by_name("cagrad", c=0.4)` sets
its fields; `from incenter.methods.cagrad import CAGrad` does the same with types.
"""

import dataclasses
import difflib
import importlib
import pkgutil
from typing import Any

from incenter.geometry.errors import IncenterError
from incenter.methods.rule import GramRule, Rule, Update, Weighing

_ALIASES = {"adam": "sum"}
_NOT_RULES = {
    "rule", "lengths", "losses", "memory", "randomness", "preference", "equal_cosines", "stationarity", "two_groups"
}  # fmt: skip


def names() -> list[str]:
    """The names of all rules, in alphabetical order."""
    return sorted(_rules())


def by_name(name: str, **fields: Any) -> Rule:
    """The rule called `name`, with its fields set.

    >>> import numpy as np
    >>> by_name("cagrad", c=0.4).combine(np.array([[3.0, 0.0], [-1.0, 2.0]])).update.round(4).tolist()
    [0.7549, 1.5098]
    """
    rules = _rules()
    name = _ALIASES.get(name, name)
    if name not in rules:
        close = difflib.get_close_matches(str(name), [*rules, *_ALIASES], n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(sorted(rules))}."
        raise IncenterError(f"There is no rule called {name!r}. {hint}")
    rule: Any = rules[name]
    try:
        made: Rule = rule(**fields)
        return made
    except TypeError as error:
        known = [each.name for each in dataclasses.fields(rule)] if dataclasses.is_dataclass(rule) else []
        close = [
            near for field in fields if field not in known for near in difflib.get_close_matches(field, known, n=1)
        ]
        hint = f"Did you mean {close[0]!r}?" if close else f"Its fields: {', '.join(known) or 'none'}."
        raise IncenterError(f"The rule {name!r} does not take these fields ({error}). {hint}") from error


def _rules() -> dict[str, type[Rule]]:
    if not _FOUND:
        for module in pkgutil.iter_modules(__path__):
            if module.name not in _NOT_RULES:
                importlib.import_module(f"{__name__}.{module.name}")
        _FOUND.update({rule.name: rule for rule in _descendants(Rule) if rule.__module__.startswith(__name__ + ".")})
    return _FOUND


def _descendants(rule: Any) -> list[type[Rule]]:
    below = [descendant for child in rule.__subclasses__() for descendant in _descendants(child)]
    return [*([rule] if "name" in vars(rule) else []), *below]


_FOUND: dict[str, type[Rule]] = {}

__all__ = ["GramRule", "Rule", "Update", "Weighing", "by_name", "names"]
