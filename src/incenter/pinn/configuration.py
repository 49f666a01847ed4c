"""What a run is: a run is a pure function of its `Configuration`, on the same machine and versions.

`lr` and `steps` left at None are the problem's own; `record_every` and `checkpoint_every` left at None follow from
`steps`. `Configuration.resolved` fills them in, and what is saved beside a run is the resolved one.
"""

import dataclasses
import difflib
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from incenter.geometry.errors import IncenterError, read_p

RECORDS = 500  # about so many records by default: more than a curve on paper can show
CHECKPOINTS = 20  # about so many checkpoints by default: at most 5 % of a run is lost
MOST_SEEDS = 2**32  # a seed is one word of the random number generator
LEARNING_RATE = 1e-3  # where neither the run nor its problem names one
STEPS = 50_000
# Fields that came after the first runs were kept, with what those runs had: records at these values leave them out, so
# that a run's record is the same text whenever it was made.
LATER: dict[str, Any] = {"devices": 1}
NONFINITE = ("hold", "rollback")
PYTHON = "python:"  # before the name of what was given as an object, which no file can hold


@dataclass(frozen=True)
class Configuration:
    """Everything that decides a run. See `with_settings` for setting fields by text."""

    problem: Any  # a registry name, FILE.py:NAME, or a Problem
    problem_options: dict[str, Any] = field(default_factory=dict)  # arguments of the problem's factory
    method: Any = "chebyshev"  # a rule's name, FILE.py:NAME, or a Rule
    method_options: dict[str, Any] = field(default_factory=dict)  # fields of the rule
    p: float = 2.0  # the norm in which `chebyshev` measures gradients
    lr: float | None = None
    optimizer: Any = "adam"  # a name of optax, or a GradientTransformation
    optimizer_options: dict[str, Any] = field(default_factory=dict)
    schedule: str = "constant"
    schedule_options: dict[str, Any] = field(default_factory=dict)
    steps: int | None = None
    finish: str | None = None  # "lbfgs": `finish_steps` more steps with it, on points that stay
    finish_steps: int = 0
    finish_options: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    precision: int = 32  # or 64
    devices: int = 1  # that share the points of every step
    stop_radius: float | None = 1e-6  # stop where r* is this small, for rules that report r*
    stop_error: float | None = None  # stop at a record whose relative L2 error is this small
    stop_seconds: float | None = None  # stop after this much time
    nonfinite: str = "hold"  # or "rollback": what to do about gradients that are not finite
    record_every: int | None = None
    checkpoint_every: int | None = None
    save_gradients: int | None = None  # every how many steps the gradients are written to a file

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            if isinstance(value := getattr(self, each.name), np.generic):
                object.__setattr__(self, each.name, value.item())
        object.__setattr__(self, "p", read_p(self.p))
        for name in ("lr", "stop_error", "stop_seconds"):
            _check_number(name, getattr(self, name), least=0.0, included=False)
        _check_number("stop_radius", self.stop_radius, least=0.0, included=True)
        for name in ("steps", "finish_steps", "seed"):
            _check_count(name, getattr(self, name), least=0)
        for name in ("devices", "record_every", "checkpoint_every", "save_gradients"):
            _check_count(name, getattr(self, name), least=1)
        if self.seed >= MOST_SEEDS:
            raise IncenterError(f"`seed` must be below 2^32; got {self.seed}.")
        if self.precision not in (32, 64):
            raise IncenterError(f"`precision` must be 32 or 64; got {self.precision!r}.")
        if self.nonfinite not in NONFINITE:
            raise IncenterError(f'`nonfinite` must be "hold" or "rollback"; got {self.nonfinite!r}.')
        self._check_finish()
        for name in _OPTIONS:
            if not isinstance(getattr(self, name), Mapping):
                raise IncenterError(f"`{name}` must be a dictionary; got {getattr(self, name)!r}.")
            object.__setattr__(self, name, dict(getattr(self, name)))

    def _check_finish(self) -> None:
        if self.finish not in (None, "lbfgs"):
            raise IncenterError(f'`finish` must be "lbfgs" or None; got {self.finish!r}.')
        if (self.finish is None) != (self.finish_steps == 0):
            raise IncenterError(
                f"`finish` and `finish_steps` go together; got finish={self.finish!r} and "
                f'finish_steps={self.finish_steps}; write finish="lbfgs", finish_steps=1000.'
            )

    @classmethod
    def from_mapping(cls, fields: Mapping[str, Any]) -> "Configuration":
        """The configuration with these fields, as `as_dict` gives them; an unknown one is told its nearest name."""
        known = [each.name for each in dataclasses.fields(cls)]
        for name in fields:
            if name not in known:
                raise IncenterError(unknown("field of a configuration", name, known))
        if "problem" not in fields:
            raise IncenterError('A configuration needs a `problem`; write for instance problem="burgers".')
        for name, value in fields.items():
            if isinstance(value, str) and value.startswith(PYTHON):
                raise IncenterError(
                    f"The {name} of this run, {value.removeprefix(PYTHON)!r}, was given as a Python object, which no "
                    f"file can hold: pass the same object again as {name}=."
                )
        return cls(**fields)

    def resolved(self, problem: Any) -> "Configuration":
        """The same with nothing left to the defaults of `problem` (its `settings`) or of the number of steps."""
        settings = getattr(problem, "settings", None)
        lr = _first(self.lr, getattr(settings, "lr", None), LEARNING_RATE)
        steps = _first(self.steps, getattr(settings, "steps", None), STEPS)
        total = steps + self.finish_steps
        return dataclasses.replace(
            self,
            lr=lr,
            steps=steps,
            record_every=_first(self.record_every, max(1, total // RECORDS)),
            checkpoint_every=_first(self.checkpoint_every, max(1, total // CHECKPOINTS)),
        )

    @property
    def total_steps(self) -> int:
        """All steps of a resolved configuration, those of the finish included."""
        if self.steps is None:
            raise IncenterError("The number of steps is the problem's own and not known yet: give `steps`.")
        return self.steps + self.finish_steps

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as JSON has them; objects by name, after `python:`. Fields of `LATER` where they say more."""
        plain = {each.name: _plain(getattr(self, each.name)) for each in dataclasses.fields(self)}
        return {name: value for name, value in plain.items() if name not in LATER or value != LATER[name]}

    def changes(self) -> dict[str, Any]:
        """What was set beside the columns of a table: every other field that is not at its default, options by name."""
        plain = LATER | self.as_dict()
        changed: dict[str, Any] = {}
        for each in dataclasses.fields(self):
            value = plain[each.name]
            if each.name.endswith("_options"):
                owner = each.name.removesuffix("_options")
                changed |= {f"{owner}.{option}": inner for option, inner in value.items()}
            elif each.name not in _SHOWN and value != each.default:
                changed[each.name] = value
        return changed

    def free_on_resume(self) -> tuple[str, ...]:
        """Fields that may be others when a run is continued: they change no step that was made."""
        free = ["checkpoint_every", "record_every", "save_gradients", "stop_error", "stop_radius", "stop_seconds"]
        if self.finish is not None:
            return (*free, "finish_steps")
        ends = self.schedule in ("cosine", "warmup_cosine")  # they end with the steps
        return tuple(free if ends else [*free, "steps"])

    def as_json(self) -> str:
        """The same on one line, the same bytes for the same configuration."""
        return json.dumps(self.as_dict(), sort_keys=True, allow_nan=False)

    def fingerprint(self) -> str:
        """Sixteen hexadecimal digits that are the same for the same configuration, everywhere and always.

        They are of the fields that are not at their defaults, so that a field added later changes none of them.
        """
        plain = LATER | self.as_dict()
        set_here = {
            each.name: plain[each.name]
            for each in dataclasses.fields(self)
            if plain[each.name] != ({} if each.name in _OPTIONS else each.default)
        }
        return hashlib.sha256(json.dumps(set_here, sort_keys=True).encode()).hexdigest()[:16]

    def with_settings(self, settings: Iterable[str]) -> "Configuration":
        """The same with `FIELD=VALUE` set for each text; see `incenter.pinn.settings`."""
        from incenter.pinn.settings import apply

        return apply(self, settings)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """One sentence about a name that is not there, with the nearest one."""
    known = sorted(set(known))
    close = difflib.get_close_matches(name, known, n=1) or difflib.get_close_matches(name.lower(), known, n=1)
    hint = f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(known) or 'none'}."
    return f"There is no {what} called {name!r}. {hint}"


# Columns of their own in a table of runs, and what follows from `steps`.
_SHOWN = {"problem", "method", "p", "lr", "optimizer", "steps", "seed", "record_every", "checkpoint_every"}
_OPTIONS = tuple(each.name for each in dataclasses.fields(Configuration) if each.name.endswith("_options"))


def _first(*values: Any) -> Any:
    return next(value for value in values if value is not None)


def _check_number(name: str, value: Any, *, least: float, included: bool) -> None:
    if value is None:
        return
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not number or value < least or (value == least and not included):
        wanted = "0 or positive" if included else "positive"
        raise IncenterError(f"`{name}` must be a {wanted} number; got {value!r}.")


def _check_count(name: str, value: Any, *, least: int) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise IncenterError(f"`{name}` must be a whole number, {least} or more; got {value!r}.")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if type(value) in (list, tuple):  # a named tuple is somebody's object, as optimisers of optax are
        return [_plain(inner) for inner in value]
    return PYTHON + str(getattr(value, "name", "") or getattr(value, "__name__", "") or type(value).__name__)
