"""What the benchmarks rest on: limits, interleaving, tables, and sections of pages."""

import time
from pathlib import Path

import pytest

from benchmarks.timing import TooSlowError, duration, interleaved, limit, table, write_section


def test_a_call_past_its_limit_is_stopped() -> None:
    with pytest.raises(TooSlowError), limit(0.05):
        time.sleep(5)


def test_a_limit_leaves_nothing_behind() -> None:
    with limit(0.05):
        pass
    time.sleep(0.1)


def test_the_slower_contender_is_measured_as_slower_and_takes_part_twice() -> None:
    calls = {"slow": 0, "fast": 0}

    def call(name: str, count: int) -> None:
        calls[name] += 1
        sum(range(count))

    best = interleaved(
        {"slow": lambda: call("slow", 1_000_000), "fast": lambda: call("fast", 10_000)}, budget=0.02, rounds=3
    )
    assert best["slow"] > 10 * best["fast"]
    assert calls["slow"] >= 3  # one to see how long it takes, and two rounds


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.5e-6, "1.5 us"), (0.0123, "12.3 ms"), (0.000999, "999 us"), (65.4321, "65.4 s")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_table_lines_up() -> None:
    lines = table(["", "m = 2"], [["ours", "1 us"], ["quadprog", "100 us"]]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].endswith("-:|")


def test_a_section_is_replaced_and_the_rest_kept(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- x: begin -->\nold\n<!-- x: end -->\nafter\n")
    write_section(page, "x", "new")
    write_section(page, "x", "newer")
    assert page.read_text() == "before\n<!-- x: begin -->\nnewer\n<!-- x: end -->\nafter\n"


def test_a_page_without_the_section_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text")
    with pytest.raises(SystemExit, match="has no section between"):
        write_section(page, "x", "new")
    assert page.read_text() == "text"
