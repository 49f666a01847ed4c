"""Named arrays as bytes and back, bit for bit, without pickle: NumPy's own .npz."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from incenter.geometry.errors import IncenterError

Array = np.ndarray[Any, np.dtype[Any]]
_PLAIN = "fiubU"  # floats, integers, booleans and text


def pack(arrays: Mapping[str, Any]) -> bytes:
    """The arrays as the bytes of an .npz file; none at all are no bytes."""
    plain = {name: np.asarray(value) for name, value in arrays.items()}
    for name, array in plain.items():
        if array.dtype.kind not in _PLAIN:
            raise IncenterError(f"A store keeps numbers and text; got dtype {array.dtype} for {name!r}.")
    if not plain:
        return b""
    # Names such as "unknown/a" and "file" are no arguments of savez: the names are an array of their own.
    whole: dict[str, Any] = {f"a{index}": array for index, array in enumerate(plain.values())}
    file = io.BytesIO()
    np.savez(file, names=np.array(list(plain)), **whole)
    return file.getvalue()


def unpack(data: bytes) -> dict[str, Array]:
    """What `pack` was given; the caller has verified the bytes."""
    if not data:
        return {}
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return {str(name): archive[f"a{index}"] for index, name in enumerate(archive["names"])}
