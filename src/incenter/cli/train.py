"""`incenter train`: a problem, a method, and a folder that holds what came of it."""

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from incenter.cli.leaving import INTERRUPTED
from incenter.geometry.errors import IncenterError

if TYPE_CHECKING:
    from rich.console import Console

    from incenter.pinn.configuration import Configuration
    from incenter.pinn.result import Result

GIVEN_UP = 1  # exit code where nothing stayed finite
RUNS = Path("runs")
KEYS = (
    "problem", "method", "p", "lr", "optimizer", "steps", "seed", "set", "relative_l2", "seconds", "ms_per_step",
    "radius", "parameters", "stopped",
)  # fmt: skip


def train(
    problem: Annotated[str, Parameter(name=["PROBLEM"])],
    /,
    *,
    method: str | None = None,
    p: float | None = None,
    lr: float | None = None,
    optimizer: str | None = None,
    steps: int | None = None,
    seeds: str | None = None,
    settings: Annotated[list[str] | None, Parameter(name="--set", negative=(), consume_multiple=True)] = None,
    precision: Literal[32, 64] | None = None,
    devices: int | None = None,
    save_gradients: int | None = None,
    out: Path | None = None,
    resume: Annotated[bool, Parameter(negative=())] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> None:
    """Train a physics-informed network.

    Parameters
    ----------
    problem
        A name that `incenter problems` lists, or FILE.py:NAME, a Problem of your own or a function that makes one.
    method
        How the losses' gradients become one update: a name that `incenter methods` lists, or FILE.py:NAME.
        chebyshev by default.
    p
        The norm in which chebyshev measures gradients, from 1 to inf; 2 by default.
    lr
        The learning rate; the problem's own by default.
    optimizer
        A name of optax, such as adam, the default, or muon.
    steps
        How many; the problem's own number by default.
    seeds
        0,1,2 trains three times, one after the other; 0 by default.
    settings
        FIELD=VALUE for every other field of the configuration: points=1000 stop_error=0.05 schedule=cosine ...
    precision
        Of all arithmetic, in bits; 32 by default.
    devices
        How many share the points of every step, the first ones that JAX sees; 1 by default.
    save_gradients
        Write the gradients to DIR/gradients every so many steps, for `incenter compare`.
    out
        The folder of the run; of several seeds, each has its own in it, seed-0 and so on. Without it,
        runs/PROBLEM-METHOD-seed-N.
    resume
        Continue what is in the folder, bit for bit; what is not said on the command line stays as it was. Where there
        is nothing to continue, begin.
    as_json
        Print one JSON object per run, and nothing else on stdout.
    """
    fields = {
        "problem": problem, "method": method, "p": p, "lr": lr, "optimizer": optimizer, "steps": steps,
        "precision": precision, "devices": devices, "save_gradients": save_gradients,
    }  # fmt: skip
    given = {name: value for name, value in fields.items() if value is not None}
    plan = Plan(given, tuple(settings or ()), _read_seeds(seeds), out, resume, as_json)
    ends = [_train_one(plan, seed) for seed in plan.seeds_or_own]
    if not as_json and len(ends) > 1:
        _show_several(ends)


@dataclass(frozen=True)
class Plan:
    """What was asked for, as it was asked for."""

    given: dict[str, Any]  # fields of the configuration
    settings: tuple[str, ...]
    seeds: tuple[int, ...]  # empty where none was named
    out: Path | None
    resume: bool
    as_json: bool

    @property
    def seeds_or_own(self) -> tuple[int | None, ...]:
        return self.seeds or (None,)

    def configuration(self, base: "Configuration | None", seed: int | None) -> "Configuration":
        """What is to be run: `base` where a run goes on, with everything that was given set in it."""
        from incenter.pinn.configuration import Configuration

        saved = {} if base is None else {name: getattr(base, name) for name in base.as_dict()}
        chosen = {} if seed is None else {"seed": seed}
        return Configuration.from_mapping(saved | self.given | chosen).with_settings(self.settings)

    def folder(self, seed: int | None) -> Path:
        """Where a run goes."""
        if self.out is not None:
            return self.out if len(self.seeds) < 2 else self.out / f"seed-{seed}"
        found = self.configuration(None, seed)
        parts = [_plain_name(found.problem), _plain_name(found.method)]
        norm = [] if found.p == 2 else [f"p{found.p:g}"]
        return RUNS / "-".join([*parts, *norm, "seed", str(found.seed)])

    def command(self) -> str:
        """What continues this, to be typed."""
        words = ["incenter", "train", self.given["problem"]]
        for name, value in self.given.items():
            if name != "problem":
                words += ["--" + name.replace("_", "-"), str(value)]
        words += ["--seeds", ",".join(map(str, self.seeds))] if self.seeds else []
        words += ["--set", *self.settings] if self.settings else []
        words += ["--out", str(self.out)] if self.out is not None else []
        words += ["--json"] if self.as_json else []
        return shlex.join([*words, "--resume"])


def _train_one(plan: Plan, seed: int | None) -> "tuple[Result, Path]":
    from rich.console import Console

    from incenter.cli.train_view import Display, Now, summary
    from incenter.pinn.training import train as train_configuration

    console = Console(stderr=True)
    out = plan.folder(seed)
    configuration = plan.configuration(_saved(plan, out, console), seed)
    _say(console, f"{configuration.problem} with {configuration.method}, seed {configuration.seed}, into {out}")
    with Display(console, bar=console.is_terminal and not plan.as_json) as display:
        result = train_configuration(
            configuration, out=out, resume=plan.resume, progress=lambda now: display(Now.of(now))
        )
    for note in result.notes:
        _say(console, note)
    if plan.as_json:
        found = result.summary()
        print(json.dumps({key: found[key] for key in KEYS}, allow_nan=False), flush=True)
    else:
        Console().print(summary(result, out))
    _leave_if_cut_short(plan, result, console)
    return result, out


def _saved(plan: Plan, out: Path, console: "Console") -> "Configuration | None":
    """The configuration of the run that goes on in `out`; a run is never begun over another one."""
    from incenter.pinn.saved import configuration_of, state_of

    state = state_of(out)
    if not plan.resume:
        if state is not None:
            raise IncenterError(
                f"The run in {out} {state}: continue it with --resume, draw it with incenter plot, or give another "
                "folder with --out."
            )
        return None
    if state is None:
        _say(console, f"There is nothing to resume in {out}, so the run begins at step 0.")
        return None
    return configuration_of(out)


def _leave_if_cut_short(plan: Plan, result: "Result", console: "Console") -> None:
    if result.stopped == "interrupted":
        _say(console, f"Interrupted at step {result.steps:,}, and saved. This continues it:\n\n    {plan.command()}\n")
        sys.exit(INTERRUPTED)
    if result.stopped == "nonfinite":
        _say(console, result.sentence)
        sys.exit(GIVEN_UP)


def _show_several(ends: "list[tuple[Result, Path]]") -> None:
    from rich.console import Console

    from incenter.cli.train_view import seeds_table

    Console().print(seeds_table([result for result, _ in ends]))


def _read_seeds(text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() for word in words):
        raise IncenterError(f"`--seeds` must be whole numbers with commas between them, such as 0,1,2; got {text!r}.")
    return tuple(dict.fromkeys(int(word) for word in words))


def _plain_name(name: Any) -> str:
    """NAME, of FILE.py:NAME as well."""
    return str(name).rpartition(":")[2]


def _say(console: "Console", words: str) -> None:
    console.print(words, soft_wrap=True, highlight=False, markup=False)
