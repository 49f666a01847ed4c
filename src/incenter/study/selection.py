"""All tables that a study gives, or the one that is asked for."""

import difflib
from collections.abc import Sequence

from incenter.geometry.errors import IncenterError
from incenter.study.paired_table import PairedTable, paired_table
from incenter.study.rows import Row
from incenter.study.tables import Table, tables

AnyTable = Table | PairedTable
_TWO = 2


def chosen(rows: Sequence[Row], only: str | None = None, against: str | None = None) -> list[AnyTable]:
    """All tables, or the one called `only`; paired tests where there are two methods and two seeds."""
    made: list[AnyTable] = list(tables(rows))
    comparable = len(made[0].lines) >= _TWO and len({row.seed for row in rows if row.status == "done"}) >= _TWO
    if comparable or against is not None or only == PairedTable.name:
        made.append(paired_table(rows, against))
    if only is None:
        return made
    names = [each.name for each in made]
    if only not in names:
        close = difflib.get_close_matches(only, names, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(names)}."
        raise IncenterError(f"There is no table called {only!r}. {hint}")
    return [made[names.index(only)]]
