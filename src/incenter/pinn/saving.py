"""The state of a run as named arrays, and back: what a checkpoint holds.

Names are paths: `theta`, `optimizer/0/mu`, `rule/weights`, `step`; the history's columns are `history/losses` and so
on.
"""

import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from incenter.geometry.errors import IncenterError
from incenter.pinn.history import History
from incenter.pinn.loop import State

_HISTORY = "history/"
_MOVING = "moving/"
_DECIDING = ("incenter", "jax", "jaxlib", "numpy", "optax", "equinox")  # packages that decide the bits of a run


def on_host(tree: Any) -> Any:
    """The same in NumPy, in memory of its own: the arrays of a carry are about to be donated."""
    return jax.tree.map(lambda leaf: np.array(jnp.copy(leaf)), tree)


def to_arrays(state: State, history: History) -> dict[str, np.ndarray[Any, Any]]:
    """Every array that a run goes on from."""
    leaves = {_name(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(on_host(state))[0]}
    if not np.isfinite(leaves["theta"]).all():  # the loop lets none through; a file is for keeps
        raise IncenterError("The parameters are not finite and are not saved; lower `lr` and start anew.")
    return leaves | {_HISTORY + name: column for name, column in history.arrays().items()}


def to_state(template: State, arrays: Mapping[str, Any]) -> State:
    """The state in `arrays`, in the shape of `template`."""
    paths, tree = jax.tree_util.tree_flatten_with_path(template)
    leaves = []
    for path, leaf in paths:
        name = _name(path)
        found = arrays.get(name)
        if found is None or found.shape != leaf.shape or found.dtype != leaf.dtype:
            seen = "is not in it" if found is None else f"has shape {found.shape} and dtype {found.dtype}"
            raise IncenterError(
                f"The checkpoint does not fit this run: {name!r} should have shape {leaf.shape} and dtype "
                f"{leaf.dtype} and {seen}; continue with the problem that it was made of."
            )
        leaves.append(jnp.array(found, copy=True))
    state: State = jax.tree_util.tree_unflatten(tree, leaves)
    return state


def to_history(names: tuple[str, ...], arrays: Mapping[str, Any]) -> History:
    """The history in `arrays`."""
    columns = {name.removeprefix(_HISTORY): each for name, each in arrays.items() if name.startswith(_HISTORY)}
    return History(names, columns)


def versions() -> dict[str, str]:
    """What decides the bits of a run besides its configuration."""
    return {name: metadata.version(name) for name in _DECIDING} | {"machine": platform.machine()}


def other_versions(saved: Mapping[str, str]) -> str:
    """One sentence where a run is continued on other software than it was begun on, else nothing."""
    now = versions()
    changed = [f"{name} {saved.get(name)} is now {now[name]}" for name in now if saved.get(name) != now[name]]
    return f"The run goes on in other bits than it began with: {', '.join(changed)}." if changed else ""


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator="/").removeprefix(_MOVING)
