"""The benchmark of the training step: what it states, what it counts, and how it tells what it saw."""

from collections.abc import Callable
from math import pi

import numpy as np
import pytest
import torch

from benchmarks.step import measure
from benchmarks.step_contenders import DEEPXDE_JAX, DEEPXDE_TORCH, EAGER, ENTRIES, FLOOR, JINNS, OURS, OURS_ADAM, Entry
from benchmarks.step_contenders import floor as floor_module
from benchmarks.step_contenders.ours import Ours
from benchmarks.step_contenders.protocol import by_term, faster
from benchmarks.step_contenders.torch_eager import TORCH, TorchEager, chebyshev_update
from benchmarks.step_problems import NAMES, Place, all_points, asked, statement
from benchmarks.step_report import Measured, remarks, report, wanted
from benchmarks.step_worker import LostError, Taken, Worker
from incenter import methods

# What is stated.

EXACT: dict[str, dict[str, Callable[[dict[str, torch.Tensor]], torch.Tensor]]] = {
    "helmholtz": {"u": lambda at: torch.sin(pi * at["x"]) * torch.sin(4 * pi * at["y"])},
    "kovasznay": {
        "u": lambda at: 1 - torch.exp(_decay() * at["x"]) * torch.cos(2 * pi * at["y"]),
        "v": lambda at: _decay() / (2 * pi) * torch.exp(_decay() * at["x"]) * torch.sin(2 * pi * at["y"]),
        "p": lambda at: 0.5 * (1 - torch.exp(2 * _decay() * at["x"])),
    },
    "klein_gordon": {"u": lambda at: at["x"] * torch.cos(5 * pi * at["t"]) + (at["t"] * at["x"]) ** 3},
    "inverse_heat": {
        "u": lambda at: torch.exp(-at["t"]) * torch.sin(pi * at["x"]) * torch.sin(pi * at["y"]),
        "a": lambda at: 2 + torch.sin(pi * at["x"]) * torch.sin(pi * at["y"]),
    },
}


def _decay() -> float:
    return float(20 - np.sqrt(400 + 4 * pi**2))


def _derivatives_of(
    functions: dict[str, Callable[[dict[str, torch.Tensor]], torch.Tensor]], at: dict[str, torch.Tensor]
) -> Callable[[str], torch.Tensor]:
    def field(name: str) -> torch.Tensor:
        output, _, along = name.partition("_")
        value = functions[output](at)
        for axis in along:
            (value,) = torch.autograd.grad(
                value.sum(), at[axis], create_graph=True, allow_unused=True, materialize_grads=True
            )
        return value

    return field


@pytest.mark.parametrize("name", EXACT)
def test_the_exact_solutions_satisfy_all_equations(name: str) -> None:
    stated = statement(name)
    for term, points in zip(stated.terms.values(), all_points(stated).values(), strict=True):
        at = {axis: torch.from_numpy(column).double() for axis, column in stated.columns(points).items()}
        for column in at.values():
            column.requires_grad_()
        for equation in term.equations(Place(_derivatives_of(EXACT[name], at), at, TORCH)):
            # float32 points lie off the faces by a rounding; second derivatives are of the order of 10^3
            assert equation.abs().max() < (1e-9 if term.place == "interior" else 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_points_lie_where_they_should(name: str) -> None:
    stated = statement(name)
    for (term_name, term), points in zip(stated.terms.items(), all_points(stated).values(), strict=True):
        assert points.shape == (term.count, len(stated.box)), term_name
        columns = stated.columns(points)
        for axis, (low, high) in stated.box.items():
            assert columns[axis].min() >= low
            assert columns[axis].max() <= high
        if term.place == "boundary":
            faces = [columns[axis] == np.float32(end) for axis in stated.space for end in stated.box[axis]]
            assert [face.sum() for face in faces] == [term.count // len(faces)] * len(faces)
        if term.place == "initial":
            assert (columns["t"] == stated.box["t"][0]).all()


def test_what_equations_ask_for() -> None:
    stated = statement("klein_gordon")
    assert asked(stated, stated.terms["residual"]) == ({"u", "u_tt", "u_xx"}, 1)
    assert asked(stated, stated.terms["initial"]) == ({"u", "u_t"}, 2)


def test_the_rows_of_the_floor() -> None:
    """Value, first derivatives and one operator, counted by hand."""
    expected = {
        "helmholtz": [4 * 5120 + 256],
        "kovasznay": [4 * 5120 + 256],
        "burgers": [4 * 2560 + 512],
        "heat": [5 * 2560 + 512],
        "klein_gordon": [4 * 2560 + 256 + 2 * 256],
        "inverse_heat": [5 * 5120 + 2500, 3 * 5120 + 1024],
    }
    for name, rows in expected.items():
        stated = statement(name)
        assert [floor_module.rows(stated, branch) for branch in stated.branches] == rows, name


# What is computed.


@pytest.mark.parametrize("name", NAMES)
def test_ours_and_eager_pytorch_compute_the_same_losses(name: str) -> None:
    theirs = TorchEager(name, fused=False).losses()
    ours = Ours(name, "chebyshev").losses()
    assert ours.keys() == theirs.keys()
    for term, loss in theirs.items():
        assert ours[term] == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize("m", [2, 3])
def test_the_papers_closed_form_is_our_direction(m: int) -> None:
    rule = methods.by_name("chebyshev")
    for seed in range(20):
        gradients = np.random.default_rng(seed).standard_normal((m, 40)) + 0.2
        update = chebyshev_update(torch.from_numpy(gradients).float()).numpy()
        expected = rule.combine(gradients).update
        assert np.linalg.norm(update - expected) <= 1e-5 * np.linalg.norm(expected)


class Slept:
    """A contender whose steps cost so many additions."""

    def __init__(self, work: int) -> None:
        self.setting, self._work = "", work

    def prepare(self, steps: int) -> None: ...

    def run(self, steps: int) -> None:
        for _ in range(steps):
            sum(range(self._work))

    def losses(self) -> dict[str, float]:
        return {}


def test_the_faster_way_is_taken_and_the_slower_one_named() -> None:
    taken = faster({"slow": lambda: Slept(1_000_000), "fast": lambda: Slept(10_000)})
    assert taken.setting == "fast rather than slow"


def test_losses_are_summed_by_term() -> None:
    assert by_term(("a", "b"), (1, 2), [1.0, 2.0, 3.0]) == {"a": 1.0, "b": 5.0}


# Processes.


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENTRIES, FLOOR, Entry("floor", "", ("no_such_package",)))
    with pytest.raises(LostError, match="no_such_package not installed"):
        Worker(ENTRIES[FLOOR], "burgers", 0)


def test_a_contender_that_fails_is_a_reason_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENTRIES, JINNS, Entry("no_such_module", "", ()))
    found = measure("burgers", [JINNS, FLOOR], rounds=1, core=0)
    assert "ModuleNotFoundError" in found[JINNS].reason
    assert found[JINNS].best is None
    best = found[FLOOR].best
    assert best is not None
    assert 0 < best.processor < 1


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["burgers", "klein_gordon", "inverse_heat"])
@pytest.mark.parametrize("peer", [DEEPXDE_TORCH, DEEPXDE_JAX, JINNS])
def test_the_peers_compute_the_same_losses(peer: str, problem: str) -> None:
    found = measure(problem, [EAGER, peer], rounds=0, core=0)
    if "not installed" in found[peer].reason:
        pytest.skip(found[peer].reason)
    assert not found[peer].reason
    for terms, loss in found[peer].losses.items():
        expected = sum(found[EAGER].losses[term] for term in terms.split("+"))
        assert loss == pytest.approx(expected, rel=1e-5)


# Telling it.


def _seen(milliseconds: float, wall: float = 1.0, **losses: float) -> Measured:
    taken = Taken(wall * milliseconds / 1e3, milliseconds / 1e3)
    return Measured(setting="as usual", best=taken, first=Taken(4.0, 4.0), losses=losses)


def _results() -> dict[str, dict[str, Measured]]:
    return {
        "burgers": {
            OURS: _seen(1.4, residual=1.0, boundary=2.0),
            OURS_ADAM: _seen(1.0, residual=1.0, boundary=2.0),
            EAGER: _seen(7.0, residual=1.0, boundary=2.0),
            JINNS: _seen(2.1, wall=2.0, **{"residual+boundary": 3.3}),
            DEEPXDE_JAX: Measured(reason="it is not there"),
            FLOOR: _seen(1.0),
        }
    }


def test_goals_are_met_or_missed_or_not_measured() -> None:
    lines = wanted(_results())
    assert "ours over the floor, at most 1.5: burgers 1.4" in lines
    assert "eager PyTorch over ours, at least 4.5: burgers 5" in lines
    assert "ours, Chebyshev over Adam, at most 1.05: burgers 1.4 MISSED" in lines
    assert f"{DEEPXDE_JAX}, over ours, at least 1: burgers not measured" in lines
    assert "ours, seconds to the first step, at most 5: burgers 4" in lines
    assert not any("helmholtz" in line for line in lines)


def test_remarks_name_what_is_missing_wrong_or_disturbed() -> None:
    lines = remarks(_results())
    assert f"{DEEPXDE_JAX}, burgers: it is not there" in lines
    assert any(JINNS in line and "COMPUTES SOMETHING ELSE" in line for line in lines)
    assert any("BUSY ELSEWHERE during 1 of 6 measurements, for up to 50%" in line for line in lines)
    assert not any(EAGER in line and "COMPUTES" in line for line in lines)


def test_a_missing_contender_is_a_dash() -> None:
    text = report(_results(), rounds=3)
    (row,) = [line for line in text.splitlines() if line.startswith(f"| {DEEPXDE_JAX} ")][:1]
    assert row.split("|")[2].strip() == "-"
    assert "best of 3 rounds" in text
