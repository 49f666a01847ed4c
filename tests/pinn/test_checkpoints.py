"""A checkpoint is whole or known not to be, and a process that dies while saving leaves what was there."""

import ast
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incenter
from incenter.pinn import checkpoints
from incenter.pinn.checkpoints import DamagedError, decode, encode, exists, newest, read, require_same, write

MANIFEST = {"configuration": {"problem": "burgers", "p": float("inf")}, "history": [1, None, "é"]}


def four_kilobytes() -> bytes:
    """A checkpoint of exactly 4,096 bytes."""
    data = encode(7, {"theta": np.zeros(0, np.uint8), "m": np.arange(32.0)}, MANIFEST)
    for size in range(4096 - len(data) - 8, 4096 - len(data) + 1):
        data = encode(7, {"theta": np.resize(np.arange(251, dtype=np.uint8), size), "m": np.arange(32.0)}, MANIFEST)
        if len(data) == 4096:
            return data
    raise AssertionError(len(data))


def undetected(candidates: Iterator[bytes]) -> int:
    """How many of these damaged files are read as if they were whole."""
    passed = 0
    for data in candidates:
        try:
            decode(data)
        except DamagedError:
            continue
        passed += 1
    return passed


def test_every_flipped_bit_is_detected() -> None:
    data = bytearray(four_kilobytes())

    def flipped() -> Iterator[bytes]:
        for byte in range(len(data)):
            for bit in range(8):
                data[byte] ^= 1 << bit
                yield bytes(data)
                data[byte] ^= 1 << bit

    decode(bytes(data))
    assert undetected(flipped()) == 0
    decode(bytes(data))


def test_every_truncation_is_detected_and_so_are_bytes_lost_in_front() -> None:
    data = four_kilobytes()
    assert undetected(data[:length] for length in range(len(data))) == 0
    assert undetected(data[start:] for start in range(1, len(data) + 1)) == 0


def test_appended_and_exchanged_bytes_are_detected() -> None:
    data = four_kilobytes()
    source = random.Random(0)
    assert undetected(data + source.randbytes(1 + extra % 70) for extra in range(500)) == 0
    assert undetected(iter([data + data, data + data[-32:], data + bytes(512)])) == 0
    blank = (data[:start] + bytes(64) + data[start + 64 :] for start in range(0, 4096, 64))
    assert undetected(each for each in blank if each != data) == 0


def sealed(content: bytes) -> bytes:
    """What somebody who knows the format could write: the last hash is right."""
    return content + hashlib.sha256(content).digest()


def test_a_header_that_lies_is_refused_though_its_hash_is_right() -> None:
    def with_header(header: Any, body: bytes = b"") -> bytes:
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return sealed(b"incenter checkpoint 1\n" + len(text).to_bytes(8, "little") + text + body)

    def with_array(**changes: Any) -> bytes:
        body = bytes(16)
        entry = {"name": "a", "dtype": "<f8", "shape": [2], "length": 16, "sha256": hashlib.sha256(body).hexdigest()}
        return with_header({"step": 1, "manifest": {}, "arrays": [entry | changes]}, body)

    assert decode(with_array()).arrays["a"].tolist() == [0, 0]
    wrong = [
        with_array(shape=[2**63]), with_array(shape=[-2]), with_array(shape=[2**70, 2**70]), with_array(dtype="|O"),
        with_array(dtype="O"), with_array(dtype="nonsense"), with_array(dtype="<f8,<f8"), with_array(length=8),
        with_array(length=-1), with_array(shape="2"), with_array(sha256="0" * 64), with_array(shape=[3]),
        with_header({"step": 1, "manifest": {}, "arrays": []}, b"left over"), with_header({"step": 1}),
        with_header([1, 2]), with_header(b"{"), with_header(b"\xff\xfe"), with_header(b"[" * 100_000),
        sealed(b""), sealed(b"incenter checkpoint 1\n"), sealed(b"incenter checkpoint x\n"), sealed(b"PK\x03\x04"),
        sealed(b"incenter checkpoint 1\n" + b"\xff" * 8),
    ]  # fmt: skip
    assert undetected(iter(wrong)) == 0


def test_nothing_that_reads_a_checkpoint_imports_pickle() -> None:
    tree = ast.parse(Path(checkpoints.__file__).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported.isdisjoint({"pickle", "marshal", "shelve", "dill"})
    assert not any(isinstance(node, ast.Attribute) and node.attr in ("load", "save") for node in ast.walk(tree))


ARRAYS = {
    "float64": np.array([np.nan, -np.nan, np.inf, -0.0, 5e-324, 0.1]),
    "payload": np.array([0x7FF8000000000123, 0xFFF0000000000001], np.uint64).view(np.float64),
    "float32": np.array([1e-45, 3.4e38], np.float32).reshape(2, 1),
    "float16": np.array([1.5], np.float16),
    "uint32": np.array([[0, 2**32 - 1]], np.uint32),
    "int64": np.array(-(2**63)),
    "bool": np.array([[True], [False]]),
    "complex": np.array([1 + 2j]),
    "empty": np.zeros((0, 3), np.float32),
    "nothing": np.zeros((2, 0, 3)),
    "scalar": np.array(0.1, np.float32),
    "python": 3,
    "big endian": np.arange(3, dtype=">i4"),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "strided": np.arange(10)[::-3],
    "text": np.array(["u", "übermäßig"]),
}


def assert_same(saved: dict[str, Any], found: dict[str, Any]) -> None:
    assert list(saved) == list(found)
    for name, value in saved.items():
        array = np.asarray(value)
        assert (found[name].dtype.str, found[name].shape) == (array.dtype.str, array.shape), name
        assert found[name].tobytes() == array.tobytes(), name


def test_arrays_come_back_in_every_bit(tmp_path: Path) -> None:
    write(tmp_path, 12, ARRAYS, MANIFEST)
    found = newest(tmp_path)
    assert_same(ARRAYS, found.arrays)
    assert (found.step, found.manifest, found.note) == (12, MANIFEST, "")
    for array in found.arrays.values():
        assert array.flags.writeable
        assert array.flags.owndata


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=5),
        st.tuples(st.sampled_from(["<f4", ">f8", "?", "<u4", "<i8"]), st.lists(st.integers(0, 3), max_size=3)),
        max_size=4,
    ),
    st.integers(0, 2**40),
)
def test_whatever_is_encoded_is_decoded(kinds: dict[str, tuple[str, list[int]]], seed: int) -> None:
    source = np.random.default_rng(seed)
    arrays = {
        name: np.frombuffer(source.bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize), dtype).reshape(shape)
        for name, (dtype, shape) in kinds.items()
        if 0 not in shape
    }
    found = decode(encode(seed, arrays, {}))
    assert found.step == seed
    assert_same(arrays, found.arrays)


def test_the_same_state_is_the_same_bytes() -> None:
    assert encode(3, ARRAYS, MANIFEST) == encode(3, ARRAYS, MANIFEST)


def test_objects_are_refused_by_name() -> None:
    with pytest.raises(incenter.IncenterError, match=r"'rule' cannot be saved: its dtype is object"):
        encode(0, {"rule": np.array([object()])}, {})


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_the_last_two_stay(tmp_path: Path) -> None:
    for step in (0, 5, 10, 15):
        write(tmp_path, step, {"theta": np.full(3, step)}, {})
    assert names(tmp_path) == ["step-000000010.checkpoint", "step-000000015.checkpoint"]
    assert newest(tmp_path).arrays["theta"].tolist() == [15, 15, 15]


def test_a_damaged_newest_file_is_passed_over_with_a_sentence_and_then_replaced(tmp_path: Path) -> None:
    write(tmp_path, 10, {}, {})
    path = write(tmp_path, 20, {}, {})
    path.write_bytes(path.read_bytes()[:-1])
    found = newest(tmp_path)
    assert found.step == 10
    assert "step-000000020.checkpoint" in found.note
    assert "step 10 before it" in found.note
    with pytest.raises(DamagedError, match=r"step-000000020.checkpoint: this checkpoint is damaged"):
        read(path)
    write(tmp_path, 15, {}, {})
    assert names(tmp_path) == ["step-000000010.checkpoint", "step-000000015.checkpoint"]


def test_when_all_are_damaged_it_says_so(tmp_path: Path) -> None:
    for step in (1, 2):
        write(tmp_path, step, {}, {}).write_bytes(b"")
    (tmp_path / "step-000000001.checkpoint").write_bytes(b"x")
    assert exists(tmp_path)
    with pytest.raises(DamagedError, match=r"Every checkpoint in .* is damaged"):
        newest(tmp_path)


def test_an_empty_or_missing_folder_is_one_sentence(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        assert not exists(folder)
        with pytest.raises(incenter.IncenterError, match="There is no checkpoint in"):
            newest(folder)


def test_a_later_format_is_told_from_damage(tmp_path: Path) -> None:
    write(tmp_path, 1, {}, {})
    (tmp_path / "step-000000002.checkpoint").write_bytes(sealed(b"incenter checkpoint 2\nwhatever it will hold"))
    with pytest.raises(incenter.IncenterError, match="has format 2, and this version of incenter reads format 1"):
        newest(tmp_path)


def test_another_configuration_is_one_sentence_that_names_the_field() -> None:
    saved = {"problem": "burgers", "lr": 1e-3, "seed": 0, "options": [1, 2], "steps": 10}
    require_same(saved, saved | {"options": (1, 2), "steps": 20}, Path("run"), free=("steps",))
    with pytest.raises(incenter.IncenterError, match=r"The run in run has lr = 0.001, not 0.01: continue it"):
        require_same(saved, saved | {"lr": 1e-2}, Path("run"))
    with pytest.raises(incenter.IncenterError, match=r"has new = null, not 1"):
        require_same(saved, saved | {"new": 1}, Path("run"))


def test_what_a_killed_process_left_is_ignored_and_then_removed(tmp_path: Path) -> None:
    write(tmp_path, 1, {}, {})
    left = tmp_path / ".step-000000002.checkpoint.4711.tmp"
    left.write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine")
    assert newest(tmp_path).step == 1
    write(tmp_path, 3, {}, {})
    assert names(tmp_path) == ["notes.txt", "step-000000001.checkpoint", "step-000000003.checkpoint"]


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    write(tmp_path, 1, {"theta": np.ones(2)}, {})
    (tmp_path / "file").write_text("")
    with pytest.raises(incenter.IncenterError, match=r"The checkpoint of step 1,000 cannot be saved in .*/file"):
        write(tmp_path / "file", 1000, {}, {})
    assert newest(tmp_path).step == 1


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "open"])
def test_a_full_disk_leaves_the_older_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    write(tmp_path, 1, {"theta": np.ones(2)}, {})

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    place = {"write": (checkpoints, "_write_synced"), "fsync": (os, "fsync"), "replace": (Path, "replace")}
    monkeypatch.setattr(*place.get(call, (Path, "open")), full)
    with pytest.raises(incenter.IncenterError, match=r"step 2 cannot be saved in .*No space left on device\)"):
        write(tmp_path, 2, {"theta": np.ones(2)}, {})
    monkeypatch.undo()
    assert names(tmp_path) == ["step-000000001.checkpoint"]
    assert newest(tmp_path).step == 1


def test_a_file_size_limit_met_half_way_leaves_the_older_one(tmp_path: Path) -> None:
    """As a full disk does: the kernel stops the writing in the middle."""
    script = f"""
import resource, signal
from pathlib import Path
import numpy as np, incenter
from incenter.pinn.checkpoints import newest, write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path({str(tmp_path)!r})
write(folder, 1, {{"theta": np.ones(10)}}, {{}})
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))
try:
    write(folder, 2, {{"theta": np.ones(100_000)}}, {{}})
except incenter.IncenterError as error:
    assert "File too large" in str(error), error
else:
    raise SystemExit("was written")
assert newest(folder).step == 1
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == ["step-000000001.checkpoint"]


SAVES_FOREVER = """
import sys
from pathlib import Path
import numpy as np
from incenter.pinn.checkpoints import write
step = int(sys.argv[2])
while True:
    step += 1
    write(Path(sys.argv[1]), step, {"theta": np.full(20_000, step)}, {"step": step})
    print(step, flush=True)
"""


def test_killed_while_saving_the_folder_can_be_read(tmp_path: Path) -> None:
    """Twelve processes that do nothing but save, killed at random: what was reported as saved is there, and whole."""
    source = random.Random(1)
    reached = 0
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVES_FOREVER, str(tmp_path), str(reached)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(source.uniform(0, 0.03))
        process.send_signal(signal.SIGKILL)
        reported = [int(line) for line in process.stdout.read().split("\n")[:-1]]
        process.stdout.close()
        process.wait()
        found = newest(tmp_path)
        assert found.note == ""
        assert found.step >= max([reached + 1, *reported])
        assert (found.arrays["theta"] == found.step).all()
        assert found.manifest == {"step": found.step}
        reached = found.step
    assert len([name for name in names(tmp_path) if name.endswith(".checkpoint")]) <= 3
