"""The loop and the run, on quadratic losses whose answers are known."""

import os
import signal
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError, chebyshev_center, methods
from incenter.pinn.configuration import Configuration
from incenter.pinn.loop import compiled
from incenter.pinn.result import Progress, Result
from incenter.pinn.run import Run
from incenter.pinn.training import run, train
from incenter.study import gradients_file
from tests.pinn.oracle import Adam, descend
from tests.pinn.quadratic import CENTRES, Quadratic


def configured(**fields: Any) -> Configuration:
    """40 steps in double precision, with the rule that compiles fastest, unless said otherwise."""
    given: dict[str, Any] = {"problem": "quadratic", "method": "sum", "steps": 40, "lr": 1e-2, "precision": 64} | fields
    return Configuration(**given).resolved(None)


def trained(objective: Any = None, out: Path | None = None, progress: Any = None, **fields: Any) -> Result:
    configuration = configured(**fields)
    return run(configuration, objective or Quadratic(precision=configuration.precision), out=out, progress=progress)


def still(theta: Any, _step: int) -> tuple[Any, Any]:
    """Losses and gradients of the quadratic without noise, in NumPy."""
    away = theta - CENTRES
    return 0.5 * np.sum(away**2, axis=1), away


START = np.asarray(Quadratic().start(0))


@pytest.mark.parametrize("method", methods.names())
def test_every_rule_trains(method: str) -> None:
    """Compiled, every rule of the library moves the parameters and leaves them finite."""
    result = trained(method=method, steps=6)
    assert result.stopped == "steps"
    assert result.steps == 6
    assert np.isfinite(result.theta).all()
    assert not np.array_equal(result.theta, START)


@pytest.mark.parametrize(("method", "options"), [("mgda", {}), ("relobralo", {"lookback": "expected"})])
def test_it_is_the_plain_loop(method: str, options: dict[str, Any]) -> None:
    """Rule, Adam and loop agree with the same written in NumPy; `relobralo` looks at losses and remembers."""
    expected, _ = descend(START, methods.by_name(method, **options), Adam(1e-2), still, steps=40)
    result = trained(Quadratic(noise=0.0), method=method, method_options=options)
    np.testing.assert_allclose(result.theta, expected, rtol=1e-11)


def test_plain_descent_has_a_closed_form() -> None:
    """theta_t - mean = (1 - 3 lr)^t (theta_0 - mean) for the sum of three quadratics."""
    result = trained(Quadratic(noise=0.0), optimizer="sgd", lr=0.02, steps=30)
    mean = CENTRES.mean(axis=0)
    np.testing.assert_allclose(result.theta, mean + (1 - 0.06) ** 30 * (START - mean), rtol=1e-13)


@pytest.mark.parametrize("record_every", [7, 1000])
def test_it_stops_at_the_step_where_the_radius_is_reached(record_every: int) -> None:
    """Algorithm 1 leaves before the step from there, wherever the calls of the loop were cut."""
    rule = methods.by_name("chebyshev")
    expected, step = descend(START, rule, Adam(5e-2), still, steps=400, stop_radius=0.3)
    assert 10 < step < 400
    result = trained(
        Quadratic(noise=0.0), method="chebyshev", lr=5e-2, steps=400, stop_radius=0.3, record_every=record_every
    )
    assert (result.stopped, result.steps) == ("radius", step)
    np.testing.assert_allclose(result.theta, expected, rtol=1e-9)
    assert result.radius is not None
    assert result.radius <= 0.3
    assert result.history["step"][-1] == step
    assert "r* is at most 0.3" in result.sentence


def test_rules_without_r_star_are_not_stopped_by_a_radius() -> None:
    assert trained(stop_radius=2.0, steps=3).stopped == "steps"


def test_it_stops_at_a_record_whose_error_is_small_enough() -> None:
    result = trained(optimizer="sgd", lr=0.05, steps=500, stop_error=0.2, record_every=4)
    assert result.stopped == "error"
    assert result.steps % 4 == 0
    assert result.relative_l2 is not None
    assert result.relative_l2 <= 0.2 < result.history["error"][-2]


def test_it_stops_when_its_time_is_over() -> None:
    result = trained(stop_seconds=1e-9)
    assert (result.stopped, result.steps, result.ms_per_step, result.radius) == ("seconds", 0, None, None)


def test_no_steps_are_a_run_too() -> None:
    result = trained(steps=0)
    assert result.stopped == "steps"
    np.testing.assert_array_equal(result.theta, START)
    assert len(result.history) == 0


def test_where_calls_are_cut_changes_no_bit() -> None:
    """One call, calls of one step, and random cuts, of a rule and an optimiser that remember, in one executable."""
    rng = np.random.default_rng(0)
    end = 60
    cuts = [[end], list(range(1, end + 1)), *([*sorted(rng.choice(end, 5)), end] for _ in range(8))]
    run = Run(configured(method="relobralo"), Quadratic(), None, None)
    loop = compiled(run.loop, run.carry)
    ends = []
    for bounds in cuts:
        carry = jax.tree.map(lambda leaf: jnp.array(leaf, copy=True), run.carry)
        for bound in bounds:
            carry = loop(carry, np.int32(bound))
        ends.append([np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(carry)])
    assert all(one == ends[0] for one in ends)


def test_a_run_is_a_function_of_its_configuration() -> None:
    one, other = trained(method="pcgrad"), trained(method="pcgrad")
    assert one.theta.tobytes() == other.theta.tobytes()
    assert not np.array_equal(one.theta, trained(method="pcgrad", seed=1).theta)


@pytest.mark.parametrize("precision", [32, 64])
def test_precision_holds_inside_and_ends_outside(precision: int) -> None:
    before = jnp.zeros(0).dtype
    result = trained(precision=precision)
    assert result.theta.dtype == f"float{precision}"
    assert result.predict(np.ones((3, 4), result.theta.dtype)).dtype == result.theta.dtype
    assert jnp.zeros(0).dtype == before


def test_single_precision_follows_double() -> None:
    double = trained(steps=20).theta
    np.testing.assert_allclose(trained(steps=20, precision=32).theta, double, rtol=1e-4)


def test_traces_are_computed_when_they_are_used_and_not_otherwise() -> None:
    calls: list[float] = []

    class Counted(Quadratic):
        def traces(self, theta: Any, batch: Any) -> Any:
            jax.debug.callback(lambda first: calls.append(float(first)), theta[0])
            return super().traces(theta, batch)

    trained(Counted(), method="ntk", method_options={"every": 4}, steps=9)
    jax.effects_barrier()  # type: ignore[no-untyped-call]
    assert len(calls) == 3


class TestHistory:
    def test_records_lie_where_they_should(self) -> None:
        history = trained(record_every=7, steps=30).history
        assert history["step"].tolist() == [7, 14, 21, 28, 30]
        for name in ("losses", "norms", "weights", "active", "binding"):
            assert history[name].shape == (5, 3)
        assert len(history["unknown/first"]) == 5
        assert "nothing" not in history

    def test_there_are_about_five_hundred_by_default(self) -> None:
        assert configured(steps=50_000).record_every == 100
        assert configured(steps=10).record_every == 1

    def test_they_say_what_the_last_step_saw(self) -> None:
        """Against the losses and gradients at the parameters before that step."""
        before = trained(Quadratic(noise=0.0), steps=11)
        after = trained(Quadratic(noise=0.0), steps=12, record_every=12)
        losses, G = still(before.theta, 11)
        np.testing.assert_allclose(after.history["losses"][0], losses, rtol=1e-12)
        np.testing.assert_allclose(after.history["norms"][0], np.linalg.norm(G, axis=1), rtol=1e-12)
        center = chebyshev_center(G)
        assert after.history["r_star"][0] == pytest.approx(center.radius, abs=1e-12)
        np.testing.assert_array_equal(after.history["active"][0], center.active)
        out = methods.by_name("sum").combine(G)
        np.testing.assert_allclose(after.history["weights"][0], np.ones(3), rtol=1e-9)
        assert after.history["radius"][0] == pytest.approx(out.radius, abs=1e-12)

    def test_the_chebyshev_rule_attains_r_star_and_its_active_losses_bind(self) -> None:
        history = trained(method="chebyshev", steps=12, record_every=1).history
        np.testing.assert_allclose(history["radius"], history["r_star"], atol=1e-9)
        np.testing.assert_array_equal(history["binding"] > 0, history["active"])

    def test_shares_are_of_the_steps_since_the_last_record(self) -> None:
        each = trained(steps=12, record_every=1).history["binding"]
        thirds = trained(steps=12, record_every=4).history["binding"]
        np.testing.assert_allclose(thirds, each.reshape(3, 4, 3).mean(axis=1), rtol=1e-15)


def test_progress_is_told_where_the_run_is() -> None:
    seen: list[Progress] = []
    result = trained(progress=seen.append)
    assert [each.step for each in seen] == sorted(each.step for each in seen)
    assert (seen[-1].step, seen[-1].steps, seen[-1].names) == (40, 40, ("loss0", "loss1", "loss2"))
    assert seen[-1].radius == result.radius
    np.testing.assert_allclose(seen[-1].losses, result.history["losses"][-1], rtol=1e-15)


def test_gradients_are_saved_as_the_comparison_reads_them(tmp_path: Path) -> None:
    trained(Quadratic(noise=0.0), save_gradients=16, out=tmp_path)
    files = sorted((tmp_path / "gradients").iterdir())
    assert [file.name for file in files] == ["step-000000016.npz", "step-000000032.npz"]
    before = trained(Quadratic(noise=0.0), steps=31)
    read = gradients_file.read(files[1])
    assert (read.names, read.step) == (("loss0", "loss1", "loss2"), 32)
    losses, G = still(before.theta, 31)
    np.testing.assert_allclose(read.gradients, G, rtol=1e-12)
    assert read.losses is not None
    np.testing.assert_allclose(read.losses, losses, rtol=1e-12)


def test_ctrl_c_ends_the_call_and_says_how_to_continue(tmp_path: Path) -> None:
    def interrupt(state: Progress) -> None:
        if state.step >= 10:
            os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    result = trained(record_every=5, progress=interrupt, out=tmp_path)
    assert (result.stopped, result.steps) == ("interrupted", 10)
    assert "resume=True" in result.sentence
    assert signal.getsignal(signal.SIGINT) is handler
    rest = run(configured(record_every=5), Quadratic(), out=tmp_path, resume=True)
    assert rest.stopped == "steps"
    assert rest.theta.tobytes() == trained().theta.tobytes()


def test_a_second_ctrl_c_is_not_waited_for() -> None:
    def interrupt(_state: Progress) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        trained(progress=interrupt)


def test_the_finish_reaches_the_least_sum_of_losses() -> None:
    """Three quadratics at one point's noise: the minimum is their mean, less the noise of that one draw."""
    fields: dict[str, Any] = {"steps": 5, "finish": "lbfgs", "finish_steps": 20}
    result = trained(Quadratic(noise=0.0), **fields)
    assert result.steps == 25
    np.testing.assert_allclose(result.theta, CENTRES.mean(axis=0), rtol=0, atol=1e-12)
    again = trained(Quadratic(), **fields)
    assert not np.allclose(again.theta, CENTRES.mean(axis=0), atol=1e-4)  # its points stay, and so does their noise
    assert np.abs(again.history["losses"][-1].sum() - again.history["losses"][-5].sum()) < 1e-12


def test_the_summary_is_one_line_of_json() -> None:
    summary = trained(steps=3, stop_radius=1e-3).summary()
    wanted = "problem method p lr optimizer steps seed set relative_l2 seconds ms_per_step radius parameters stopped"
    assert set(wanted.split()) <= set(summary)
    assert summary["set"] == {"precision": 64, "stop_radius": 1e-3}
    assert summary["parameters"] == 4


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"method": "chebychev"}, "Did you mean 'chebyshev'"),
        ({"method_options": {"exactly": True}}, "does not take these fields"),
        ({"method": "chebyshev", "p": 1.0}, "does not run inside jit; use 1 < p < inf"),
        ({"p": 3.0}, "'sum' has no `p`; got p=3.0"),
        ({"method": "chebyshev", "method_options": {"p": 3.0}}, "Set `p` itself instead of a method option: p=3.0"),
        ({"method": 7}, "`method` must be a rule's name"),
        ({"optimizer": "addam"}, "Did you mean 'adam'"),
        ({"optimizer": "lbfgs"}, 'finish="lbfgs" and finish_steps'),
        ({"optimizer": 3}, "name of optax or an optax.GradientTransformation; got 3"),
        ({"optimizer_options": {"beta": 0.5}}, "option of the optimiser 'adam' called 'beta'"),
        ({"method": "multiadam", "optimizer": "lion"}, "is an optimiser itself and is stepped plainly"),
        ({"schedule": "cosinus"}, "Did you mean 'cosine'"),
        ({"schedule": "warmup", "schedule_options": {"warmup": 40}}, "less than the 40 of the run; got 40"),
        ({"save_gradients": 5}, "`save_gradients` needs `out`"),
    ],
)
def test_what_can_be_mended_is_one_sentence(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(IncenterError, match=sentence.replace("(", r"\(")) as error:
        trained(**fields)
    assert str(error.value).count("\n") == 0


def test_rules_that_cannot_be_compiled_for_so_many_losses_say_so() -> None:
    with pytest.raises(IncenterError, match="HARMONIC"):
        trained(Quadratic(np.random.default_rng(0).normal(size=(6, 8))), method="harmonic")


def test_resuming_needs_a_folder() -> None:
    with pytest.raises(IncenterError, match="resume=True needs `out`"):
        train("burgers", resume=True)
