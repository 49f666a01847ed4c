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
    return lines + _busy(results)


def _gathered(settings: dict[str, str]) -> str:
    """Each setting once, with its problems where it is not that of all."""
    problems: dict[str, list[str]] = {}
    for problem, setting in settings.items():
        if setting:
            problems.setdefault(setting, []).append(problem)
    if len(problems) == 1:
        return next(iter(problems))
    return "; ".join(f"{setting} ({', '.join(where)})" for setting, where in problems.items())


def _busy(results: Results) -> list[str]:
    shares = [_occupation(results, problem, name) for problem, found in results.items() for name in found]
    disturbed = [share for share in shares if share is not None and share < BUSY]
    if not disturbed:
        return []
    return [
        f"THE CORE WAS BUSY ELSEWHERE during {len(disturbed)} of {len(shares)} measurements, for up to "
        f"{1 - min(disturbed):.0%} of the time: processor time stands, but caches were shared"
    ]


# What this library sets out to reach.


@dataclass(frozen=True)
class Goal:
    """A number per problem, and its bound."""

    words: str
    number: Callable[[Results, str], float | None]
    holds: Callable[[float, float], bool]
    bound: float
    problems: tuple[str, ...]

    def verdict(self, results: Results) -> str:
        """One line: the numbers, and which of them miss the bound."""
        found = {problem: self.number(results, problem) for problem in self.problems if problem in results}
        told = ", ".join(f"{problem} {self._told(value)}" for problem, value in found.items())
        return f"{self.words}, at {'least' if self.holds is ge else 'most'} {self.bound:g}: {told}"

    def _told(self, value: float | None) -> str:
        if value is None:
            return "not measured"
        return _written(value) if self.holds(value, self.bound) else f"{_written(value)} MISSED"


def _ratio(of: str, over: str) -> Callable[[Results, str], float | None]:
    return lambda results, problem: _over(over)(results, problem, of)


LONG = ("helmholtz", "kovasznay", "heat", "inverse_heat")
SHORT = ("burgers", "klein_gordon")
EVERYWHERE = (*SHORT, *LONG)

GOALS = (
    Goal("ours over the floor", _ratio(OURS, FLOOR), le, 1.5, ("burgers",)),
    Goal("ours over the floor", _ratio(OURS, FLOOR), le, 1.7, ("helmholtz",)),
    Goal("eager PyTorch over ours", _ratio(EAGER, OURS), ge, 4.5, SHORT),
    Goal("eager PyTorch over ours", _ratio(EAGER, OURS), ge, 6.0, LONG),
    *[Goal(f"{peer}, over ours", _ratio(peer, OURS), ge, 1.0, EVERYWHERE) for peer in PEERS],
    *[Goal(f"{peer}, over ours", _ratio(peer, OURS), ge, 4.0, ("helmholtz",)) for peer in PEERS],
    Goal("ours, Chebyshev over Adam", _ratio(OURS, OURS_ADAM), le, 1.05, EVERYWHERE),
    Goal("ours, ms", lambda results, problem: _time(results, problem, OURS), le, 24.0, ("inverse_heat",)),
    Goal(
        "ours, seconds to the first step", lambda results, problem: _first(results, problem, OURS), le, 5.0, EVERYWHERE
    ),
)


def wanted(results: Results) -> list[str]:
    """What was wanted, with what was seen, for the problems of this run."""
    return [goal.verdict(results) for goal in GOALS if any(problem in results for problem in goal.problems)]
