"""GRADIENTS.npz: read back as written; whatever is wrong is one sentence."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incenter
from incenter.study.gradients_file import read

G = np.arange(12.0).reshape(3, 4)


def write(folder: Path, **arrays: Any) -> Path:
    path = folder / "gradients.npz"
    np.savez(path, **arrays)
    return path


def test_all_that_a_file_may_hold(tmp_path: Path) -> None:
    found = read(write(tmp_path, gradients=G, names=["a", "b", "c"], losses=[1.0, 2.0, 3.0], step=7))
    assert np.array_equal(found.gradients, G)
    assert (found.names, found.step, found.title) == (("a", "b", "c"), 7, "gradients.npz")
    assert found.losses is not None
    assert found.losses.tolist() == [1.0, 2.0, 3.0]


def test_gradients_alone_are_enough(tmp_path: Path) -> None:
    found = read(write(tmp_path, gradients=G))
    assert (found.names, found.losses, found.step) == (("g1", "g2", "g3"), None, None)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"g": G}, r"has no array called `gradients`; it holds g\."),
        ({"gradients": G[0]}, r"must have shape \(m, n\), one gradient per row; got \(4,\)"),
        ({"gradients": G[:0]}, r"got \(0, 4\)"),
        ({"gradients": G.astype(str)}, "must hold real numbers; got dtype <U"),
        ({"gradients": np.array([[None, 1]])}, "cannot be read as an .npz file"),
        ({"gradients": G, "names": ["a"]}, r"`names` in .* must have shape \(3,\), one per gradient; got \(1,\)"),
        ({"gradients": G, "losses": [1.0]}, "`losses` in .* must be 3 real numbers"),
        ({"gradients": G, "losses": ["a", "b", "c"]}, "`losses` in .* must be 3 real numbers"),
        ({"gradients": G, "step": [1, 2]}, "`step` in .* must be one integer"),
    ],
)
def test_wrong_contents(tmp_path: Path, arrays: dict[str, Any], sentence: str) -> None:
    with pytest.raises(incenter.IncenterError, match=sentence):
        read(write(tmp_path, **arrays))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(incenter.IncenterError, match=r"There is no file .*none\.npz"):
        read(tmp_path / "none.npz")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(incenter.IncenterError, match="is not a file"):
        read(tmp_path)


@pytest.mark.parametrize("size", [0, 10, 200, -1])
def test_a_file_cut_short(tmp_path: Path, size: int) -> None:
    path = write(tmp_path, gradients=G)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(incenter.IncenterError, match=r"\.npz file"):
        read(path)


def test_a_flipped_bit(tmp_path: Path) -> None:
    path = write(tmp_path, gradients=G)
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)
    with pytest.raises(incenter.IncenterError, match="cannot be read"):
        read(path)
