"""A finished run as a small text file, and back: what it ended in exactly, and at most 24 records of its history.

    {
    "format": 1,
    "key": "...",
    "configuration": {...},
    ...
    "history": {"step": {"dtype": "<i8", "shape": [24], "values": [1, 2, ...]}, ...},
    "fields": {"u": {"dtype": "<f4", "shape": [64, 64], "packed": "c$@..."}, ...},
    "sha256": "..."
    }

The file is JSON with one entry a line, so that it can live in git. The hash is of the values, not of the text: line
ends may change. Of a float32 as few digits are written as bring it back. What is not finite is written "nan", "inf",
"-inf". Of the records the losses are exact, and what was measured beside them has 4 digits, more than a curve shows:
so 600 runs fit into 5 MB. Fields, which nobody reads as numbers, are packed to a third of that: their bytes, first
those of the first byte of each value, then of the second, ..., through zlib and base 85.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from incenter.study.packing import Array
from incenter.study.rows import Outcome, Planned

FORMAT = 1
RECORDS = 24  # of a history
_DIGITS = 4  # of what is measured beside the losses
_MEASURED = {"seconds", "norms", "radius", "r_star", "binding", "weights", "error"}
_COMPACT = (",", ":")
_HALF, _REST = np.uint32(0x800), np.uint32(0xFFF)  # of the bits that `coarse` drops


class NotWhole(Exception):
    """What is wrong with a file, in a few words."""


def text_of(planned: Planned, outcome: Outcome) -> str:
    """The text of the file."""
    content = {
        "format": FORMAT,
        "key": planned.key,
        "configuration": dict(planned.configuration),
        "timeout_seconds": planned.timeout_seconds,
        "summary": dict(outcome.summary),
        "parameters": outcome.parameters_hash,
        "versions": dict(outcome.versions),
        "machine": outcome.machine,
        "commit": outcome.commit,
        "started": outcome.started,
        "ended": outcome.ended,
        "history": {name: _written(array) for name, array in thinned(outcome.history).items()},
        "fields": {name: _packed(array) for name, array in outcome.fields.items()},
    }
    return signed(content)


def signed(content: Mapping[str, Any]) -> str:
    """JSON with one entry a line, and a hash of it all at the end."""
    lines = [f"{json.dumps(name)}: {json.dumps(value, separators=_COMPACT)}" for name, value in content.items()]
    return "{\n" + ",\n".join([*lines, f'"sha256": "{_hash(content)}"']) + "\n}\n"


def content_of(text: str) -> dict[str, Any]:
    """What `signed` was given; `NotWhole` where it is not."""
    try:
        content = json.loads(text)
    except ValueError:
        raise NotWhole("it is cut short, or not JSON") from None
    if not isinstance(content, dict) or "format" not in content:
        raise NotWhole("it is not a file of a study")
    if content["format"] != FORMAT:
        raise NotWhole(f"its format is {content['format']}, and this incenter reads {FORMAT}: upgrade incenter")
    if content.pop("sha256", None) != _hash(content):
        raise NotWhole("its values do not have their hash")
    return content


def run_of(content: Mapping[str, Any]) -> tuple[Planned, Outcome]:
    """The run in what `content_of` gave."""
    planned = Planned(content["key"], content["configuration"], content["timeout_seconds"])
    outcome = Outcome(
        summary=content["summary"],
        history={name: _read(array) for name, array in content["history"].items()},
        parameters_hash=content["parameters"],
        fields={name: _read(array) for name, array in content["fields"].items()},
        versions=content["versions"],
        machine=content["machine"],
        commit=content["commit"],
        started=content["started"],
        ended=content["ended"],
    )
    return planned, outcome


def thinned(history: Mapping[str, Array]) -> dict[str, Array]:
    """At most `RECORDS` records, evenly chosen, with the first and the last, in as many digits as are written."""
    count = len(history["step"]) if "step" in history else 0
    chosen = np.unique(np.linspace(0, count - 1, RECORDS).round().astype(int))
    kept = {
        name: column[chosen] if count > RECORDS and np.ndim(column) and len(column) == count else column
        for name, column in history.items()
    }
    return {name: _rounded(column) if name in _MEASURED else column for name, column in kept.items()}


def _rounded(column: Array) -> Array:
    values = [float(f"{value:.{_DIGITS}g}") for value in np.ravel(column).tolist()]
    return np.array(values, dtype=column.dtype).reshape(np.shape(column))


def coarse(fields: Mapping[str, Array]) -> dict[str, Array]:
    """Fields for pictures, which take half the room: float32 with 12 of its 24 bits, 1e-4 of a value; axes stay."""
    return {
        name: ((array.view(np.uint32) + _HALF) & ~_REST).view(np.float32)
        if array.dtype == np.float32 and not name.startswith("axis/")
        else array
        for name, array in fields.items()
    }


def _hash(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=_COMPACT).encode()).hexdigest()


def _written(array: Array) -> dict[str, Any]:
    array = np.asarray(array)
    values = _short(array).ravel().tolist()
    if array.dtype.kind == "b":
        values = [int(value) for value in values]
    if array.dtype.kind == "f":
        values = [value if np.isfinite(value) else str(value) for value in values]
    return {"dtype": array.dtype.str, "shape": list(array.shape), "values": values}


def _packed(array: Array) -> dict[str, Any]:
    array = np.asarray(array)
    data = np.frombuffer(array.tobytes(), np.uint8).reshape(-1, array.dtype.itemsize).T.tobytes()
    packed = base64.b85encode(zlib.compress(data, 9)).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "packed": packed}


def _short(array: Array) -> Array:
    """The float64 with the fewest digits that become these values when they are rounded to their own precision."""
    if array.dtype.kind != "f" or array.dtype.itemsize >= 8:
        return array
    short = array.astype(str).astype(np.float64)
    exact = short.astype(array.dtype) == array
    return np.where(exact, short, array.astype(np.float64))


def _read(written: Mapping[str, Any]) -> Array:
    dtype = np.dtype(written["dtype"])
    if "packed" in written:
        data = np.frombuffer(zlib.decompress(base64.b85decode(written["packed"])), np.uint8)
        return np.frombuffer(data.reshape(dtype.itemsize, -1).T.tobytes(), dtype).reshape(written["shape"]).copy()
    # Text first: "nan" among the numbers is one of them.
    values = [float(value) for value in written["values"]] if dtype.kind == "f" else written["values"]
    return np.array(values, dtype=dtype).reshape(written["shape"])
