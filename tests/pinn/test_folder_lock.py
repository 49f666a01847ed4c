"""Two runs that write into one folder are told apart, and no lock outlives its process."""

import fcntl
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from incenter import IncenterError
from incenter.pinn import folder_lock
from incenter.pinn.folder_lock import FILE, alone_in

HOLDS = """
import sys, time
from pathlib import Path
from incenter.pinn.folder_lock import alone_in
with alone_in(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(120)
"""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_lock, "_PATIENCE", 0.2)


def test_a_process_that_holds_it_is_named_and_leaves_nothing_when_it_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HOLDS, str(folder)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(IncenterError, match=rf"into .*run by process {holder.pid}: wait for its end, or give"),
            alone_in(folder),
        ):
            pass
        holder.send_signal(signal.SIGKILL)
    with alone_in(folder):
        assert (folder / FILE).is_file()


def test_also_within_one_process_and_free_again_afterwards(tmp_path: Path) -> None:
    with alone_in(tmp_path), pytest.raises(IncenterError, match="Another run is being written"), alone_in(tmp_path):
        pass
    with alone_in(tmp_path):
        pass


def test_a_file_system_without_locks_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with alone_in(tmp_path), alone_in(tmp_path):
        pass


def test_a_folder_that_cannot_be_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IncenterError, match="file cannot be written to"), alone_in(tmp_path / "file"):
        pass
