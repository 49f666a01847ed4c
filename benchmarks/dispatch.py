"""What a run costs beyond its training when it is sent to a worker that is warm.

    python -m benchmarks.dispatch [--runs 40]

Small trainings that differ in their seeds go through one worker process, as `incenter study run` sends them. Printed is
the time from the end of one training to the beginning of the next: the final fields, the commit of the result, the way
back and there, the claim. Nothing in it waits for the clock or the disk; on a machine that is busy with other things it
waits for a processor, so run it there as `chrt -f 1 python -m benchmarks.dispatch`, which goes before all others.
"""

import argparse
import itertools
import os
import statistics
import tempfile
from pathlib import Path

from benchmarks import kill
from incenter.study import lanes, plans
from incenter.study.expansion import expand
from incenter.study.runner import run_study
from incenter.study.store import Store

WARM = 2  # runs that compile


def gaps(runs: int) -> list[float]:
    """Seconds between each two trainings; the working directory is where they are made."""
    kill.prepare(Path.cwd(), runs, steps=100)
    with Store("dispatch.sqlite") as store:
        run_study(store, "dispatch", expand(plans.load("kill.toml")), lanes.processes(1))
        rows = sorted(store.rows(status="done"), key=lambda row: row.started or 0.0)
    times = [(row.started or 0.0, row.ended or 0.0) for row in rows]
    return [begun - ended for (_, ended), (begun, _) in itertools.pairwise(times)][WARM:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = sorted(gaps(arguments.runs))
    print(f"{len(found)} runs, ms beyond the training: least {1e3 * found[0]:.1f}", end=", ")
    print(f"median {1e3 * statistics.median(found):.1f}, most {1e3 * found[-1]:.1f}")


if __name__ == "__main__":
    main()
