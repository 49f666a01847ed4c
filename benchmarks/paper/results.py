"""The results in a folder, and what the paper's plans want besides."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from incenter.study import plans
from incenter.study.expansion import expand
from incenter.study.renderings import Body, Entry, Grid, markdown
from incenter.study.rows import Row
from incenter.study.sources import opened
from incenter.study.store import Store
from incenter.study.training_geometry import Trajectory, read_all

GEOMETRY, COSTS = "geometry", "costs.json"


@dataclass(frozen=True)
class Results:
    """What a folder holds."""

    folder: Path
    store: Store

    def rows(self, plan: str) -> list[Row]:
        """Every run that the plan wants, done or not; runs that other plans share are there as well."""
        wanted = self._planned[plan]
        return [row for row in self.store.rows(plan) if row.key in wanted]

    def done(self, plan: str) -> list[Row]:
        return [row for row in self.rows(plan) if row.status == "done"]

    @cached_property
    def plans(self) -> list[str]:
        return [name for name in plans.built_in() if name.startswith("paper-")]

    @cached_property
    def _planned(self) -> dict[str, set[str]]:
        """The keys of each plan; the store, which is only for this page, learns of the runs that are missing."""
        found = {}
        for name in self.plans:
            runs = expand(plans.load(name))
            self.store.add(name, runs)
            found[name] = {run.key for run in runs}
        return found

    @cached_property
    def trajectories(self) -> list[Trajectory]:
        return read_all(self.folder / GEOMETRY)

    @cached_property
    def costs(self) -> dict[str, Any] | None:
        path = self.folder / COSTS
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


@contextmanager
def read(folder: Path) -> Iterator[Results]:
    """The results of a folder, for as long as they are needed."""
    with opened(Path(), folder) as (store, problems):
        for problem in problems:
            raise SystemExit(problem)
        yield Results(folder, store)


def not_run(plan: str) -> str:
    return f"Not run yet: `incenter study run {plan}`."


def seeds_of(rows: Sequence[Row]) -> str:
    """What stands below a section whose runs are not all done; nothing where they are."""
    done = sum(row.status == "done" for row in rows)
    return "" if done == len(rows) else f"So far {done} of {len(rows)} runs are done."


def listed(title: str, corner: str, columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A small table of texts; without a title only its lines."""
    bodies = tuple(Body(first, tuple(Entry(text) for text in rest)) for first, *rest in lines)
    text = markdown(Grid(title, corner, tuple(columns), bodies))
    return text.strip() if title else text.split("\n", 2)[2].strip()


def joined(*parts: str) -> str:
    """Paragraphs, without the empty ones."""
    return "\n\n".join(part.strip() for part in parts if part.strip())
