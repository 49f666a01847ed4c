"""The store as a record: what goes in comes out, once, and belongs to whoever holds the run."""

import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from incenter import IncenterError
from incenter.study import database
from incenter.study.identity import new_worker
from incenter.study.rows import Outcome, Planned, Status
from incenter.study.store import Store
from tests.study.runs import outcome, planned
from tests.study.waiting import LIMIT


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "study.sqlite") as store:
        yield store


def finished(store: Store, each: Planned) -> None:
    assert store.enter(each, outcome(each.configuration["seed"]))


def test_a_result_comes_back_bit_for_bit(store: Store) -> None:
    (each,) = planned(1, problem_options={"operator": "divergence"})
    store.add("a", [each])
    store.claim_key(each.key, "w")
    given = outcome()
    assert store.finish(each.key, "w", given)
    (row,) = store.rows("a", "done")
    assert row.configuration == each.configuration
    assert row.options == {"problem.operator": "divergence"}
    assert (row.summary, row.parameters, row.versions) == (given.summary, given.parameters_hash, given.versions)
    assert (row.machine, row.commit, row.started, row.ended) == ("x86_64", "0123abcd", given.started, given.ended)
    assert (row.relative_l2, row.step, row.attempts, row.study) == (given.summary["relative_l2"], 10, 1, "a")
    for arrays, expected in ((row.history(), given.history), (row.fields(), given.fields)):
        assert list(arrays) == list(expected)
        for name, array in expected.items():
            assert arrays[name].dtype == array.dtype
            assert arrays[name].tobytes() == array.tobytes()


def test_adding_again_changes_nothing(store: Store) -> None:
    runs = planned(4)
    keys = tuple(run.key for run in runs)
    first = store.add("a", runs)
    assert (first.new, first.known, first.others, first.damaged) == (keys, (), (), ())
    store.claim("a", "w")
    finished(store, runs[1])
    again = store.add("a", runs)
    assert (again.new, again.known, again.finished) == ((), keys, keys[1:2])
    assert store.status("a") == Status(waiting=2, running=1, done=1)


def test_a_changed_plan_keeps_what_ran(store: Store) -> None:
    old, new = planned(3), planned(4)[1:]
    store.add("a", old)
    finished(store, old[0])
    finished(store, old[1])
    added = store.add("a", new)
    assert (added.new, added.finished, added.others) == ((new[2].key,), (old[1].key,), (old[0].key,))
    assert [row.seed for row in store.rows("a")] == [1, 2, 3, 0]
    store.leave("a", added.others)
    assert [row.seed for row in store.rows("a")] == [1, 2, 3]
    assert [row.seed for row in store.rows(status="done")] == [0, 1]


def test_two_studies_share_the_runs_they_have_in_common(store: Store) -> None:
    store.add("a", planned(2))
    finished(store, planned(2)[1])
    assert store.add("b", planned(3)).finished == (planned(2)[1].key,)
    assert store.studies() == {study: tuple(run.key for run in planned(n)) for study, n in (("a", 2), ("b", 3))}
    assert store.status() == store.status("b") == Status(waiting=2, done=1)
    assert store.rows("a")[1].parameters == store.rows("b")[1].parameters is not None


def test_runs_are_claimed_in_order_and_once(store: Store) -> None:
    store.add("a", planned(3))
    claims = [store.claim("a", f"w{number}") for number in range(4)]
    assert [claim and claim.configuration["seed"] for claim in claims] == [0, 1, 2, None]
    assert store.claim_key(planned(3)[0].key, "w4") is None
    assert store.claim_key("unknown", "w4") is None
    assert claims[0] is not None
    assert (claims[0].timeout_seconds, claims[0].attempt) == (60.0, 1)


def test_a_second_result_is_refused(store: Store) -> None:
    (each,) = planned(1)
    store.add("a", [each])
    store.claim("a", "w")
    assert store.finish(each.key, "w", outcome(1))
    assert not store.finish(each.key, "w", outcome(2))
    assert not store.enter(each, outcome(3))
    assert not store.fail(each.key, "w", "too late")
    assert store.row(each.key).parameters == outcome(1).parameters_hash


def test_a_run_given_to_another_worker_is_not_the_first_ones_any_more(store: Store) -> None:
    (each,) = planned(1)
    store.add("a", [each])
    store.claim("a", "slow")
    assert store.release("a", dead_workers=["slow"]) == [each.key]
    assert not store.beat(each.key, "slow", 5)
    store.claim("a", "quick")
    assert not store.finish(each.key, "slow", outcome(1))
    assert not store.fail(each.key, "slow", "")
    assert not store.give_back(each.key, "slow")
    assert store.finish(each.key, "quick", outcome(2))
    assert store.row(each.key).parameters == outcome(2).parameters_hash


def test_the_token_fences_off_an_earlier_claim_of_the_same_worker(store: Store) -> None:
    (each,) = planned(1)
    store.add("a", [each])
    store.claim("a", "w")
    with Store(store.path) as other:  # as if two workers had the same name
        other.release("a", dead_workers=["w"])
        second = other.claim("a", "w")
        assert second is not None
        assert second.attempt == 2
        assert not store.beat(each.key, "w", 3)
        assert not store.finish(each.key, "w", outcome(1))
        assert other.finish(each.key, "w", outcome(2))


def test_a_result_is_welcome_while_nobody_else_has_begun(store: Store) -> None:
    (each,) = planned(1)
    store.add("a", [each])
    store.claim("a", "slow")
    store.release("a", dead_workers=["slow"])
    assert store.finish(each.key, "slow", outcome())
    assert store.status("a") == Status(done=1)


def test_a_heartbeat_shows_how_far_a_run_is(store: Store) -> None:
    store.add("a", planned(2))
    claim = store.claim("a", "w")
    assert claim is not None
    assert store.beat(claim.key, "w", 7, [0.5, float("nan")], 0.25)
    (row,) = store.rows("a", "running")
    assert (row.step, row.losses[0], row.latest_l2, row.worker, row.relative_l2) == (7, 0.5, 0.25, "w", None)
    assert np.isnan(np.asarray(row.losses[1], dtype=float))
    assert row.history() == {}
    assert not store.beat(claim.key, "another", 8)


def test_only_silent_workers_lose_their_runs(store: Store) -> None:
    store.add("a", planned(2))
    store.claim("a", "silent")
    store.claim("a", "busy")
    assert store.release("a", older_than=60) == []
    assert store.release("b", older_than=0) == []
    assert len(store.release("a", older_than=0)) == 2


def test_a_clock_that_is_wrong_elsewhere_takes_no_run_away(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add("a", planned(1))
    here, watched = new_worker(), [100.0]
    claim = store.claim("a", "another-boot:" + here.partition(":")[2])
    assert claim is not None
    monkeypatch.setattr("time.time", lambda: 5e9)  # years after the heartbeat
    monkeypatch.setattr("time.monotonic", lambda: watched[0])
    assert store.release("a", older_than=60) == []  # seen for the first time
    watched[0] += 59
    assert store.release("a", older_than=60) == []
    assert store.beat(claim.key, claim.worker, 1)
    watched[0] += 59
    assert store.release("a", older_than=60) == []
    watched[0] += 61
    assert store.release("a", older_than=60) == [claim.key]


def test_the_run_of_a_dead_process_waits_again_at_once(store: Store) -> None:
    store.add("a", planned(2))
    ended = subprocess.run(
        [sys.executable, "-c", "from incenter.study.identity import new_worker; print(new_worker())"],
        capture_output=True, text=True, check=True, timeout=LIMIT,
    )  # fmt: skip
    store.claim("a", ended.stdout.strip())
    store.claim("a", new_worker())
    assert store.release("a") == [planned(1)[0].key]


def test_a_failed_run_keeps_its_traceback_until_it_is_done(store: Store) -> None:
    (each,) = planned(1)
    store.add("a", [each])
    store.claim("a", "w")
    assert store.fail(each.key, "w", "Traceback: first")
    assert store.claim("a", "w") is None
    (row,) = store.rows("a", "failed")
    assert (row.error, row.attempts) == ("Traceback: first", 1)
    assert store.retry("a", keys=[]) == []
    assert store.retry("a") == [each.key]
    store.claim("a", "w")
    assert store.row(each.key).error == "Traceback: first"
    assert store.finish(each.key, "w", outcome())
    row = store.row(each.key)
    assert (row.error, row.attempts, row.status) == (None, 2, "done")


def test_a_run_given_back_waits_again(store: Store) -> None:
    store.add("a", planned(1))
    claim = store.claim("a", "w")
    assert claim is not None
    assert store.give_back(claim.key, "w")
    again = store.claim("a", "w")
    assert again is not None
    assert again.attempt == 2


def test_rows_load_their_arrays_after_the_store_was_closed_and_elsewhere(store: Store) -> None:
    (each,) = planned(1)
    finished(store, each)
    (row,) = store.rows()
    store.close()
    assert row.fields()["u"].shape == (64, 64)
    assert pickle.loads(pickle.dumps(row)).history()["step"].tolist() == [2, 4, 6, 8, 10]


def test_a_store_stays_where_it_is_when_the_working_directory_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store("study.sqlite") as store:
        store.add("a", planned(1))
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        store.close()
        with pickle.loads(pickle.dumps(store)) as copy:
            assert store.status("a") == copy.status("a") == Status(waiting=1)


def test_a_forked_child_uses_a_connection_of_its_own(store: Store) -> None:
    store.add("a", planned(2))
    program = f"""
import os
from incenter.study.store import Store
from tests.study.runs import outcome
store = Store({str(store.path)!r})
mine = store.claim("a", "parent")
if os.fork() == 0:
    claim = store.claim("a", "child")
    os._exit(0 if store.finish(claim.key, "child", outcome(1)) else 1)
assert os.wait()[1] == 0
assert store.finish(mine.key, "parent", outcome(0))
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=LIMIT)
    assert store.status("a") == Status(done=2)


def test_a_closed_store_leaves_no_thread_that_a_fork_could_meet(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that is forked while a thread is inside SQLite waits for ever for a lock which that thread held."""
    move, begun, ended = database._move_what_can_be_moved, [0], [0]

    def slow_at_first(path: Path) -> None:
        begun[0] += 1
        time.sleep(0.5 if begun[0] == 1 else 0.0)
        move(path)
        ended[0] += 1

    monkeypatch.setattr(database, "_move_what_can_be_moved", slow_at_first)
    store.add("a", planned(5))
    while (claim := store.claim("a", "w")) is not None:
        assert store.finish(claim.key, "w", outcome(0))
    store.close()
    assert begun == ended != [0]


def test_what_is_no_plain_array_is_refused_before_anything_is_written(store: Store) -> None:
    store.add("a", planned(1))
    claim = store.claim("a", "w")
    assert claim is not None
    with pytest.raises(IncenterError, match="numbers and text; got dtype object for 'step'"):
        store.finish(claim.key, "w", Outcome({}, {"step": np.array([None])}))
    assert store.status("a") == Status(running=1)


def test_mistakes_are_told(store: Store, tmp_path: Path) -> None:
    with pytest.raises(IncenterError, match="must be one of waiting, running, done, failed; got 'finished'"):
        store.rows(status="finished")  # type: ignore[arg-type]
    with pytest.raises(IncenterError, match="There is no run 00 in"):
        store.row("00")
    with pytest.raises(IncenterError, match=r"There is no store .*none\.sqlite: name it with --store"):
        Store(tmp_path / "none.sqlite", create=False)
    assert not (tmp_path / "none.sqlite").exists()


def test_reading_a_store_needs_no_jax() -> None:
    program = (
        "import sys, incenter.study.store, incenter.study.exchange, incenter.study.spreadsheet\n"
        "print([name for name in ('jax', 'torch', 'optax', 'equinox', 'incenter.pinn') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=LIMIT)
    assert ended.stdout.strip() == "[]"
