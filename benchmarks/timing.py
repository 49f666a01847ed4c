"""Timing side by side: every contender once per round, the best round counts, so that a busy moment hurts nobody."""

import platform
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

Call = Callable[[], object]
_BLOCK = 0.004  # seconds that one contender runs in one round, at least: far above the clock's resolution


class TooSlowError(Exception):
    """A call ran past its limit."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise TooSlowError in the body after `seconds`, as soon as Python is back in charge; no limit on Windows."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def once(call: Call) -> float:
    """Seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def interleaved(calls: Mapping[str, Call], budget: float, rounds: int = 40) -> dict[str, float]:
    """Least seconds of processor time per call of each contender, round by round, within about `budget` seconds.

    Processor time, because all run on one thread and a machine may have other work; a contender that has used up its
    share of the budget sits out the later rounds, but takes part in two.
    """
    repeats = {name: max(1, round(_BLOCK / max(once(call), 1e-7))) for name, call in calls.items()}
    spent = dict.fromkeys(calls, 0.0)
    best = dict.fromkeys(calls, float("inf"))
    for done in range(rounds):
        for name, call in calls.items():
            if done < 2 or spent[name] < budget / len(calls):
                taken = _block(call, repeats[name])
                spent[name] += taken
                best[name] = min(best[name], taken / repeats[name])
    return best


def _block(call: Call, repeats: int) -> float:
    start = time.process_time()
    for _ in range(repeats):
        call()
    return time.process_time() - start


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for scale, unit in ((1e-6, "us"), (1e-3, "ms")):
        if seconds < 1000 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def machine(*packages: str) -> str:
    """One line: processor, Python and the versions of `packages`."""
    versions = ", ".join(f"{package} {_version(package)}" for package in packages)
    return f"{_processor()}, one thread, processor time; Python {platform.python_version()}, {versions}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table that also lines up in a terminal; every column but the first is flushed right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]

    def line(cells: list[str]) -> str:
        flushed = [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "| " + " | ".join([cells[0].ljust(widths[0]), *flushed]) + " |"

    rule = "|" + "|".join(["-" * (widths[0] + 2), *["-" * (width + 1) + ":" for width in widths[1:]]]) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


def write_section(page: Path, name: str, text: str) -> None:
    """Replace what stands between `<!-- name: begin -->` and `<!-- name: end -->` in `page`."""
    content = page.read_text()
    begin, end = _marks(name)
    if begin not in content or end not in content:
        raise SystemExit(
            f"{page} has no section between {begin!r} and {end!r}; put these two lines where it should go."
        )
    page.write_text(with_section(content, name, text))


def with_section(content: str, name: str, text: str) -> str:
    """The content of a page with `text` in its section `name`."""
    begin, end = _marks(name)
    before, rest = content.split(begin, 1)
    return f"{before}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}"


def section(content: str, name: str) -> str:
    """What stands in the section `name` of a page; nothing where there is none."""
    begin, end = _marks(name)
    return content.split(begin, 1)[1].split(end, 1)[0].strip("\n") if begin in content else ""


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def _version(package: str) -> str:
    try:
        return version(package).split("+")[0]
    except PackageNotFoundError:
        return "absent"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
