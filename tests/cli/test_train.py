"""`incenter train` from the command line to what lies in the folder."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from incenter.cli.train import KEYS
from incenter.pinn import load
from tests.cli.running import run

FILE = Path(__file__).parent / "decay.py"
DECAY = f"{FILE}:decay"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs go to `runs` below a folder of the test's own, and terminals are wide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of five steps; to be copied, not touched."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    assert run("train", DECAY, *words(f"--method sum --lr 0.01 --steps 5 --out {folder}")) == 0
    return folder


def words(text: str) -> list[str]:
    return shlex.split(text)


def said(capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_json_is_one_object_per_seed_and_nothing_else_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = words("--lr 0.01 --steps 30 --seeds 3,1 --p 1.5 --set rate=2 stop_error=1e-9 --json")
    assert run("train", DECAY, *arguments) == 0
    out, err = said(capsys)
    first, second = (json.loads(line) for line in out.splitlines())
    assert tuple(first) == tuple(second) == KEYS
    assert (first["seed"], second["seed"]) == (3, 1)
    assert (first["problem"], first["method"], first["optimizer"]) == (DECAY, "chebyshev", "adam")
    assert (first["p"], first["lr"], first["steps"], first["stopped"]) == (1.5, 0.01, 30, "steps")
    assert first["parameters"] == 2 * 4 + 4 + 4 + 1
    assert first["set"] == {"problem.rate": 2.0, "stop_error": 1e-9}
    assert first["relative_l2"] != second["relative_l2"]
    assert "step 30 of 30 | " in err
    for found in (first, second):
        field = load(f"runs/decay-chebyshev-p1.5-seed-{found['seed']}")
        assert field.relative_l2 == found["relative_l2"]
        assert field.configuration.seed == found["seed"]


def test_the_summary_says_how_good_it_is_where_it_lies_and_what_to_type_next(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run("train", DECAY, *words("--method sum --lr 0.01 --steps 20 --seeds 0,7 --out found")) == 0
    out, _ = said(capsys)
    assert max(map(len, out.splitlines())) <= 80
    errors = []
    for seed in (0, 7):
        field = load(f"found/seed-{seed}")
        assert field.relative_l2 is not None
        errors.append(field.relative_l2)
        assert f"{field.relative_l2:.4g}" in out
        assert f"incenter plot found/seed-{seed}" in out
    assert "All 20 steps are made." in out
    assert f"{np.mean(errors):.4g} +- {np.std(errors, ddof=1):.2g}" in out


def test_a_run_is_never_begun_over_another_one(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(finished, "found")
    before = {path: path.read_bytes() for path in Path("found").rglob("*") if path.is_file()}
    assert run("train", DECAY, "--steps", "5", "--out", "found") == 2
    out, err = said(capsys)
    assert out == ""
    assert err.splitlines() == [
        "incenter: The run in found is finished after 5 steps: continue it with --resume, draw it with incenter plot, "
        "or give another folder with --out."
    ]
    assert before == {path: path.read_bytes() for path in Path("found").rglob("*") if path.is_file()}


def test_resume_continues_bit_for_bit_with_what_was_not_said_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train", DECAY, *words("--method sum --lr 0.01 --steps 40 --seeds 4 --set rate=2 --out whole")) == 0
    assert (
        run("train", DECAY, *words("--method sum --lr 0.01 --steps 17 --seeds 4 --set rate=2 --out cut --resume")) == 0
    )
    assert "There is nothing to resume in cut, so the run begins at step 0." in said(capsys)[1]
    assert run("train", DECAY, *words("--steps 40 --out cut --resume --json")) == 0
    found = json.loads(said(capsys)[0])
    assert (found["lr"], found["seed"], found["set"]) == (0.01, 4, {"problem.rate": 2.0})
    whole, cut = load("whole"), load("cut")
    assert whole.theta.tobytes() == cut.theta.tobytes()
    assert run("train", DECAY, *words("--out cut --resume --json")) == 0
    again = json.loads(said(capsys)[0])
    assert {key: again[key] for key in KEYS if key != "seconds"} == {
        key: found[key] for key in KEYS if key != "seconds"
    }


def test_resume_under_another_configuration_is_one_sentence_that_names_the_field(
    finished: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(finished, "found")
    for given, sentence in {
        "--lr 0.1": "The run in found has lr = 0.01, not 0.1: continue it with its own lr, or give another folder.",
        "--method lra": 'The run in found has method = "sum", not "lra": continue it with its own method, or '
        "give another folder.",
        "--set rate=3": 'The run in found has problem_options = {}, not {"rate": 3.0}: continue it with its own '
        "problem_options, or give another folder.",
    }.items():
        said(capsys)
        assert run("train", DECAY, *words(given), *words("--out found --resume")) == 2
        assert said(capsys)[1].splitlines()[-1] == f"incenter: {sentence}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("burgers --devices 0", "`devices` must be a whole number, 1 or more; got 0."),
        ("burgers --devices 9999", "`devices` is 9999, and JAX sees 1 cpu device here; to try several on one "
         "processor, set XLA_FLAGS=--xla_force_host_platform_device_count=9999 before Python starts."),
        ("burgers --seeds 0,x", "`--seeds` must be whole numbers with commas between them, such as 0,1,2; got '0,x'."),
        ("burger", "There is no problem called 'burger'. Did you mean 'burgers'?"),
        ("burgers --method chebishev", "There is no rule called 'chebishev'. Did you mean 'chebyshev'?"),
        ("burgers --steps -3", "`steps` must be a whole number, 0 or more; got -3."),
        ("burgers --lr 0", "`lr` must be a positive number; got 0.0."),
        ("burgers --p 0.5", "`p` must be in [1, inf]; got p=0.5. The paper's choice is p=2."),
        ("burgers --set nonsense", "A setting is FIELD=VALUE; got 'nonsense'; write for instance steps=2000."),
        ("burgers --set pionts=3", "There is no field called 'pionts'. Did you mean 'points'?"),
        ("burgers --set points=many", "`points` takes a whole number; got points=many."),
        ("missing.py:u", "There is no file missing.py: in FILE.py:NAME the file must exist; got 'missing.py:u'."),
        (f"{FILE}:decoy", f"There is no name in {FILE} called 'decoy'. Did you mean 'decay'?"),
        ("burgers --save-gradients 0", "`save_gradients` must be a whole number, 1 or more; got 0."),
    ],
)  # fmt: skip
def test_wrong_use_is_one_sentence(arguments: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train", *words(arguments)) == 2
    out, err = said(capsys)
    assert out == ""
    assert err.splitlines()[-1] == f"incenter: {sentence}"
    assert not Path("runs").exists()


@pytest.mark.parametrize("arguments", ["burgers --steps x", "burgers --precision 16", "", "burgers --nonsense 1"])
def test_what_is_no_command_is_refused(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train", *words(arguments)) == 2
    assert "Error" in "".join(said(capsys))


def test_a_rule_of_ones_own_and_saved_gradients(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = words(f"--method {FILE}:Halved --steps 10 --save-gradients 5 --precision 64 --optimizer sgd")
    assert run("train", DECAY, *arguments) == 0
    folder = Path("runs/decay-Halved-seed-0")
    assert [path.name for path in sorted((folder / "gradients").iterdir())] == [
        "step-000000005.npz", "step-000000010.npz"
    ]  # fmt: skip
    said(capsys)
    assert run("compare", str(folder / "gradients/step-000000010.npz"), "--json") == 0
    found = json.loads(said(capsys)[0])
    assert (found["names"], found["n"], found["step"]) == (["residual", "boundary", "initial"], 17, 10)
    assert load(folder).history["weights"].tolist() == [[0.5] * 3] * 10
    assert load(folder).theta.dtype == np.float64


def test_a_run_that_does_not_stay_finite_ends_with_a_sentence_and_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("train", DECAY, *words("--optimizer sgd --lr 1e30 --steps 1000 --json")) == 1
    out, err = said(capsys)
    assert json.loads(out)["stopped"] == "nonfinite"
    assert "Given up at step" in err
    assert np.isfinite(load("runs/decay-chebyshev-seed-0").theta).all()


# ---- in a process of its own


@contextlib.contextmanager
def started(arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own, which does not outlive the test."""
    with subprocess.Popen(
        [sys.executable, "-m", "incenter", *words(arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for_checkpoint(folder: Path, after: int = 0, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not any(int(path.stem.rpartition("-")[2]) > after for path in folder.glob("checkpoints/step-*.checkpoint")):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_ctrl_c_saves_and_prints_the_command_that_continues() -> None:
    command = f"train {DECAY} --method sum --steps 4000000000 --set checkpoint_every=100 rate=1 --out 'my runs'"
    steps = [0]
    for _ in range(2):
        with started(command) as process:
            wait_for_checkpoint(Path("my runs"), after=steps[-1])
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "Traceback" not in err
        assert "interrupted" in out
        (line,) = [line.strip() for line in err.splitlines() if line.startswith("    incenter train ")]
        assert words(line)[-3:] == ["--out", "my runs", "--resume"]
        command = line.removeprefix("incenter ")
        steps.append(load("my runs").step)
    assert 0 < steps[1] < steps[2]


def test_ctrl_c_before_the_first_step_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    """Not even where JAX is at work, which swallows a KeyboardInterrupt now and then."""
    Path("early.py").write_text(
        "import os, signal, sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from tests.cli.decay import decay\n"
        "def early():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return decay()\n"
    )
    assert run("train", "early.py:early", "--method", "sum", "--steps", "1000", "--out", "early") == 130
    out, err = said(capsys)
    assert "Interrupted at step 0, and saved" in err
    assert "least cosine" in out


def test_ctrl_c_while_modules_are_loaded_is_one_sentence() -> None:
    program = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "jax":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from incenter.cli import main
main(["train", "burgers"])
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stderr) == (130, "incenter: interrupted.\n")


def test_two_at_once_into_one_folder_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    with started(f"train {DECAY} --method sum --steps 4000000000 --set checkpoint_every=100 --out shared") as process:
        wait_for_checkpoint(Path("shared"))
        assert run("train", DECAY, "--out", "shared", "--resume") == 2
    assert f"Another run is being written into shared by process {process.pid}" in said(capsys)[1]


def test_killed_while_it_saves_a_run_goes_on_from_its_last_checkpoint() -> None:
    often = "--method sum --steps 30 --set checkpoint_every=1 record_every=1"
    with started(f"train {DECAY} {often} --out killed --resume --json") as process:
        wait_for_checkpoint(Path("killed"))
        process.kill()
    assert load("killed").step > 0
    assert run("train", DECAY, *words(f"{often} --out killed --resume")) == 0
    assert run("train", DECAY, *words(f"{often} --out whole")) == 0
    assert load("whole").step == 30
    assert load("whole").theta.tobytes() == load("killed").theta.tobytes()


def test_jax_is_told_to_stay_on_one_thread_before_it_is_imported() -> None:
    script = (
        "import os, sys\n"
        "class Watch:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'jax': print('NPROC', os.environ.get('NPROC'))\n"
        "sys.meta_path.insert(0, Watch())\n"
        f"from incenter.cli import main\nmain(['train', {DECAY!r}, '--steps', '0', '--json'])\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "NPROC"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    lines = done.stdout.splitlines()
    assert set(lines[:-1]) == {"NPROC 1"}
    assert json.loads(lines[-1])["steps"] == 0


@pytest.mark.parametrize("command", ["train burgers", "problems", "plot somewhere"])
def test_a_missing_extra_is_one_sentence_with_the_pip_line(command: str) -> None:
    Path("somewhere").mkdir()
    script = f"import sys\nsys.modules['optax'] = None\nfrom incenter.cli import main\nmain({command.split()!r})\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "incenter: incenter.pinn needs optax, not installed here: pip install 'incenter[pinn]'"
    ]
