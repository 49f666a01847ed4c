"""Who takes part in `benchmarks.step`: one module each, with `build(problem) -> Contender`, each run in a process of its own."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    """A row of the table: the module that builds it, what it needs installed, and its environment."""

    module: str
    packages: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


OURS, OURS_ADAM, FLOOR, EAGER = "ours, Chebyshev", "ours, Adam", "floor", "PyTorch eager, Chebyshev"
DEEPXDE_TORCH, DEEPXDE_JAX, JINNS = "DeepXDE on PyTorch, Adam", "DeepXDE on JAX, Adam", "jinns, Adam"

ENTRIES = {
    OURS: Entry("ours", ("jax", "equinox", "optax"), {"INCENTER_METHOD": "chebyshev"}),
    OURS_ADAM: Entry("ours", ("jax", "equinox", "optax"), {"INCENTER_METHOD": "adam"}),
    EAGER: Entry("torch_eager", ("torch",)),
    DEEPXDE_TORCH: Entry("deepxde", ("deepxde", "torch"), {"DDE_BACKEND": "pytorch"}),
    DEEPXDE_JAX: Entry("deepxde", ("deepxde", "jax", "flax"), {"DDE_BACKEND": "jax"}),
    JINNS: Entry("jinns_steps", ("jinns",)),
    FLOOR: Entry("floor", ("numpy", "jax")),
}
