"""What must hold on several devices; run in a process that sees four.

The counts of points are divided by no number of devices, there is a term that sees all its points at once, samplers
that remember, partners, normals and values.
"""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError
from incenter.methods import by_name
from incenter.pinn import (
    MLP,
    Adaptive,
    Boundary,
    Box,
    Configuration,
    Data,
    Initial,
    Interior,
    Objective,
    Periodic,
    Problem,
    Progress,
    Result,
    load,
    sobol,
    train,
)
from tests.cli.running import run as incenter

TOLERANCE = 1e-12
SEVERAL = (2, 3, 4)


def problem() -> Problem:
    places = np.random.default_rng(0).uniform((-1, 0), (1, 1), (17, 2))
    return Problem(
        domain=Box(x=(-1, 1), t=(0, 1)),
        network=MLP(6, 2),
        unknowns={"nu": 0.3},
        terms={
            "residual": Interior(101, lambda u, nu: (u.t + u * u.x - nu * u.xx, u.x - u), sampler=Adaptive(every=2)),
            "mean": Interior(11, lambda u: u - jnp.mean(jnp.asarray(u))),  # at a point it needs all others
            "flux": Boundary(7, lambda u: u.normal, on="x"),
            "ring": Periodic(5, lambda left, right: left - right),
            "start": Initial(9, lambda u: u + jnp.sin(jnp.pi * u.at.x), sampler=sobol),
            "seen": Data(places, places[:, 0] * places[:, 1], lambda u, value: u - value, count=3),
        },
    )


def few_terms() -> Problem:
    """The one with two equations, the one that sees all its points, and data: quicker to compile."""
    stated = problem()
    return replace(stated, terms={name: stated.terms[name] for name in ("residual", "mean", "seen")})


def on(devices: int, stated: Problem, precision: int = 64, *, traces: bool = False) -> tuple[Any, ...]:
    """Losses, gradients, the update of the rule and perhaps traces at the points of step 4, compiled together."""
    objective = Objective(stated, precision, devices)

    @jax.jit
    def step(theta: Any, memory: Any) -> tuple[Any, ...]:
        batch, _ = objective.draw(theta, memory, 0, 4)
        losses, G = objective.losses_and_gradients(theta, batch)
        found = losses, G, by_name("chebyshev").combine(G).update
        return (*found, objective.traces(theta, batch)) if traces else found

    return tuple(np.asarray(each) for each in step(objective.start(0), objective.memory(0)))


def assert_close(found: tuple[Any, ...], expected: tuple[Any, ...], tolerance: float) -> None:
    for one, other in zip(found, expected, strict=True):
        for row, wanted in zip(np.atleast_2d(one), np.atleast_2d(other), strict=True):
            assert np.max(np.abs(row - wanted)) <= tolerance * np.max(np.abs(wanted))


def test_the_step_is_that_of_one_device() -> None:
    assert_close(on(3, few_terms()), on(1, few_terms()), TOLERANCE)


@pytest.mark.slow
def test_the_step_is_that_of_one_device_with_every_term_and_traces() -> None:
    expected = on(1, problem(), traces=True)
    for devices in SEVERAL:
        assert_close(on(devices, problem(), traces=True), expected, TOLERANCE)


def test_terms_are_shared_out_where_their_points_are_apart() -> None:
    shared = {
        name: each.number for name, each in zip(problem().terms, Objective(problem(), 64, 2).portions, strict=True)
    }
    assert shared == {"residual": 2, "mean": 1, "flux": 2, "ring": 2, "start": 2, "seen": 2}
    many = Problem(domain=Box(x=(0, 1)), terms={"residual": Interior(6001, lambda u: u.x)})
    (of_many,) = Objective(many, 64, 2).portions
    assert (of_many.number % 2, of_many.number > 2) == (0, True)


def test_more_than_there_are_gets_one_sentence() -> None:
    with pytest.raises(IncenterError, match=r"`devices` is 5, and JAX sees 4 cpu devices here.*device_count=5 before"):
        Objective(problem(), 64, 5)


@pytest.mark.slow
def test_a_step_of_every_size_and_precision() -> None:
    """Several portions on each device."""
    many = Problem(
        domain=Box(x=(0, 1), t=(0, 1)),
        terms={"residual": Interior(6001, lambda u: u.t - u.xx), "end": Boundary(3000, lambda u: u)},
    )
    for precision, tolerance in ((64, TOLERANCE), (32, 1e-5)):
        with jax.enable_x64(precision == 64):
            expected = on(1, many, precision)
            for devices in SEVERAL:
                assert_close(on(devices, many, precision), expected, tolerance)


def go(out: Path | None, *, resume: bool = False, stop_at: int | None = None, **fields: Any) -> Result:
    def interrupt(now: Progress) -> None:
        if stop_at is not None and now.step >= stop_at:
            os.kill(os.getpid(), signal.SIGINT)

    given: dict[str, Any] = {"method": "relobralo", "steps": 21, "lr": 1e-3, "precision": 64, "record_every": 4}
    every = {} if stop_at is None else {"checkpoint_every": stop_at}
    return train(problem(), out=out, resume=resume, progress=interrupt, **given | every | fields)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fields",
    [{"method": "chebyshev"}, {"method": "ntk", "method_options": {"every": 3}}, {"nonfinite": "rollback"},
     {"method": "sum", "finish": "lbfgs", "finish_steps": 4, "steps": 8}],
)  # fmt: skip
def test_a_run_is_that_of_one_device(fields: dict[str, Any]) -> None:
    alone, together = go(None, **fields), go(None, devices=4, **fields)
    assert together.steps == alone.steps
    start = Objective(problem(), 64).start(0)
    assert np.linalg.norm(alone.theta - start) > 1e-3
    np.testing.assert_allclose(together.theta, alone.theta, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_stopped_and_resumed_it_ends_in_the_same_bits(tmp_path: Path) -> None:
    whole = go(None, devices=2)
    assert go(None, devices=2).theta.tobytes() == whole.theta.tobytes()
    for stop_at in (1, 10):
        out = tmp_path / str(stop_at)
        assert go(out, devices=2, stop_at=stop_at).stopped == "interrupted"
        with pytest.raises(IncenterError, match="has devices = 2, not 1"):
            go(out, resume=True)
        resumed = go(out, devices=2, resume=True)
        assert resumed.theta.tobytes() == whole.theta.tobytes()
        assert resumed.history["losses"].tobytes() == whole.history["losses"].tobytes()
        field = load(out, problem=problem())
        assert np.array_equal(field.predict({"x": 0.5, "t": 0.5}), resumed.predict([[0.5, 0.5]])[0])


@pytest.mark.slow
def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = []
    for devices in ("1", "2"):
        words = ["--devices", devices, "--steps", "5", "--precision", "64", "--set", "points=50", "--json"]
        assert incenter("train", "burgers", *words, "--out", str(tmp_path / devices)) == 0
        lines.append(json.loads(capsys.readouterr().out))
    alone, together = lines
    assert together["set"] == alone["set"] | {"devices": 2}
    assert together["relative_l2"] == pytest.approx(alone["relative_l2"], rel=1e-12)
    saved = [json.loads((tmp_path / each / "config.json").read_text()) for each in ("1", "2")]
    assert ["devices" in each for each in saved] == [False, True]
    assert Configuration.from_mapping(saved[1]).devices == 2
