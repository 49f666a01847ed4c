"""Data-parallel training: four devices give the update of one, by `jit` with a mesh and by `shard_map`."""

import os
import subprocess
import sys

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-6)])
def test_the_update_is_that_of_one_device(dtype: str, tolerance: float) -> None:
    command = [sys.executable, "-m", "tests.jax.four_devices", dtype, "chebyshev", "sum"]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NPROC": "1"}, check=False)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == 2 * 3
    for line in lines:
        of_losses, of_update = (float(number) for number in line.split()[-2:])
        assert of_losses <= tolerance, line
        assert of_update <= tolerance, line
