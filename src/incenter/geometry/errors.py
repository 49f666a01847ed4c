"""The one exception of the library, and the checks of what comes in at its door."""

import math
from typing import Any

import numpy as np

from incenter.geometry.arrays import Matrix, namespace, working_dtype


class IncenterError(ValueError):
    """Bad input or an unusable answer, in one sentence: what was seen and what to do."""


def read_gradients(G: Any) -> Matrix:
    """`G` as a floating (m, n) array of the library it came from; half precision and integers promoted."""
    if type(G) is np.ndarray and G.dtype.char in "df" and G.dtype.isnative and G.ndim == 2 and G.shape[1] > 0:
        return G  # the usual case, which costs a tenth of what follows
    if isinstance(G, (list, tuple)):
        G = _from_nested_list(G)
    shape = getattr(G, "shape", None)
    if shape is None or isinstance(G, np.generic):
        raise IncenterError(
            f"G must be a NumPy, JAX or torch array of shape (m, n), one gradient per row; got {type(G).__name__}."
        )
    if "complex" in str(G.dtype) or (isinstance(G, np.ndarray) and G.dtype.kind not in "fiub"):
        raise IncenterError(f"G must hold real numbers; got dtype {G.dtype}. Convert it to float64 first.")
    if len(shape) != 2:
        raise IncenterError(
            f"G must be a matrix of shape (m, n), one gradient per row; got shape {tuple(shape)}. "
            "Stack the flattened gradients, for instance with np.stack."
        )
    if shape[1] == 0:
        raise IncenterError(f"G has no parameters: its shape is {tuple(shape)}; pass gradients with n >= 1 columns.")
    xp = namespace(G)
    dtype = working_dtype(xp, G.dtype)
    return G if G.dtype == dtype else xp.astype(G, dtype)


def read_p(p: Any) -> float:
    """The norm parameter as a float in [1, inf]."""
    if isinstance(p, bool) or not isinstance(p, (int, float, np.floating, np.integer)):
        raise IncenterError(f"`p` must be a number in [1, inf]; got {p!r}.")
    if math.isnan(p) or p < 1:
        raise IncenterError(f"`p` must be in [1, inf]; got p={p!r}. The paper's choice is p=2.")
    return float(p)


def _from_nested_list(G: list[Any] | tuple[Any, ...]) -> np.ndarray:
    try:
        array = np.asarray(G)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "fiub":
        raise IncenterError(
            f"G must be a NumPy, JAX or torch array of shape (m, n); got a {type(G).__name__} that is no matrix of "
            "numbers. Stack the flattened gradients, for instance with np.stack or torch.stack."
        )
    return array
