"""Names of workers: never the same twice, and a dead one is told from one that cannot be known."""

import os
import subprocess
import sys

from incenter.study.identity import is_dead, is_elsewhere, new_worker, this_machine


def changed(worker: str, place: int, text: str) -> str:
    parts = worker.split(":")
    parts[place] = text
    return ":".join(parts)


def test_no_two_names_are_the_same() -> None:
    assert len({new_worker() for _ in range(100)}) == 100


def test_this_process_lives_and_is_here() -> None:
    worker = new_worker()
    assert worker.startswith(f"{this_machine()}:{os.getpid()}:")
    assert not is_dead(worker)
    assert not is_elsewhere(worker)


def test_a_process_with_the_number_of_a_dead_one_is_not_that_one() -> None:
    assert is_dead(changed(new_worker(), 2, "1"))


def test_a_process_that_ended_is_dead_before_its_parent_fetches_it() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "from incenter.study.identity import new_worker; print(new_worker())"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    worker = child.stdout.read().strip()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(worker)
    child.communicate()
    assert is_dead(worker)


def test_of_other_machines_and_other_names_nothing_is_known() -> None:
    elsewhere = changed(new_worker(), 0, "node8-000000")
    assert is_elsewhere(elsewhere)
    assert not is_dead(changed(elsewhere, 1, "999999999"))
    for name in ("w", "a:b:c:d", f"{this_machine()}:x:1:2"):
        assert not is_dead(name)
    assert not is_elsewhere("w")
