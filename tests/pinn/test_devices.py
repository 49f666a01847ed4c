"""Several devices: virtual ones, in a process of their own, because JAX counts them where it is first used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

VIRTUAL = {**os.environ, "NPROC": "1", "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}


def checked(*selection: str) -> None:
    checks = Path(__file__).with_name("devices_checks.py")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        str(checks),
        *selection,
    ]
    run = subprocess.run(command, capture_output=True, text=True, env=VIRTUAL, check=False)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-1000:]


def test_the_step_of_several_devices_is_that_of_one() -> None:
    checked("-m", "not slow")


@pytest.mark.slow
def test_whole_runs_on_several_devices() -> None:
    checked("-m", "slow")
