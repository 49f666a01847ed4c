"""The tables of `benchmarks.step`: milliseconds, ratios, what they rest on, and what was wanted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import ge, le

from benchmarks.step_contenders import (
    EAGER,
    ENTRIES,
    FLOOR,
    OURS,
    OURS_ADAM,
    PEERS,
)
from benchmarks.step_worker import Taken
from benchmarks.timing import machine, table

PACKAGES = ("numpy", "jax", "equinox", "optax", "torch", "deepxde", "flax", "jinns")
AGREEMENT = 1e-4  # of losses in float32, relative: second derivatives of sums over thousands of points
BUSY = 0.9  # processor time over wall time below which the core had other work to do


@dataclass
class Measured:
    """What is known of one contender on one problem."""

    setting: str = ""
    best: Taken | None = None
    first: Taken | None = None
    losses: dict[str, float] = field(default_factory=dict)
    reason: str = ""  # why it is missing


Results = dict[str, dict[str, Measured]]  # by problem, by contender


@dataclass(frozen=True)
class Goal:
    """A ratio of two contenders' times, or a time itself where `over` is None, and what was wanted of it."""

    problem: str
    of: str
    over: str | None
    holds: Callable[[float, float], bool]
    bound: float

    def verdict(self, results: Results) -> str:
        value = _milliseconds(results, self.problem, self.of)
        base = _milliseconds(results, self.problem, self.over) if self.over else 1.0
        what = f"{self.of} over {self.over}" if self.over else f"{self.of}, ms"
        words = f"{self.problem}, {what}, at {'least' if self.holds is ge else 'most'} {self.bound:g}"
        if value is None or base is None:
            return f"{words}: not measured"
        return f"{words}: {'met' if self.holds(value / base, self.bound) else 'MISSED'} ({value / base:.3g})"


LONG = ("helmholtz", "kovasznay", "heat", "inverse_heat")
SHORT = ("burgers", "klein_gordon")
EVERYWHERE = (*SHORT, *LONG)
FIRST_STEP = 5.0  # seconds

GOALS = (
    Goal("burgers", OURS, FLOOR, le, 1.5),
    Goal("helmholtz", OURS, FLOOR, le, 1.7),
    *[Goal(problem, EAGER, OURS, ge, 4.5) for problem in SHORT],
    *[Goal(problem, EAGER, OURS, ge, 6.0) for problem in LONG],
    *[Goal(problem, peer, OURS, ge, 1.0) for peer in PEERS for problem in EVERYWHERE if problem != "helmholtz"],
    *[Goal("helmholtz", peer, OURS, ge, 4.0) for peer in PEERS],
    *[Goal(problem, OURS, OURS_ADAM, le, 1.05) for problem in EVERYWHERE],
    Goal("inverse_heat", OURS, None, le, 24.0),
)


def report(results: Results, rounds: int) -> str:
    """Everything as Markdown."""
    parts = [
        f"float32, the paper's points and networks; {machine(*PACKAGES)}; pinned to one core, best of {rounds} rounds.",
        f"Milliseconds of a whole step:\n\n{_grid(results, _time)}",
        f"Over the floor:\n\n{_grid(results, _over(FLOOR), (OURS, OURS_ADAM))}",
        f"Over ours with Chebyshev:\n\n{_grid(results, _over(OURS), [n for n in ENTRIES if n not in (OURS, FLOOR)])}",
        f"Processor time over wall time of the same block:\n\n{_grid(results, _occupation)}",
        f"Seconds of processor time to the end of the first step, compilation included, imports not:\n\n"
        f"{_grid(results, _first, OURS_ROWS)}",
        f"Largest relative difference of a loss from eager PyTorch's, at the same parameters and points:\n\n"
        f"{_grid(results, _difference, [name for name in ENTRIES if name not in (EAGER, FLOOR)])}",
        "\n".join(f"- {line}." for line in remarks(results)),
        "Wanted:\n\n" + "\n".join(f"- {line}" for line in wanted(results)),
    ]
    return "\n\n".join(part for part in parts if part)


OURS_ROWS = (OURS, OURS_ADAM)
Cell = Callable[[Results, str, str], float | None]


def _grid(results: Results, cell: Cell, names: Iterable[str] = ENTRIES) -> str:
    shown = [name for name in names if any(name in found for found in results.values())]
    rows = [[name, *[_written(cell(results, problem, name)) for problem in results]] for name in shown]
    return table(["", *results], rows)


def _written(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0e}" if 0 < value < 0.01 else f"{value:.3g}"


def _milliseconds(results: Results, problem: str, name: str) -> float | None:
    found = results.get(problem, {}).get(name)
    return 1e3 * found.best.processor if found and found.best and not found.reason else None


_time: Cell = _milliseconds


def _over(base: str) -> Cell:
    def ratio(results: Results, problem: str, name: str) -> float | None:
        own, other = _milliseconds(results, problem, name), _milliseconds(results, problem, base)
        return None if own is None or other is None else own / other

    return ratio


def _occupation(results: Results, problem: str, name: str) -> float | None:
    found = results[problem].get(name)
    return found.best.processor / found.best.wall if found and found.best else None


def _first(results: Results, problem: str, name: str) -> float | None:
    found = results[problem].get(name)
    return found.first.processor if found and found.first else None


def _difference(results: Results, problem: str, name: str) -> float | None:
    """Where a library knows only the sum of some losses, their sum is compared."""
    found, truth = results[problem].get(name), results[problem].get(EAGER)
    if not (found and truth and found.losses and truth.losses):
        return None
    expected = {terms: sum(truth.losses[term] for term in terms.split("+")) for terms in found.losses}
    return max(abs(loss - expected[terms]) / abs(expected[terms]) for terms, loss in found.losses.items())


def remarks(results: Results) -> list[str]:
    """How each contender was set, why a dash is one, who computes something else, and whether the core was busy."""
    lines = []
    for name in ENTRIES:
        settings = {problem: found[name].setting for problem, found in results.items() if name in found}
        lines += [f"{name}: {_gathered(settings)}"] if any(settings.values()) else []
    for problem, found in results.items():
        lines += [f"{name}, {problem}: {one.reason}" for name, one in found.items() if one.reason]
        for name in found:
            difference = _difference(results, problem, name)
            if difference is not None and not difference <= AGREEMENT:
                lines.append(f"{name}, {problem}: COMPUTES SOMETHING ELSE, a loss is {difference:.1e} off")
            share = _occupation(results, problem, name)
            if share is not None and share < BUSY:
                lines.append(f"{name}, {problem}: the core was busy elsewhere for {1 - share:.0%} of the time")
    return lines


def _gathered(settings: dict[str, str]) -> str:
    """What is the same for all problems is said once."""
    if len(set(settings.values())) == 1:
        return next(iter(settings.values()))
    return "; ".join(f"{problem}: {setting}" for problem, setting in settings.items() if setting)


def wanted(results: Results) -> list[str]:
    """What this library sets out to reach, and whether it did, for the problems of this run."""
    lines = [goal.verdict(results) for goal in GOALS if goal.problem in results]
    return lines + [
        f"{problem}, first step of {OURS}, at most {FIRST_STEP:g} s: {_soon(results, problem)}" for problem in results
    ]


def _soon(results: Results, problem: str) -> str:
    seconds = _first(results, problem, OURS)
    if seconds is None:
        return "not measured"
    return f"{'met' if seconds <= FIRST_STEP else 'MISSED'} ({seconds:.3g})"
