"""The user's own files that a run was made of: where they lay and what they held, kept beside the run.

Whoever reads the run later finds them again from any folder, and is told when they have changed since.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incenter.pinn.configuration import Configuration
from incenter.pinn.loading import file_of, in_file

Sources = dict[str, dict[str, str]]  # by field of the configuration: "file" and "sha256"

_FIELDS = ("problem", "method")


def sources(configuration: Configuration) -> Sources:
    """The files that the configuration names as FILE.py:NAME."""
    named = {field: getattr(configuration, field) for field in _FIELDS}
    files = {field: file_of(name).resolve() for field, name in named.items() if in_file(name)}
    return {field: {"file": str(path), "sha256": _digest(path)} for field, path in files.items()}


def changed(saved: Mapping[str, Mapping[str, str]]) -> list[str]:
    """A sentence for each file that is no longer what it was."""
    files = {each["file"]: each["sha256"] for each in saved.values()}
    return [
        f"{file} has changed since the run was begun: what comes of the run now may differ from what was trained."
        for file, digest in files.items()
        if Path(file).is_file() and _digest(Path(file)) != digest
    ]


def at_home(name: Any, saved: Mapping[str, str] | None) -> Any:
    """FILE.py:NAME with the file where it lay when the run was begun."""
    return name if saved is None or not in_file(name) else f"{saved['file']}:{name.rpartition(':')[2]}"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
