"""What a run shows while it goes on: a bar on a terminal, lines elsewhere, and nothing wider than the terminal."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.console import Console

from incenter.cli.train_view import Display, Now, Speed, clock_time

CAVITY = ("momentum x", "momentum y", "continuity", "walls", "lid", "gauge")


class Clock:
    """Time as the test sets it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def now(step: int, names: tuple[str, ...] = ("residual", "boundary", "initial")) -> Now:
    return Now(step, 50_000, names, tuple(1.234e-3 for _ in names), 0.4321, 0.08765)


def rendered(width: int, *reports: Now) -> list[str]:
    """The bar after reports ten seconds apart."""
    clock = Clock()
    console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None)
    display = Display(console, bar=True, clock=clock)
    for report in reports:
        display(report)
        clock.now += 10
    with console.capture() as captured:
        console.print(display.render())
    return captured.get().splitlines()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("names", [("residual", "boundary", "initial"), CAVITY])
def test_the_bar_fits_and_has_every_number(width: int, names: tuple[str, ...]) -> None:
    lines = rendered(width, now(10_000, names), now(20_000, names))
    assert all(len(line) <= width for line in lines)
    assert re.search(r"━ .*20,000 of 50,000 +1,000 steps/s +0:30 left$", lines[0].rstrip())
    rest = "   ".join(line.rstrip() for line in lines[1:])
    assert rest == "   ".join([*(f"{name} 1.23e-03" for name in names), "radius 0.432", "error 0.08765"])


def test_before_the_first_report_it_compiles_and_after_it_the_speed_is_not_known() -> None:
    assert rendered(80)[0].startswith("compiling ...")
    (first, *_) = rendered(80, now(1))
    assert "- steps/s" in first
    assert "left" not in first


def test_the_speed_is_that_of_the_last_while_and_never_of_the_compilation() -> None:
    clock = Clock()
    speed = Speed(clock)
    for step in (10, 30, 50, 70):  # 2 steps a second
        speed.note(step)
        clock.now += 10
    assert speed.per_second == 2
    assert speed.left(170) == 50
    clock.now += 1000  # a pause longer than the window
    speed.note(75)
    assert speed.per_second == pytest.approx(5 / 1010)
    clock.now += 1
    speed.note(175)
    assert speed.per_second == 100


def test_lines_come_every_ten_seconds_and_at_the_end() -> None:
    clock, file = Clock(), io.StringIO()
    with Display(Console(file=file, width=80), bar=False, clock=clock) as display:
        for k in range(1, 51):
            display(now(1000 * k))
            clock.now += 1
    lines = file.getvalue().splitlines()
    assert [line.split(" |")[0] for line in lines] == [
        f"step {step:,} of 50,000" for step in (1000, 11_000, 21_000, 31_000, 41_000, 50_000)
    ]
    assert lines[1] == (
        "step 11,000 of 50,000 | 1,000 steps/s | 0:39 left | residual 1.23e-03 boundary 1.23e-03 initial 1.23e-03 | "
        "radius 0.432 | error 0.08765"
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (59.6, "1:00"), (61, "1:01"), (3600, "1:00:00"), (90_061, "25:01:01"), (-1, "0:00")],
)
def test_times_are_written_as_clocks_write_them(seconds: float, text: str) -> None:
    assert clock_time(seconds) == text


def test_on_a_terminal_there_is_a_bar_on_stderr_and_the_result_alone_on_stdout(tmp_path: Path) -> None:
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    problem = f"{Path(__file__).parent / 'decay.py'}:decay"
    arguments = ["train", problem, "--method", "sum", "--steps", "20", "--out", str(tmp_path / "run")]
    with subprocess.Popen(
        [sys.executable, "-m", "incenter", *arguments],
        stdout=subprocess.PIPE, stderr=terminal, env=environment | {"TERM": "xterm-256color"}, text=True,
    ) as process:  # fmt: skip
        os.close(terminal)
        seen = b""
        while chunk := _read(control):
            seen += chunk
        assert process.stdout is not None
        out = process.stdout.read()
    os.close(control)
    assert process.returncode == 0
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert "━" in shown
    assert "20 of 20" in shown
    assert "compiling ..." in shown
    assert "relative L2 error" in out
    assert "\x1b" not in out
    assert "━" not in out


def _read(control: int) -> bytes:
    try:
        return os.read(control, 4096)
    except OSError:  # the other end is closed
        return b""
