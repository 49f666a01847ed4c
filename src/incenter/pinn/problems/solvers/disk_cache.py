"""Arrays that took seconds to compute, kept on disk between runs.

    file = SHA-256 of the rest (32 bytes) + the array in NumPy's own format, never a pickle

The name carries a hash of the settings, so other settings are another file. Whatever is damaged, cut short or
unreadable is computed anew and written over. Files are written aside and renamed, so that two runs at once do not meet
half a file. The folder is INCENTER_CACHE, else XDG_CACHE_HOME/incenter, else ~/.cache/incenter; where it cannot be
written nothing is kept.
"""

import contextlib
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_DIGEST_BYTES = 32


def cached(name: str, settings: Mapping[str, Any], compute: Callable[[], Floats]) -> Floats:
    """`compute()`, or what it gave before under this name and these settings."""
    path = folder() / f"{name}-{_fingerprint(settings)}.array"
    kept = _read(path)
    if kept is not None:
        return kept
    array = compute()
    with contextlib.suppress(OSError):  # a read-only home costs the next run its seconds, not this one its answer
        _write(path, array)
    return array


def folder() -> Path:
    """Where the arrays are kept."""
    chosen = os.environ.get("INCENTER_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "incenter"


def _fingerprint(settings: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def _read(path: Path) -> Floats | None:
    """The array in the file; None unless every byte is as written."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, payload = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if hashlib.sha256(payload).digest() != digest:
        return None
    array: Floats = np.load(io.BytesIO(payload), allow_pickle=False)
    return array


def _write(path: Path, array: Floats) -> None:
    payload = io.BytesIO()
    np.save(payload, array, allow_pickle=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as aside:
        aside.write(hashlib.sha256(payload.getvalue()).digest() + payload.getvalue())
        aside.flush()
        os.fsync(aside.fileno())
    Path(aside.name).replace(path)
