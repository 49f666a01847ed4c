"""Which run comes next in which lane.

Runs that differ in their seed alone are a cell. A worker keeps the programs that it compiled, so a lane stays with its
cell; then it takes the first run of a cell that no other lane is at; then the first of all.
"""

import json
from collections.abc import Iterable

from incenter.study.rows import Planned


class Turns:
    """The runs that wait, in the order of the plan."""

    def __init__(self, planned: Iterable[Planned]) -> None:
        self._cells = {each.key: _cell(each) for each in planned}
        self._waiting: list[str] = []
        self._at: dict[int, str] = {}  # the cell of each lane's latest run

    def refill(self, keys: Iterable[str]) -> None:
        """These and no others wait."""
        self._waiting = list(keys)

    def put_first(self, key: str) -> None:
        """A run that is to be tried again."""
        self._waiting.insert(0, key)

    def take(self, lane: int) -> str | None:
        """The next run of this lane; None where none waits."""
        if not self._waiting:
            return None
        mine = self._at.get(lane)
        others = {cell for each, cell in self._at.items() if each != lane}
        ranks = (self._rank(self._cells[key], mine, others) for key in self._waiting)
        place = min(enumerate(ranks), key=lambda each: (each[1], each[0]))[0]
        key = self._waiting.pop(place)
        self._at[lane] = self._cells[key]
        return key

    @staticmethod
    def _rank(cell: str, mine: str | None, others: set[str]) -> int:
        if cell == mine:
            return 0
        return 1 if cell not in others else 2


def _cell(planned: Planned) -> str:
    return json.dumps(dict(planned.configuration) | {"seed": None}, sort_keys=True)
