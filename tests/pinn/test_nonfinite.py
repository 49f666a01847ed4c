"""Gradients that are not finite: held or taken back, counted, and never in a parameter that is kept."""

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError, methods
from incenter.pinn import checkpoints
from incenter.pinn.loop import GOOD_EVERY, MOST_HOLDS, MOST_ROLLBACKS
from tests.pinn.oracle import Adam, descend
from tests.pinn.quadratic import Quadratic
from tests.pinn.test_training import START, still, trained


def at_steps(*steps: int) -> Any:
    """NaN in the first loss at these steps."""

    def bad(_theta: Any, _seed: Any, step: Any) -> Any:
        return jnp.isin(step, jnp.asarray(steps)) & (jnp.arange(3) == 0)

    return bad


def test_a_held_step_is_a_step_left_out() -> None:
    """theta, Adam and a rule with a memory are those of the other steps alone, and the held ones are counted."""
    held = (0, 7, 8, 20)

    def losses_and_gradients(theta: Any, step: int) -> tuple[Any, Any]:
        losses, G = still(theta, step)
        return (losses * np.nan if step in held else losses), G

    rule = methods.by_name("relobralo", lookback="expected")
    expected, _ = descend(START, rule, Adam(1e-2), losses_and_gradients, steps=30)
    result = trained(
        Quadratic(noise=0.0, bad=at_steps(*held)),
        method="relobralo", method_options={"lookback": "expected"}, steps=30, record_every=10,
    )  # fmt: skip
    np.testing.assert_allclose(result.theta, expected, rtol=1e-11)
    assert result.stopped == "steps"
    assert result.history["held"].tolist() == [3, 0, 1]


def test_a_run_that_holds_for_ever_is_given_up(tmp_path: Path) -> None:
    def bad(_theta: Any, _seed: Any, step: Any) -> Any:
        return (step >= 12) & (jnp.arange(3) == 1)

    result = trained(Quadratic(bad=bad), steps=1000, out=tmp_path, checkpoint_every=5)
    assert (result.stopped, result.steps) == ("nonfinite", 12 + MOST_HOLDS)
    assert result.theta.tobytes() == trained(steps=12).theta.tobytes()
    assert np.isnan(result.history["losses"][-1][1])
    assert "lower `lr`" in result.sentence
    assert np.isfinite(checkpoints.newest(tmp_path / "checkpoints").arrays["theta"]).all()


@pytest.mark.parametrize("nonfinite", ["hold", "rollback"])
def test_a_step_that_leaves_the_range_of_floats_is_not_taken(nonfinite: str) -> None:
    """A rate at which the parameters overflow in one step, from finite gradients."""
    result = trained(Quadratic(precision=32), precision=32, optimizer="sgd", lr=3e38, nonfinite=nonfinite, steps=300)
    assert result.stopped == "nonfinite"
    assert np.isfinite(result.theta).all()


def test_a_rollback_draws_other_points_from_the_last_good_state() -> None:
    """NaN at one step for the points of the run's own seed: the run goes back once, and then through."""
    fall = GOOD_EVERY + 30

    def bad(_theta: Any, seed: Any, step: Any) -> Any:
        return (step == fall) & (seed == 0) & (jnp.arange(3) == 0)

    fields: dict[str, Any] = {"nonfinite": "rollback", "steps": GOOD_EVERY + 60, "record_every": 10}
    back = trained(Quadratic(bad=bad), **fields)
    straight = trained(Quadratic(), **fields)
    assert (back.stopped, back.steps) == ("steps", GOOD_EVERY + 60)
    assert back.history["step"].tolist() == straight.history["step"].tolist()
    assert int(back.history["held"].sum()) == 1
    before = back.history["step"] <= GOOD_EVERY
    np.testing.assert_array_equal(back.history["losses"][before], straight.history["losses"][before])
    assert not np.array_equal(back.history["losses"][~before], straight.history["losses"][~before])
    quiet = trained(Quadratic(noise=0.0, bad=bad), **fields)
    assert quiet.theta.tobytes() == trained(Quadratic(noise=0.0), **fields).theta.tobytes()


def test_rollbacks_end() -> None:
    def bad(_theta: Any, _seed: Any, step: Any) -> Any:
        return (step >= 5) & (jnp.arange(3) == 2)

    result = trained(Quadratic(bad=bad), nonfinite="rollback", steps=200)
    assert (result.stopped, result.steps) == ("nonfinite", 0)
    assert result.theta.tobytes() == START.tobytes()
    assert int(result.history["held"][-1]) == MOST_ROLLBACKS + 1


def test_a_network_that_starts_with_nan_is_refused() -> None:
    class Broken(Quadratic):
        def start(self, seed: int) -> Any:
            return super().start(seed) * jnp.nan

    with pytest.raises(IncenterError, match="not finite before the first step"):
        trained(Broken())
