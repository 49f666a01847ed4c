"""Several devices for one run: the points of each term are shared out among them, all the rest is the same on each.

    loss_i, G_i  =  sum over the devices of what their shares of the points of term i give

The sums are made before the rule sees a gradient, so that it sees what it would on one device, but for the order in
which sums are rounded. (A mean of the devices' own updates would be another direction.)
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from incenter.geometry.errors import IncenterError

_AXIS = "points"


def mesh_of(devices: int) -> Mesh | None:
    """The first so many devices; None for a single one, which needs no mesh."""
    if devices == 1:
        return None
    found = jax.devices()
    if devices > len(found):
        there = f"{len(found)} {found[0].platform} device{'s' if len(found) > 1 else ''}"
        raise IncenterError(
            f"`devices` is {devices}, and JAX sees {there} here; to try several on one processor, set "
            f"XLA_FLAGS=--xla_force_host_platform_device_count={devices} before Python starts."
        )
    return Mesh(np.array(found[:devices]), (_AXIS,))


def summed_over(mesh: Mesh, function: Callable[[Any], Any], tree: Any) -> Any:
    """The sum over devices of `function` of their shares of `tree`, along the first axis of each of its arrays."""

    split: Any = PartitionSpec(_AXIS)  # type: ignore[no-untyped-call]
    whole: Any = PartitionSpec()  # type: ignore[no-untyped-call]

    def on_one(share: Any) -> Any:
        return jax.lax.psum(function(share), _AXIS)  # type: ignore[no-untyped-call]

    # Unchecked, because the check would reduce the gradient of each portion by itself.
    return jax.shard_map(on_one, mesh=mesh, in_specs=split, out_specs=whole, check_vma=False)(tree)
