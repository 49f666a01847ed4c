"""A store as a folder of small text files that can live in git, and back.

    FOLDER/paper.study.json                                     which runs belong to a study, in order
    FOLDER/runs/burgers-chebyshev-seed-0-1f0c...json            a finished run (`run_file`)

Nothing in a folder is ever removed, and neither the store nor the folder ever takes the place of the other: what both
have stays as it is. A file that is damaged is named, and all others are read. `export` reads a damaged store too, as
far as it goes.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from incenter.geometry.errors import IncenterError
from incenter.study import run_file
from incenter.study.database_faults import DamagedStore
from incenter.study.layout import OURS
from incenter.study.packing import Array
from incenter.study.paper_numbers import INVERSE, method_of
from incenter.study.records import as_json
from incenter.study.rows import Outcome, Planned, Row
from incenter.study.salvage import salvaged
from incenter.study.store import Store
from incenter.whole_file import written_whole

RUNS = "runs"
Fields: TypeAlias = Literal["first", "drawn", "all", "none"]
_STUDY = ".study.json"
_ADVICE = "make room there, or name another folder"


@dataclass(frozen=True)
class Exported:
    """What `export` did."""

    written: int  # runs
    unchanged: int  # runs that the folder had
    problems: tuple[str, ...]  # a sentence for each run that could not be read, or not with its arrays


@dataclass(frozen=True)
class Imported:
    """What `take_in` did."""

    new: int  # results that the store did not have
    known: int  # results that it had
    problems: tuple[str, ...]  # a sentence for each file that is damaged, and each result that differs from the store's


def export(store: Store, folder: str | Path, study: str | None = None, *, fields: Fields = "first") -> Exported:
    """Write the finished runs of a study, or of all, into a folder, and the final `fields` of the chosen ones.

    "first": of the first seed of each cell; "drawn": of these, our method's, and Adam's where a coefficient is sought,
    with as many digits as a picture shows.
    """
    folder = Path(folder)
    rows, studies, problems = _all_of(store, study)
    chosen = _CHOSEN[fields](rows)
    counts = {True: 0, False: 0}
    with _writing(folder):
        (folder / RUNS).mkdir(parents=True, exist_ok=True)
        for row in rows:
            if row.status == "done":
                history = _or_nothing(row.history, problems)
                fields_of_run = _or_nothing(row.fields, problems) if row.key in chosen else {}
                if fields == "drawn":
                    fields_of_run = run_file.coarse(fields_of_run)
                counts[_write_run(folder, row, history, fields_of_run)] += 1
        planned = {row.key: Planned(row.key, row.configuration, row.timeout_seconds) for row in rows}
        for name, keys in studies.items():
            _write_study(folder, name, [planned[key] for key in keys if key in planned])
    return Exported(counts[True], counts[False], tuple(problems))


def take_in(store: Store, folder: str | Path) -> Imported:
    """Enter every finished run of a folder into a store, and the runs of its studies; known results stay."""
    folder = Path(folder)
    if not folder.is_dir():
        raise IncenterError(f"There is no folder {folder}: give one that `incenter study export` wrote.")
    counts = {True: 0, False: 0}
    problems: list[str] = []
    for path in sorted((folder / RUNS).glob("*.json")):
        try:
            planned, outcome = run_file.run_of(_content(path))
        except run_file.NotWhole as error:
            problems.append(f"{path} is left out: {error}.")
            continue
        new = store.enter(planned, outcome)
        counts[new] += 1
        if not new and (kept := store.row(planned.key)).parameters != outcome.parameters_hash:
            problems.append(f"{path} has another result than run {kept.key} in {store.path}, which stays.")
    for path in sorted(folder.glob(f"*{_STUDY}")):
        try:
            store.add(*_study_of(_content(path)))
        except run_file.NotWhole as error:
            problems.append(f"{path} is left out: {error}.")
    return Imported(counts[True], counts[False], tuple(problems))


def _all_of(store: Store, study: str | None) -> tuple[list[Row], dict[str, tuple[str, ...]], list[str]]:
    """The rows that can be read, the studies, and a sentence for each row that cannot."""
    store.damaged.clear()
    try:
        rows, studies = store.rows(study), store.studies()
    except DamagedStore:
        rows, studies = salvaged(store)
    if study is not None and study not in studies:
        raise IncenterError(
            f"There is no study {study!r} in {store.path}; there are: {', '.join(studies) or 'none yet'}."
        )
    chosen = {name: keys for name, keys in studies.items() if study in (None, name)}
    return rows, chosen, list(store.damaged.values())


def _first_seeds(rows: Iterable[Row]) -> set[str]:
    """Of all finished runs that differ by their seed alone, the one with the lowest."""
    first: dict[str, Row] = {}
    for row in rows:
        if row.status == "done":
            cell = as_json(row.configuration | {"seed": None})
            first[cell] = min(first.get(cell, row), row, key=lambda each: each.seed)
    return {row.key for row in first.values()}


def _drawn(rows: Iterable[Row]) -> set[str]:
    """What figures show the fields of."""
    return _first_seeds(row for row in rows if method_of(row) in ("sum" if row.problem == INVERSE else OURS, OURS))


_CHOSEN: dict[Fields, Callable[[list[Row]], set[str]]] = {
    "first": _first_seeds,
    "drawn": _drawn,
    "all": lambda rows: {row.key for row in rows},
    "none": lambda _: set(),
}


def _or_nothing(load: Callable[[], dict[str, Array]], problems: list[str]) -> dict[str, Array]:
    """Arrays; where they are damaged that is said, and the rest of the result is kept without them."""
    try:
        return load()
    except IncenterError as error:
        problems.append(str(error))
        return {}


def _write_run(folder: Path, row: Row, history: dict[str, Array], fields: dict[str, Array]) -> bool:
    """Whether the file was written; one that says as much already stays."""
    name = "-".join([row.problem, row.method, "seed", str(row.seed), row.key])
    path = folder / RUNS / (_plain(name) + ".json")
    kept = _kept(path)
    if kept is not None and kept.parameters_hash == row.parameters:
        if set(history) <= set(kept.history) and set(fields) <= set(kept.fields):
            return False
        history, fields = history or dict(kept.history), fields or dict(kept.fields)
    outcome = Outcome(
        summary=row.summary,
        history=history,
        parameters_hash=row.parameters or "",
        fields=fields,
        versions=row.versions,
        machine=row.machine or "",
        commit=row.commit,
        started=row.started,
        ended=row.ended,
    )
    _write(path, run_file.text_of(Planned(row.key, row.configuration, row.timeout_seconds), outcome))
    return True


def _kept(path: Path) -> Outcome | None:
    """The result that a file holds already."""
    try:
        return run_file.run_of(_content(path))[1]
    except run_file.NotWhole:
        return None


def _write_study(folder: Path, study: str, planned: list[Planned]) -> None:
    """The runs of a study, and after them those that the folder names from elsewhere."""
    path = folder / (_plain(study) + _STUDY)
    try:
        _, before = _study_of(_content(path))
    except run_file.NotWhole:
        before = []
    keys = {each.key for each in planned}
    runs = [*planned, *(each for each in before if each.key not in keys)]
    _write(
        path, run_file.signed({"format": run_file.FORMAT, "study": study} | {run.key: _plan_of(run) for run in runs})
    )


def _plan_of(planned: Planned) -> dict[str, object]:
    return {"configuration": dict(planned.configuration), "timeout_seconds": planned.timeout_seconds}


def _study_of(content: dict[str, Any]) -> tuple[str, list[Planned]]:
    runs = [(key, value) for key, value in content.items() if key not in ("format", "study")]
    return content["study"], [Planned(key, run["configuration"], run["timeout_seconds"]) for key, run in runs]


def _content(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise run_file.NotWhole(f"it cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise run_file.NotWhole("it is not text") from None
    return run_file.content_of(text)


def _write(path: Path, text: str) -> None:
    with written_whole(path, _ADVICE) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IncenterError(f"{folder} cannot be written ({error.strerror}): {_ADVICE}.") from error


def _plain(name: str) -> str:
    """Letters that every file system takes."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "study"
