"""JAX in double precision for all tests."""

import jax

jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
