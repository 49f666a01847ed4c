"""What watches over a run: between two steps it says whether the run may go on."""

import time
from pathlib import Path

import pytest

from incenter.study import watchdog
from incenter.study.rows import Claim
from incenter.study.store import Store
from incenter.study.watchdog import Lost, Overdue, Watchdog
from tests.study import pretend


def claimed(store: Store, limit: float | None) -> Claim:
    (planned,) = pretend.planned([0])
    store.add("s", [type(planned)(planned.key, planned.configuration, limit)])
    claim = store.claim("s", "w")
    assert claim is not None
    return claim


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "BEAT", 0.05)


def test_a_run_past_its_limit_is_stopped_at_its_next_step(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store, Watchdog(store, claimed(store, 0.2), tmp_path / "run") as watching:
        watching.seen(1, (), None)
        time.sleep(0.3)
        with pytest.raises(Overdue, match=r"at step 2 because it ran longer than its limit of 0\.2 seconds"):
            watching.seen(2, (), None)


def test_a_run_without_a_limit_goes_on_and_says_how_far_it_is(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store, Watchdog(store, claimed(store, None), tmp_path / "run") as watching:
        watching.seen(7, (0.5,), 0.25)
        time.sleep(0.3)
        watching.seen(8, (0.5,), 0.25)
        (row,) = store.rows("s")
        assert (row.step, row.losses, row.latest_l2) == (7, (0.5,), 0.25)


def test_a_run_that_another_worker_has_now_is_given_up(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store, Watchdog(store, claimed(store, None), tmp_path / "run") as watching:
        store.release(dead_workers=["w"])
        time.sleep(0.3)
        with pytest.raises(Lost):
            watching.seen(1, (), None)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store, Watchdog(store, claimed(store, 9.0), tmp_path / "run"):
        assert (tmp_path / "run" / watchdog.CRASH_FILE).is_file()
    assert not list((tmp_path / "run").iterdir())
