"""Reading GRADIENTS.npz: `gradients` (m, n), and optionally `names` (m,), `losses` (m,) and `step`."""

import io
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np

from incenter.geometry.arrays import Matrix, Weights
from incenter.geometry.errors import IncenterError
from incenter.study.examples import Gradients

_HOW_TO_WRITE = "np.savez(path, gradients=G, names=names)"


def read(path: Path) -> Gradients:
    """The gradients in `path`; whatever is wrong with the file is one sentence."""
    if not path.exists():
        raise IncenterError(f"There is no file {path}. Give the path of an .npz file, or one of: toy, worked, cone.")
    if not path.is_file():
        raise IncenterError(f"{path} is not a file. Give the path of an .npz file written with {_HOW_TO_WRITE}.")
    with path.open("rb") as file:
        return _gradients(file, str(path), path.name)


def read_bytes(content: bytes, name: str) -> Gradients:
    """The same for the content of a file called `name`."""
    return _gradients(io.BytesIO(content), name, name)


def _gradients(file: IO[bytes], path: str, title: str) -> Gradients:
    arrays = _load(file, path)
    if "gradients" not in arrays:
        held = ", ".join(sorted(arrays)) or "nothing"
        raise IncenterError(f"{path} has no array called `gradients`; it holds {held}. Write it with {_HOW_TO_WRITE}.")
    gradients = _matrix(path, arrays["gradients"])
    m = gradients.shape[0]
    return Gradients(
        gradients,
        _names(path, arrays.get("names"), m),
        title,
        _losses(path, arrays.get("losses"), m),
        _step(path, arrays.get("step")),
    )


def _load(file: IO[bytes], path: str) -> dict[str, Any]:
    if not zipfile.is_zipfile(file):
        raise IncenterError(f"{path} is not an .npz file, or not a whole one. Write it with {_HOW_TO_WRITE}.")
    file.seek(0)
    try:
        with np.load(file, allow_pickle=False) as archive:
            return dict(archive)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        why = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise IncenterError(f"{path} cannot be read as an .npz file ({why}). Write it with {_HOW_TO_WRITE}.") from error


def _matrix(path: str, gradients: Any) -> Matrix:
    if gradients.ndim != 2 or 0 in gradients.shape:
        raise IncenterError(
            f"`gradients` in {path} must have shape (m, n), one gradient per row; got {gradients.shape}. "
            "Flatten and stack them with np.stack."
        )
    if gradients.dtype.kind not in "fiub":
        raise IncenterError(f"`gradients` in {path} must hold real numbers; got dtype {gradients.dtype}.")
    return gradients


def _names(path: str, names: Any, m: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"g{i + 1}" for i in range(m))
    if names.shape != (m,):
        raise IncenterError(f"`names` in {path} must have shape ({m},), one per gradient; got {names.shape}.")
    return tuple(str(name) for name in names)


def _losses(path: str, losses: Any, m: int) -> Weights | None:
    if losses is None:
        return None
    if losses.shape != (m,) or losses.dtype.kind not in "fiub":
        raise IncenterError(
            f"`losses` in {path} must be {m} real numbers, one per gradient; got shape {losses.shape}, {losses.dtype}."
        )
    return losses


def _step(path: str, step: Any) -> int | None:
    if step is None:
        return None
    if step.size != 1 or step.dtype.kind not in "iu":
        raise IncenterError(f"`step` in {path} must be one integer; got shape {step.shape}, {step.dtype}.")
    return int(step.reshape(()))
