"""The store that tables, figures and reports are made of: a store's file, or a folder of results read into one."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from incenter.geometry.errors import IncenterError
from incenter.study.exchange import take_in
from incenter.study.rows import Row
from incenter.study.store import Store


@contextlib.contextmanager
def opened(store: Path, folder: Path | None = None) -> Iterator[tuple[Store, tuple[str, ...]]]:
    """The store in a file, or that of a folder for as long as it is needed; and a sentence for all that is damaged."""
    if folder is None:
        with Store(store, create=False) as found:
            yield found, ()
        return
    with tempfile.TemporaryDirectory() as place, Store(Path(place) / "folder.sqlite") as found:
        yield found, take_in(found, folder).problems


def rows_of(store: Store, study: str | None) -> list[Row]:
    """The runs of a study, or of all; a study that is not there is told what there is."""
    names = store.studies()
    if study is not None and study not in names:
        raise IncenterError(f"There is no study {study!r} here; there are: {', '.join(names) or 'none yet'}.")
    return store.rows(study)
