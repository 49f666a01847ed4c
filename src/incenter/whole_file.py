"""A file is there whole or not at all: it is written beside its place, and renamed when it is done."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from incenter.geometry.errors import IncenterError


@contextlib.contextmanager
def written_whole(path: Path, advice: str) -> Iterator[Path]:
    """The name to write under; at the end of the context the file there takes the place of `path`.

    Folders that are missing are made. What the disk refuses is one sentence, which ends in `advice`: what to do.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield aside
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        raise IncenterError(f"{path} cannot be written ({error.strerror or error}): {advice}.") from error
