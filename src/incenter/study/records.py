"""What a row of the store looks like in the file, and its hash.

A run has a row in `runs`: its configuration, which never changes, under a hash; and where it stands, which changes all
the time. A finished one has a row in `results` under a hash too, which holds the hashes of its arrays as well.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from incenter.study.packing import Array
from incenter.study.rows import STATES, Outcome, Row, State, What

RUN_COLUMNS = (
    "key", "configuration", "timeout", "hash", "status", "worker", "attempts", "step", "losses", "latest", "beat",
    "started", "ended", "error",
)  # fmt: skip
RESULT_COLUMNS = (
    "key", "summary", "parameters", "versions", "machine", "commit", "started", "ended", "history", "fields", "hash",
)  # fmt: skip
COLUMNS = ", ".join(
    [f"runs.{name}" for name in RUN_COLUMNS] + [f'results."{name}"' for name in RESULT_COLUMNS]
)  # of `runs LEFT JOIN results USING (key)`

_NO_RESULT: tuple[Any, ...] = (None, "{}", None, "{}", None, None, None, None)


def as_json(value: Any) -> str:
    """The same text for the same values."""
    return json.dumps(value, sort_keys=True)


def hash_of(*values: Any) -> str:
    """Of values as SQLite gives them back."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def hash_of_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def result_values(key: str, outcome: Outcome, arrays: Mapping[str, bytes]) -> tuple[Any, ...]:
    """A row of `results`, in the order of its columns."""
    values = (
        key,
        as_json(dict(outcome.summary)),
        outcome.parameters_hash,
        as_json(dict(outcome.versions)),
        outcome.machine,
        outcome.commit,
        None if outcome.started is None else float(outcome.started),
        None if outcome.ended is None else float(outcome.ended),
        hash_of_bytes(arrays["history"]),
        hash_of_bytes(arrays["fields"]),
    )
    return (*values, hash_of(*values))


def is_done(values: Sequence[Any]) -> bool:
    return bool(values[RUN_COLUMNS.index("status")] == "done")


def fault(values: Sequence[Any]) -> str | None:
    """What is wrong with a run's two rows, in words; None where both have their hashes."""
    run, result = _split(values)
    key, configuration, _, digest, status = run[:5]
    if _hash_or_none(key, configuration) != digest:
        return "its configuration does not have its hash"
    if status not in STATES:
        return f"its status is {status!r}"
    if status == "done" and result[0] is None:
        return "its result is not there"
    if status == "done" and (result[0] != key or _hash_or_none(*result[:-1]) != result[-1]):
        return "its result does not have its hash"
    return None


def _split(values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    return values[: len(RUN_COLUMNS)], values[len(RUN_COLUMNS) :]


def _losses(text: str | None) -> tuple[float | None, ...]:
    """Of a heartbeat, which has no hash: only shown, and not shown where it cannot be read."""
    try:
        return tuple(json.loads(text or "[]"))
    except (TypeError, ValueError):
        return ()


def _hash_or_none(*values: Any) -> str | None:
    try:
        return hash_of(*values)
    except TypeError:  # a damaged type: bytes in the place of text
        return None


def row_of(study: str | None, values: Sequence[Any], load: Callable[[str, What], dict[str, Array]]) -> Row:
    """A run whose rows are as they should be."""
    run, result = _split(values)
    key, text, timeout, _, status, worker, attempts, step, losses, latest, beat, started, ended, error = run
    done = is_done(values)
    _, text_of_summary, parameters, versions, machine, commit, *times = result[:8] if done else _NO_RESULT
    configuration: dict[str, Any] = json.loads(text)
    summary: dict[str, Any] = json.loads(text_of_summary)
    if done:
        step, (started, ended) = summary.get("steps"), times
    return Row(
        key=key,
        study=study,
        problem=configuration["problem"],
        method=configuration.get("method", "chebyshev"),
        p=float(configuration.get("p", 2.0)),
        lr=configuration.get("lr"),
        optimizer=configuration.get("optimizer", "adam"),
        steps=configuration.get("steps"),
        seed=configuration.get("seed", 0),
        precision=configuration.get("precision", 32),
        options=options_of(configuration),
        configuration=configuration,
        timeout_seconds=timeout,
        status=cast(State, status),
        worker=worker,
        step=step,
        losses=_losses(losses),
        latest_l2=latest,
        beat=beat,
        started=started,
        ended=ended,
        attempts=attempts,
        error=error,
        summary=summary,
        relative_l2=summary.get("relative_l2"),
        seconds=summary.get("seconds"),
        ms_per_step=summary.get("ms_per_step"),
        radius=summary.get("radius"),
        stopped=summary.get("stopped"),
        parameters=parameters,
        versions=json.loads(versions),
        machine=machine,
        commit=commit,
        load=load,
    )


def options_of(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The options by owner and name, as `Configuration.changes` writes them."""
    return {
        f"{name.removesuffix('_options')}.{option}": value
        for name, inner in configuration.items()
        if name.endswith("_options")
        for option, value in inner.items()
    }
