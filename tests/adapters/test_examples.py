"""The examples of the adapters run, and print numbers that a wrong sign would change."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"


def printed(name: str, *arguments: str, **environment: str) -> list[float]:
    """The last number of each line."""
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    everything = {**os.environ, "NPROC": "1", "OMP_NUM_THREADS": "1", **environment}
    run = subprocess.run(command, capture_output=True, text=True, env=everything, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    found = [re.fullmatch(r".*: +(\d+\.\d+)", line) for line in run.stdout.splitlines()]
    return [float(match[1]) for match in found if match]


@pytest.mark.parametrize("backend", ["pytorch", "jax"])
def test_burgers_in_deepxde(backend: str) -> None:
    last, best = printed("deepxde_burgers.py", "--steps", "1000", DDE_BACKEND=backend)
    assert last == best < 0.75  # 1 at rest; a network that climbs is beyond it


def test_a_problem_in_jinns() -> None:
    (error,) = printed("jinns_problem.py")
    assert error < 0.01


def test_a_lightning_module() -> None:
    with_the_centre, with_the_sum = printed("lightning_module.py")
    assert with_the_centre < 0.4
    assert with_the_sum > with_the_centre + 0.1
