"""The cache gives back what was computed, and never what was damaged."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from incenter.pinn.problems.solvers.disk_cache import cached, folder

ARRAY = np.arange(6.0).reshape(2, 3) / 7.0


class Counting:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> NDArray[np.float64]:
        self.calls += 1
        return ARRAY


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INCENTER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_computes_once_for_each_setting(place: Path) -> None:
    compute = Counting()
    for _ in range(3):
        np.testing.assert_array_equal(cached("heat", {"cells": 255}, compute), ARRAY)
    assert compute.calls == 1
    cached("heat", {"cells": 85}, compute)
    cached("other", {"cells": 255}, compute)
    assert compute.calls == 3
    assert len(list(place.iterdir())) == 3  # and nothing left over from writing


def test_a_flipped_bit_in_any_byte_and_every_truncation_is_found(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)  # thousands of them would be minutes on a busy disk
    cached("heat", {}, Counting())
    [path] = place.iterdir()
    good = path.read_bytes()
    flipped = (good[:k] + bytes([good[k] ^ 1 << k % 8]) + good[k + 1 :] for k in range(len(good)))
    shortened = (good[:k] for k in range(len(good)))
    for damaged in [*flipped, *shortened, good + b"\0"]:
        path.write_bytes(damaged)
        compute = Counting()
        np.testing.assert_array_equal(cached("heat", {}, compute), ARRAY)
        assert compute.calls == 1
        assert path.read_bytes() == good


def test_a_folder_that_cannot_be_written_costs_only_time(place: Path) -> None:
    place.write_text("a file where the folder should be")
    compute = Counting()
    np.testing.assert_array_equal(cached("heat", {}, compute), ARRAY)
    np.testing.assert_array_equal(cached("heat", {}, compute), ARRAY)
    assert compute.calls == 2


def test_the_folder_follows_the_desktop_convention(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("INCENTER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folder() == tmp_path / "incenter"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert folder() == Path.home() / ".cache" / "incenter"
