"""Who takes part in `benchmarks.step`: a module each, with `build(problem, variant)`, run in a process of its own."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    """A row of the tables: the module that builds it, which variant, what must be installed, and its environment."""

    module: str
    variant: str
    packages: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


OURS, OURS_ADAM, EAGER, FLOOR = "ours, Chebyshev", "ours, Adam", "eager PyTorch, Chebyshev", "floor"
DEEPXDE_TORCH, DEEPXDE_JAX = "DeepXDE on PyTorch, Adam", "DeepXDE on JAX, Adam"
DEEPXDE_JAX_FORWARD, JINNS = "DeepXDE on JAX in forward mode, Adam", "jinns, Adam"
PEERS = (DEEPXDE_TORCH, DEEPXDE_JAX, DEEPXDE_JAX_FORWARD, JINNS)

ENTRIES = {
    OURS: Entry("ours", "chebyshev", ("jax", "equinox", "optax")),
    OURS_ADAM: Entry("ours", "adam", ("jax", "equinox", "optax")),
    EAGER: Entry("torch_eager", "", ("torch",)),
    DEEPXDE_TORCH: Entry("deepxde", "reverse", ("deepxde", "torch"), {"DDE_BACKEND": "pytorch"}),
    DEEPXDE_JAX: Entry("deepxde", "reverse", ("deepxde", "jax", "flax"), {"DDE_BACKEND": "jax"}),
    DEEPXDE_JAX_FORWARD: Entry("deepxde", "forward", ("deepxde", "jax", "flax"), {"DDE_BACKEND": "jax"}),
    JINNS: Entry("jinns_steps", "", ("jinns",)),
    FLOOR: Entry("floor", "", ("numpy", "jax")),
}
