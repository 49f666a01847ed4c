"""DeepXDE on its two backends, each in a process of its own: the backend is chosen where DeepXDE is imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["pytorch", "jax"])
def test_the_checks_hold(backend: str) -> None:
    checks = Path(__file__).with_name("deepxde_checks.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default", str(checks)]
    environment = {**os.environ, "DDE_BACKEND": backend, "NPROC": "1", "JAX_ENABLE_X64": "0"}
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert run.returncode == 0, run.stdout[-4000:]
