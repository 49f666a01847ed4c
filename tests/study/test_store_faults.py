"""What goes wrong with a store's file is one sentence, no wrong row is ever returned, and nothing finished is lost."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from incenter import IncenterError
from incenter.study import run_file, schema
from incenter.study.database_faults import DamagedStore
from incenter.study.exchange import export, take_in
from incenter.study.rows import Outcome, Row, Status
from incenter.study.store import Store
from tests.study.runs import outcome, planned


def made(path: Path, count: int, records: int = 5) -> Path:
    """A store with so many finished runs, closed."""
    with Store(path) as store:
        store.add("a", planned(count))
        for each in planned(count):
            store.enter(each, outcome(each.configuration["seed"], records))
    assert not Path(f"{path}-wal").exists()
    return path


def changed(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def assert_true(row: Row, *, saved: bool = False) -> None:
    """The row says what the run of its seed ended in; one that came through a folder may have lost its arrays."""
    expected, configuration = outcome(row.seed), planned(row.seed + 1)[row.seed].configuration
    assert row.configuration == configuration
    assert (row.summary, row.parameters, row.versions) == (
        expected.summary, expected.parameters_hash, expected.versions,
    )  # fmt: skip
    assert (row.machine, row.commit, row.started, row.ended) == (
        expected.machine, expected.commit, expected.started, expected.ended,
    )  # fmt: skip
    history = run_file.thinned(expected.history) if saved else expected.history
    for arrays, whole in ((row.history, history), (row.fields, expected.fields)):
        try:
            found = arrays()
        except IncenterError:  # damaged, and said so
            continue
        if saved and not found:
            continue
        assert {name: array.tobytes() for name, array in found.items()} == {
            name: array.tobytes() for name, array in whole.items()
        }


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE results SET summary = replace(summary, '1', '2')", "its result does not have its hash"),
        ("UPDATE results SET parameters = 'a' || parameters", "its result does not have its hash"),
        ("UPDATE results SET ended = ended + 1", "its result does not have its hash"),
        ("DELETE FROM results", "its result is not there"),
        ("UPDATE runs SET configuration = replace(configuration, '0.001', '0.002')", "its configuration does not"),
        ("UPDATE runs SET status = 'dome'", "its status is 'dome'"),
    ],
)
def test_a_damaged_row_is_named_left_out_and_run_again(tmp_path: Path, statement: str, fault: str) -> None:
    first, second = planned(2)
    table = statement.split()[1] if statement.startswith("UPDATE") else "results"
    path = made(tmp_path / "study.sqlite", 2)
    changed(path, f"{statement} WHERE {table}.key = '{first.key}'")
    with Store(path) as store:
        assert [row.seed for row in store.rows("a")] == [1]
        assert f"Run {first.key} in {path} is damaged and left out: {fault}" in store.damaged[first.key]
        with pytest.raises(IncenterError, match=fault):
            store.row(first.key)
        added = store.add("a", planned(2))
        assert added.finished == (second.key,)
        assert f"Run {first.key} was damaged ({fault}" in added.damaged[0]
        claim = store.claim("a", "w")
        assert claim is not None
        assert claim.configuration == first.configuration
        assert store.finish(first.key, "w", outcome(0))
        for row in store.rows("a", "done"):
            assert_true(row)


@pytest.mark.parametrize("what", ["history", "fields"])
def test_damaged_arrays_are_named_and_repaired_by_running_again(tmp_path: Path, what: str) -> None:
    path = made(tmp_path / "study.sqlite", 2)
    key = planned(1)[0].key
    changed(path, f"UPDATE arrays SET data = zeroblob(length(data)) WHERE key = '{key}' AND what = '{what}'")
    with Store(path) as store:
        with pytest.raises(IncenterError, match=f"its {what} do not have their hash"):
            getattr(store.row(key), what)()
        exported = export(store, tmp_path / "folder", fields="all")
        assert (exported.written, len(exported.problems)) == (2, 1)
        assert [key in sentence for sentence in store.repair()] == [True]
        assert store.status("a") == Status(waiting=1, done=1)
        assert store.repair() == []


def test_a_claim_never_hands_out_a_damaged_configuration(tmp_path: Path) -> None:
    with Store(tmp_path / "study.sqlite") as store:
        store.add("a", planned(2))
        changed(store.path, "UPDATE runs SET configuration = replace(configuration, '10', '11') WHERE rowid = 1")
        claim = store.claim("a", "w")
        assert claim is not None
        assert claim.configuration["seed"] == 1
        assert store.claim_key(planned(1)[0].key, "w") is None
        assert store.status("a") == Status(running=1, failed=1)
        store.add("a", planned(2))
        assert store.status("a") == Status(running=1, waiting=1)


def flips(path: Path, count: int, seed: int) -> int:
    """Flip single bits anywhere in a store of six runs: how many runs could not be saved from it, in all."""
    whole = path.read_bytes()
    draw = np.random.default_rng(seed)
    lost = 0
    for _ in range(count):
        data = bytearray(whole)
        data[draw.integers(0, len(data))] ^= 1 << int(draw.integers(0, 8))
        path.write_bytes(data)
        folder = path.parent / "folder"
        try:
            with Store(path) as store:
                try:
                    for row in store.rows("a", "done"):
                        assert_true(row)
                except DamagedStore:
                    pass
                export(store, folder, fields="all")
            with Store(path.parent / "new.sqlite") as store:
                found = take_in(store, folder)
                assert found.problems == ()
                for row in store.rows(status="done"):
                    assert_true(row, saved=True)
                lost += 6 - found.new
        except IncenterError:  # the header, or the list of the tables
            lost += 6
        shutil.rmtree(folder, ignore_errors=True)
        (path.parent / "new.sqlite").unlink(missing_ok=True)
    return lost


def test_no_flipped_bit_makes_a_wrong_row(tmp_path: Path) -> None:
    flips(made(tmp_path / "study.sqlite", 6), 8, seed=0)


@pytest.mark.slow
def test_no_flipped_bit_makes_a_wrong_row_at_length(tmp_path: Path) -> None:
    lost = flips(made(tmp_path / "study.sqlite", 6), 250, seed=1)
    assert lost <= 0.03 * 6 * 250  # those with a bit in their own row, and all with one in the list of the tables


def test_a_file_cut_short_is_told_and_gives_what_it_has(tmp_path: Path) -> None:
    path = made(tmp_path / "study.sqlite", 6)
    whole = path.read_bytes()
    for size in (1, 100, 5_000, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        try:
            with Store(path) as store:
                for row in store.rows("a", "done"):
                    assert_true(row)
                export(store, tmp_path / "folder")
        except IncenterError:
            continue


def test_a_store_of_the_future_is_not_touched(tmp_path: Path) -> None:
    path = made(tmp_path / "study.sqlite", 1)
    changed(path, f"PRAGMA user_version = {schema.VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(IncenterError, match=r"newer incenter \(its version is 2, this one reads 1\): pip install"):
        Store(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_store_is_not_touched(tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("nothing of the kind " * 100)
    changed(other, "CREATE TABLE birds (name TEXT)")
    before = other.read_bytes()
    with pytest.raises(IncenterError, match="is not a store of runs: name another file"):
        Store(text)
    with pytest.raises(IncenterError, match="is a database of another program"):
        Store(other)
    assert (text.read_text()[:7], other.read_bytes()) == ("nothing", before)
    with pytest.raises(IncenterError, match=f"there is no folder {tmp_path / 'nowhere'}: make it first"):
        Store(tmp_path / "nowhere" / "study.sqlite")
    with pytest.raises(IncenterError, match="cannot be written to: name a file"):
        Store(tmp_path)


def run_program(program: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    heading = "import os, resource, signal, sys\nfrom incenter import IncenterError\n"
    heading += "from incenter.study.store import Store\nfrom tests.study.runs import outcome, planned\n"
    return subprocess.run(
        [sys.executable, "-c", heading + program, *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


def test_a_full_disk_is_one_sentence_and_costs_one_run(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    ended = run_program(
        """
store = Store(sys.argv[1])
store.add("a", planned(60))
resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))
try:
    while claim := store.claim("a", "w"):
        assert store.finish(claim.key, "w", outcome(claim.configuration["seed"]))
        print(claim.configuration["seed"], flush=True)
except IncenterError as error:
    print(error)
""",
        path,
    )
    *finished, sentence = ended.stdout.splitlines()
    assert sentence.startswith(f"{path} cannot be written (")
    assert sentence.endswith("make room on its disk; what was finished is kept.")
    assert ended.stderr == ""
    assert len(finished) > 3
    with Store(path) as store:  # there is room again
        rows = store.rows("a", "done")
        assert [row.seed for row in rows] == [int(seed) for seed in finished]
        for row in rows:
            assert_true(row)
        store.release("a", dead_workers=["w"])
        claim = store.claim("a", "v")
        assert claim is not None
        assert store.finish(claim.key, "v", outcome(claim.configuration["seed"]))


def test_a_folder_that_may_only_be_read_can_be_read() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        path = made(folder / "study.sqlite", 2)
        with Store(path) as store:
            store.add("a", planned(3))
            store.claim("a", "w")
            store.fail(planned(3)[2].key, "w", "no")
        path.chmod(0o444)
        folder.chmod(0o555)
        ended = run_program(
            """
row = Store(sys.argv[1]).rows()[0]
row.fields()  # what this imports may be out of reach of the next user
if os.getuid() == 0:
    os.setuid(65534)
store = Store(sys.argv[1])
print(store.status("a").done, [row.fields()["u"].shape for row in store.rows("a", "done")])
acts = lambda: store.add("a", planned(3)), lambda: store.retry("a"), lambda: Store(sys.argv[1] + "2")
for act in acts:
    try:
        act()
    except IncenterError as error:
        print(error)
""",
            path,
        )
        sentence = "cannot be written to: name a file in a folder that you may write to, with --store."
        assert ended.stderr == ""
        assert ended.stdout.splitlines() == [
            "2 [(64, 64), (64, 64)]", f"{path} {sentence}", f"{path} {sentence}", f"{path}2 {sentence}",
        ]  # fmt: skip
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_deleted_wal_takes_nothing_finished_with_it(tmp_path: Path) -> None:
    path = tmp_path / "study.sqlite"
    ended = run_program(
        """
store = Store(sys.argv[1])
store.add("a", planned(6))
for seed in range(5):
    claim = store.claim("a", "w")
    assert store.finish(claim.key, "w", outcome(seed))
store.settled()
os.kill(os.getpid(), signal.SIGKILL)
""",
        path,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    Path(f"{path}-wal").unlink()
    with Store(path) as store:
        rows = store.rows("a", "done")
        assert len(rows) == 5
        for row in rows:
            assert_true(row)


def test_a_wal_deleted_under_an_open_store_takes_nothing_with_it(tmp_path: Path) -> None:
    with Store(tmp_path / "study.sqlite") as store:
        store.add("a", planned(4))
        for seed in range(4):
            claim = store.claim("a", "w")
            assert claim is not None
            assert store.finish(claim.key, "w", outcome(seed))
            Path(f"{store.path}-wal").unlink()
        assert store.status("a") == Status(done=4)
    with Store(tmp_path / "study.sqlite") as store:
        rows = store.rows("a", "done")
        assert len(rows) == 4
        for row in rows:
            assert_true(row)


def test_a_network_file_system_is_known_and_gets_a_rollback_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mounts"
    table.write_text(f"/dev/vda / ext4 rw 0 0\nserver:/home {tmp_path}/my\\040home nfs4 rw 0 0\n")
    (tmp_path / "my home" / "deep").mkdir(parents=True)
    assert schema.on_network(tmp_path / "my home" / "deep" / "study.sqlite", table)
    assert not schema.on_network(tmp_path / "study.sqlite", table)
    assert not schema.on_network(tmp_path / "study.sqlite", tmp_path / "none")
    path = made(tmp_path / "study.sqlite", 1)
    monkeypatch.setattr(schema, "on_network", lambda _: True)  # the same file, moved there
    with Store(path) as store, Store(path) as other:
        store.add("a", planned(2))
        claim = other.claim("a", "w")
        assert claim is not None
        assert not Path(f"{path}-wal").exists()
        assert other.finish(claim.key, "w", outcome(1))
        assert store.status("a") == Status(done=2)


def test_a_store_that_stays_locked_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incenter.study.database.PATIENCE", 0.05)
    path = made(tmp_path / "study.sqlite", 1)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with Store(path) as store:
        assert store.status("a") == Status(done=1)  # readers do not wait
        with pytest.raises(IncenterError, match="has been in use by another process for 60 seconds"):
            store.claim("a", "w")
    holder.close()


def test_an_interrupted_transaction_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path / "study.sqlite") as store:
        store.add("a", planned(1))
        claim = store.claim("a", "w")
        assert claim is not None
        with monkeypatch.context() as patch:
            patch.setattr("incenter.study.statements.insert_result", lambda *_: os.kill(os.getpid(), signal.SIGINT))
            with pytest.raises(KeyboardInterrupt):
                store.finish(claim.key, "w", Outcome({}))
        assert store.status("a") == Status(running=1)
        assert store.finish(claim.key, "w", outcome())
