"""How long the rest of a study takes, from what its runs took so far.

A step of a problem takes as long as the steps of that problem took on average; a problem that was not seen yet, as long
as those of all others.
"""

from collections import defaultdict
from collections.abc import Iterable


class Forecast:
    """Seconds per step by problem."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)
        self._steps: dict[str, int] = defaultdict(int)

    def learn(self, problem: str, steps: int, seconds: float) -> None:
        """So many steps were made in so much time."""
        self._seconds[problem] += seconds
        self._steps[problem] += steps

    def left(self, remaining: Iterable[tuple[str, int]], lanes: int) -> float | None:
        """Seconds for these steps of these problems; None as long as nothing is known."""
        steps = sum(self._steps.values())
        if not steps:
            return None
        mean = sum(self._seconds.values()) / steps
        total = sum(count * self._rate(problem, mean) for problem, count in remaining)
        return total / max(1, lanes)

    def _rate(self, problem: str, otherwise: float) -> float:
        steps = self._steps.get(problem, 0)
        return self._seconds[problem] / steps if steps else otherwise
