"""Death and a full disk at every instant: whatever was committed is there and whole, and the rest can be done again."""

import subprocess
import sys
from pathlib import Path

from tests.study.waiting import LIMIT

# A child process goes through the life of two runs; it is cut off at a different place each time, until it is not.
PROGRAM = """
import faulthandler, os, resource, signal, sys, threading, time
from pathlib import Path
from incenter import IncenterError
from incenter.study import database
from incenter.study.store import Store
from tests.study.runs import outcome, planned

folder, way, limit = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
faulthandler.register(signal.SIGALRM, chain=True)
signal.alarm(int(2 * limit))
connect = database._connect


def live(path):
    with Store(path) as store:
        store.add("a", planned(2))
        while claim := store.claim("a", "w"):
            store.beat(claim.key, "w", 1, [0.5])
            store.finish(claim.key, "w", outcome(claim.configuration["seed"]))
            print("finished", claim.configuration["seed"], file=ledger, flush=True)


def dies_at(number):
    left = [number]

    def traced(path, mode):
        connection = connect(path, mode)
        connection.set_trace_callback(count)
        return connection

    def count(statement):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    database._connect = traced


def full_at(number):
    resource.setrlimit(resource.RLIMIT_FSIZE, (number * 6_000, number * 6_000))


for number in range(1, 500):
    path = folder / f"{number}.sqlite"
    ledger = open(folder / f"{number}.txt", "w+")
    while threading.active_count() > 1:
        # A child that is forked while a thread is inside SQLite inherits a lock that nobody opens, and waits for ever.
        time.sleep(0.001)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(limit, exit=True)  # says where it hangs, if it does
        {"dies": dies_at, "full": full_at}[way](number)
        try:
            live(path)
        except IncenterError as error:
            assert "make room on its disk" in str(error), error
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 1, -signal.SIGKILL), code
    ledger.seek(0)
    with Store(path) as store:
        done = {row.seed for row in store.rows("a", "done")}
        assert {int(line.split()[1]) for line in ledger} <= done
        store.add("a", planned(2))
        store.release("a", dead_workers=["w"])
        while claim := store.claim("a", "v"):
            assert claim.configuration["seed"] not in done
            assert store.finish(claim.key, "v", outcome(claim.configuration["seed"]))
        rows = store.rows("a", "done")
        assert [row.seed for row in rows] == [0, 1]
        for row in rows:
            assert row.parameters == outcome(row.seed).parameters_hash
            assert row.fields()["u"].tobytes() == outcome(row.seed).fields["u"].tobytes()
        assert store.damaged == {}
    if code == 0:
        break
print(number, flush=True)
"""


def instants(folder: Path, way: str) -> int:
    """At how many places the life of the runs was cut off, one after the other."""
    # The child says after LIMIT seconds where it hangs, the whole after two such times; then both have ended.
    command = [sys.executable, "-c", PROGRAM, str(folder), way, str(LIMIT)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=3 * LIMIT)
    assert ended.stderr == "", f"a fault, or not through after {2 * LIMIT:g} seconds:\n{ended.stderr}"
    return int(ended.stdout)


def test_killed_at_every_statement(tmp_path: Path) -> None:
    assert 40 < instants(tmp_path, "dies") < 499


def test_the_disk_full_at_every_size(tmp_path: Path) -> None:
    assert 15 < instants(tmp_path, "full") < 499
