"""How long the explorer takes to answer a drag: a running server, one connection kept open, as a page has it.

python -m benchmarks.explore [--count N]

The server is `incenter explore` in a process of its own. A drag is a walk of small random steps of one gradient, and an
answer is timed from the question's first byte to the last of the reply, read as JSON. Wanted: 95 % within 50 ms. Beside
it, the server's processor time for an answer (Linux), which does not depend on who else is at work.
"""

import argparse
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from incenter.study.explorer.answering import NORMS
from incenter.study.explorer.presets import PRESETS

WANTED = 50.0  # ms
STEP = 0.02  # of a walk, relative to the gradient


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the answers of the cone explorer.")
    parser.add_argument("--count", type=int, default=300, help="answers to each norm")
    options = parser.parse_args()
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    print(f"{load:.1f} processes wait for or hold each core.")
    print(f"{'norm':>5} {'median ms':>10} {'p95 ms':>8} {'most ms':>8} {'processor ms':>13} {'kilobytes':>10}")
    slowest = 0.0
    with served() as (server, connection, path):
        for p in NORMS:
            began = processor(server)
            times, size = drag(connection, path, p, options.count)
            busy = (processor(server) - began) / options.count
            tail = float(np.percentile(times, 95))
            slowest = max(slowest, tail)
            middle = statistics.median(times)
            print(f"{p!s:>5} {middle:10.1f} {tail:8.1f} {max(times):8.1f} {busy:13.1f} {size / 1e3:10.1f}")
    met = slowest <= WANTED
    print(f"95 % of the answers within {WANTED:.0f} ms in every norm: {'met' if met else 'missed'}")
    return 0 if met else 1


@contextmanager
def served() -> Iterator[tuple[int, http.client.HTTPConnection, str]]:
    command = [sys.executable, "-m", "incenter", "explore", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = re.search(r"http://127\.0\.0\.1:(\d+)(/\S+/)", server.stdout.readline())
            assert address is not None
            yield server.pid, http.client.HTTPConnection("127.0.0.1", int(address[1])), f"{address[2]}answer"
        finally:
            server.terminate()


def processor(pid: int) -> float:
    """Milliseconds that the threads of a process have computed so far."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6


def drag(connection: http.client.HTTPConnection, path: str, p: float | str, count: int) -> tuple[list[float], int]:
    """Milliseconds of each answer along walks from the presets, and the bytes of the last."""
    random = np.random.default_rng(0)
    times, size = [], 0
    for start in range(count):
        if start % (count // len(PRESETS) or 1) == 0:
            G = np.array(PRESETS[start * len(PRESETS) // count].gradients)
        G[start % 3] += STEP * np.linalg.norm(G[start % 3]) * random.standard_normal(3)
        question = json.dumps({"gradients": G.tolist(), "p": p})
        began = time.perf_counter()
        connection.request("POST", path, question)
        reply = connection.getresponse().read()
        assert "radius" in json.loads(reply)
        times.append(1e3 * (time.perf_counter() - began))
        size = len(reply)
    return times, size


if __name__ == "__main__":
    sys.exit(main())
