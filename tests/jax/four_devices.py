"""Run in a process of its own: one step on four virtual devices beside the same step on one. Writes the differences."""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from incenter.jax import value_and_update
from incenter.methods import by_name


def losses_fn(params: dict[str, Any], x: Any, y: Any) -> dict[str, Any]:
    """Means over points; the second loss is a thousand times the louder, and the two disagree."""
    u = jnp.tanh(x @ params["W"] + params["b"]) @ params["v"]
    return {"fit": jnp.mean((u - y) ** 2), "level": 1e3 * jnp.mean((u - 2) ** 2), "size": jnp.mean(u**4)}


def main() -> None:
    jax.config.update("jax_enable_x64", sys.argv[1] == "float64")  # type: ignore[no-untyped-call]
    rng, dtype = np.random.default_rng(0), jnp.dtype(sys.argv[1])
    params = {
        name: jnp.asarray(rng.normal(size=shape), dtype) for name, shape in {"W": (3, 8), "b": (8,), "v": (8,)}.items()
    }
    x, y = jnp.asarray(rng.normal(size=(64, 3)), dtype), jnp.asarray(rng.normal(size=64), dtype)
    assert len(jax.devices()) == 4
    mesh = Mesh(np.array(jax.devices()), ("points",))
    split: Any = PartitionSpec("points")  # type: ignore[no-untyped-call]
    whole: Any = PartitionSpec()  # type: ignore[no-untyped-call]
    for name in sys.argv[2:]:
        rule: Any = by_name(name)
        step = value_and_update(losses_fn, rule)
        expected = _flat(jax.jit(step)(params, x, y))
        sharded = [jax.device_put(array, NamedSharding(mesh, split)) for array in (x, y)]
        found = {"jit": _flat(jax.jit(step)(params, *sharded))}
        local = value_and_update(losses_fn, rule, axis_name="points")
        for check in (True, False):
            mapped = jax.shard_map(
                lambda *args, local=local: _flat(local(*args)),
                mesh=mesh,
                in_specs=(whole, split, split),
                out_specs=whole,
                check_vma=check,
            )
            found[f"shard_map, check_vma={check}"] = jax.jit(mapped)(params, x, y)
        for way, (losses, update) in found.items():
            numbers = _distance(losses, expected[0]), _distance(update, expected[1])
            sys.stdout.write(f"{name}, {way}: {numbers[0]} {numbers[1]}\n")


def _flat(answer: tuple[Any, Any]) -> tuple[Any, Any]:
    losses, out = answer
    return ravel_pytree(losses)[0], ravel_pytree(out.update)[0]


def _distance(found: Any, expected: Any) -> float:
    return float(np.max(np.abs(np.asarray(found) - np.asarray(expected))) / np.max(np.abs(np.asarray(expected))))


if __name__ == "__main__":
    main()
