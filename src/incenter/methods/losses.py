"""The values of the losses, for rules that look at them."""

from typing import Any

from incenter.geometry.arrays import Scalar, Weights, is_jax, is_traced, namespace, to_small, wide_dtype
from incenter.geometry.errors import IncenterError


def read_losses(rule: str, losses: Any, like: Weights, *, what: str = "losses", nonnegative: bool = False) -> Weights:
    """One number per row as a small array in the widest float; `like` is a small array with one entry per row."""
    xp, count = namespace(like), like.shape[0]
    if losses is None:
        raise IncenterError(f"{rule} needs `{what}`; pass {what}=, one number per row of G ({count} here).")
    values = xp.astype(xp.asarray(_plain(losses, traceable=is_jax(xp))), wide_dtype(xp))
    if values.shape != (count,):
        raise IncenterError(
            f"`{what}` must hold one number per row of G, so have shape ({count},); got shape {tuple(values.shape)}."
        )
    negative = xp.any(values < 0)  # traced inside `jit` even where the values are known
    if nonnegative and not is_traced(negative) and negative:
        raise IncenterError(
            f"{rule} needs `{what}` that are not negative; got {float(xp.min(values)):.3g}. "
            "Add a constant to that loss, which leaves its gradient as it is."
        )
    return values


def all_finite(values: Weights, *, nonnegative: bool = False) -> Scalar:
    """Whether the losses can be used; inside `jit`, where nothing can be raised, negative ones count as unusable."""
    xp = namespace(values)
    finite = xp.all(xp.isfinite(values))
    return finite & xp.all(values >= 0) if nonnegative else finite


def _plain(losses: Any, *, traceable: bool) -> Any:
    """Something that both NumPy and JAX make an array of."""
    if hasattr(losses, "shape"):
        return to_small(losses)
    return list(losses) if traceable else [float(value) for value in losses]
