"""The state of a run in one file that is whole or known not to be.

    incenter checkpoint V\\n       V the version of the format
    length of the header          8 bytes, little-endian
    header                        JSON: step, manifest, and of each array its name, dtype, shape, length and SHA-256
    arrays                        their bytes in the order of the header, C order, nothing between them
    SHA-256 of all of the above   32 bytes

The last line makes every flipped bit, every truncation and every appended byte known; it stays the last line in every
version of the format, so a file of a later version is told from a damaged one. Nothing is ever unpickled.

A file is written under a temporary name, synced, renamed, and then its folder is synced: a process that is killed
while saving leaves the older files as they were. Two stay: the one just written and the newest before it, to fall back
to when the newest is damaged later.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from incenter.geometry.errors import IncenterError

Array = np.ndarray[Any, np.dtype[Any]]

VERSION = 1
_MAGIC = b"incenter checkpoint "
_FIRST_LINE = re.compile(re.escape(_MAGIC) + rb"(\d{1,9})\n")
_LENGTH = 8  # bytes that hold the length of the header
_DIGEST = hashlib.sha256().digest_size
_PLAIN_KINDS = "biufcSUmM"  # dtypes whose bytes are their values: no objects, no records
_NAME = re.compile(r"step-(\d+)\.checkpoint")
_TEMPORARY = re.compile(r"\.step-\d+\.checkpoint\.\d+\.tmp")


@dataclass(frozen=True)
class Checkpoint:
    """The state after `step` steps; `note` is one sentence where a damaged newer file had to be passed over."""

    step: int
    arrays: dict[str, Array]
    manifest: dict[str, Any]
    note: str = ""


class DamagedError(IncenterError):
    """A file that is not what was written."""


def write(directory: Path, step: int, arrays: Mapping[str, Any], manifest: Mapping[str, Any]) -> Path:
    """Save `arrays` and the JSON `manifest` as the state after `step` steps; the path it now has."""
    data = encode(step, arrays, manifest)
    path = directory / f"step-{step:09d}.checkpoint"
    aside = directory / f".{path.name}.{os.getpid()}.tmp"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        try:
            _write_synced(aside, data)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
        _sync_folder(directory)
        _tidy(directory, step)
    except OSError as error:
        raise IncenterError(
            f"The checkpoint of step {step:,} cannot be saved in {directory} ({error.strerror or error}); what was "
            "saved before is untouched: make room there or give another folder, then continue from it."
        ) from error
    return path


def newest(directory: Path) -> Checkpoint:
    """The latest checkpoint in `directory` that is whole."""
    damaged: list[str] = []
    for path in _saved(directory):
        try:
            checkpoint = read(path)
        except FileNotFoundError:  # a run that goes on has replaced it by a newer one
            return newest(directory)
        except DamagedError:
            damaged.append(path.name)
            continue
        note = f"{' and '.join(damaged)} in {directory} is damaged, so step {checkpoint.step:,} before it is taken."
        return checkpoint if not damaged else Checkpoint(checkpoint.step, checkpoint.arrays, checkpoint.manifest, note)
    if damaged:
        raise DamagedError(
            f"Every checkpoint in {directory} is damaged ({', '.join(damaged)}): restore one from a backup, or train "
            "again in another folder."
        )
    raise IncenterError(f"There is no checkpoint in {directory}: train into it first, or give the folder of a run.")


def exists(directory: Path) -> bool:
    """Whether `directory` holds a checkpoint, whole or not."""
    return bool(_saved(directory))


def read(path: Path) -> Checkpoint:
    """The checkpoint in one file."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise IncenterError(f"{path} cannot be read ({error.strerror or error}): mend that and try again.") from error
    try:
        return decode(data)
    except IncenterError as error:
        raise type(error)(f"{path}: {error}") from error


def require_same(saved: Mapping[str, Any], wanted: Mapping[str, Any], where: Path, free: Sequence[str] = ()) -> None:
    """Refuse to go on in `where` under another configuration; fields in `free` may differ."""
    before, now = (json.loads(json.dumps(dict(each), sort_keys=True)) for each in (saved, wanted))
    for name in sorted(before.keys() | now.keys()):
        if name not in free and before.get(name) != now.get(name):
            raise IncenterError(
                f"The run in {where} has {name} = {json.dumps(before.get(name))}, not {json.dumps(now.get(name))}: "
                f"continue it with its own {name}, or give another folder."
            )


def encode(step: int, arrays: Mapping[str, Any], manifest: Mapping[str, Any]) -> bytes:
    """The bytes of a checkpoint."""
    entries, bodies = [], []
    for name, value in arrays.items():
        array = np.asarray(value)
        if array.dtype.kind not in _PLAIN_KINDS:
            raise IncenterError(f"The array {name!r} cannot be saved: its dtype is {array.dtype}; convert it first.")
        body = array.tobytes()
        entries.append(
            {
                "name": name,
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "length": len(body),
                "sha256": hashlib.sha256(body).hexdigest(),
            }
        )
        bodies.append(body)
    header = json.dumps({"step": int(step), "manifest": dict(manifest), "arrays": entries}).encode()
    first = _MAGIC + str(VERSION).encode() + b"\n" + len(header).to_bytes(_LENGTH, "little")
    content = b"".join([first, header, *bodies])
    return content + hashlib.sha256(content).digest()


def decode(data: bytes) -> Checkpoint:
    """The checkpoint whose bytes these are; DamagedError if a single one of them is not."""
    content = memoryview(data)[:-_DIGEST]
    if len(data) < _DIGEST or hashlib.sha256(content).digest() != data[-_DIGEST:]:
        raise DamagedError("this checkpoint is damaged: its bytes are not those that were written; take an older one.")
    first = _FIRST_LINE.match(content)
    if first is None:
        raise DamagedError("this is no checkpoint: take a file that a training run has written.")
    if int(first[1]) != VERSION:
        raise IncenterError(
            f"this checkpoint has format {int(first[1])}, and this version of incenter reads format {VERSION}: "
            "pip install --upgrade incenter."
        )
    try:
        return _parse(content, first.end())
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise DamagedError(f"this checkpoint's header is not understood ({error}); take an older one.") from error


def _parse(content: memoryview, start: int) -> Checkpoint:
    body = start + _LENGTH + int.from_bytes(content[start : start + _LENGTH], "little")
    header = json.loads(bytes(content[start + _LENGTH : body]))
    arrays = {}
    for entry in header["arrays"]:
        values = content[body : body + entry["length"]]
        if hashlib.sha256(values).hexdigest() != entry["sha256"]:
            raise ValueError(f"the array {entry['name']} has other bytes")
        arrays[entry["name"]] = _array(values, entry["dtype"], entry["shape"])
        body += entry["length"]
    if body != len(content):
        raise ValueError(f"{len(content) - body} bytes belong to no array")
    return Checkpoint(header["step"], arrays, header["manifest"])


def _array(values: memoryview, dtype: str, shape: list[int]) -> Array:
    kind = np.dtype(dtype)
    if kind.kind not in _PLAIN_KINDS:
        raise ValueError(f"dtype {dtype}")
    # A copy, which owns its memory and can be written to.
    return np.ndarray(tuple(shape), kind, buffer=bytes(values)).copy()


def _saved(directory: Path) -> list[Path]:
    """The checkpoints in `directory`, latest first."""
    return [path for _, path in sorted(_by_step(directory), reverse=True)]


def _by_step(directory: Path) -> Iterator[tuple[int, Path]]:
    if directory.is_dir():
        for path in _listing(directory):
            if name := _NAME.fullmatch(path.name):
                yield int(name[1]), path


def _listing(directory: Path) -> list[Path]:
    try:
        return list(directory.iterdir())
    except OSError as error:
        raise IncenterError(f"{directory} cannot be read ({error.strerror}): mend that and try again.") from error


def _tidy(directory: Path, step: int) -> None:
    """Keep the file just written and the newest before it; remove what a killed process left behind.

    A later step than the one just written is damaged, or of a run that was begun anew.
    """
    before = sorted(other for other, _ in _by_step(directory) if other < step)
    for other, path in list(_by_step(directory)):
        if other not in (step, *before[-1:]):
            path.unlink(missing_ok=True)
    for path in _listing(directory):
        if _TEMPORARY.fullmatch(path.name):
            path.unlink(missing_ok=True)


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(directory: Path) -> None:
    """Make the renaming itself last through a power cut, where folders can be synced at all."""
    with contextlib.suppress(PermissionError):  # systems that do not open folders
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network drives
                raise
        finally:
            os.close(descriptor)
