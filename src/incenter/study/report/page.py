"""The page: what the template is filled with."""

import base64
import hashlib
import shlex
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

from incenter.study import plans
from incenter.study.commands import typed
from incenter.study.extras import require_jinja
from incenter.study.layout import lay_out
from incenter.study.renderings import Entry, Grid
from incenter.study.report.cells import (
    Cell,
    cells_of,
    moment,
    own_settings,
    shared_settings,
    surroundings_of,
)
from incenter.study.report.curves import as_json, curves_of
from incenter.study.report.pictures import pictures
from incenter.study.rows import Row
from incenter.study.selection import chosen

_STATES = ("done", "running", "waiting", "failed")


def page(rows: Sequence[Row], study: str | None = None, source: Sequence[str] = ()) -> str:
    """The text of the page; `source` is how the runs are named on a command line."""
    layout = lay_out(rows)
    cells = cells_of(layout)
    done = any(row.status == "done" for row in rows)
    shared = shared_settings(cells)
    grids = {each.name: each.grid() for each in chosen(rows)} if done else {}
    script = _text("curves.js")
    text: str = _template().render(
        title=_title(study),
        study=study,
        style=_text("page.css"),
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        layout=layout,
        counts={state: sum(row.status == state for row in rows) for state in _STATES},
        span=_span(rows),
        hours=sum(row.seconds or 0.0 for row in rows) / 3600,
        tables=grids,
        made=_Made(cells, grids.values()),
        curves=curves_of(layout),
        pictures=list(pictures(rows)) if done else [],
        cells=cells,
        failed=[(cell, row) for cell in cells for row in cell.rows if row.status == "failed"],
        shared=shared,
        own={cell.number: own_settings(cell, shared) for cell in cells},
        surroundings=surroundings_of(rows),
        source=shlex.join(source),
        built_in=study in plans.built_in(),
    )
    return text


class _Made:
    """What the numbers of the tables are made of, and where the page says so."""

    def __init__(self, cells: Sequence[Cell], grids: Iterable[Grid]) -> None:
        self._cell_of = {row.key: cell for cell in cells for row in cell.rows}
        entries = [entry for grid in grids for line in grid.lines for entry in line.entries if entry.runs]
        self.places = {self.place(entry): self._cells(entry) for entry in entries}

    def place(self, entry: Entry) -> str:
        """The name of the place."""
        return "-".join(["made", *(str(cell.number) for cell in self._cells(entry))])

    def _cells(self, entry: Entry) -> tuple[Cell, ...]:
        return tuple(dict.fromkeys(self._cell_of[key] for key in entry.runs))


def _template() -> Any:
    require_jinja()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("incenter.study.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"moment": moment, "typed": typed, "curves_json": as_json}
    return environment.get_template("page.html")


def _text(name: str) -> str:
    return resources.files("incenter.study.report").joinpath(name).read_text(encoding="utf-8")


def _title(study: str | None) -> str:
    if study is None:
        return "All runs"
    return plans.load(study).title if study in plans.built_in() else study


def _span(rows: Sequence[Row]) -> tuple[str, str] | None:
    """When the first run began and the last one ended."""
    times = [(row.started, row.ended) for row in rows if row.started is not None and row.ended is not None]
    if not times:
        return None
    return moment(min(start for start, _ in times)), moment(max(end for _, end in times))
