"""Learning-rate annealing: printed vectors, schedule, scale invariance, degenerate rows."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError
from incenter.methods.lra import LRA
from tests.methods.behaviour import BEHAVIOUR, EDGE, TOY, Case, assert_close, assert_equal, gradients


@BEHAVIOUR
def test_behaviour_of_the_other_variants(behaves: Any) -> None:
    behaves(Case(LRA(residual=(1, 3), every=2, gradient="weighted", statistic="mean")))


@pytest.mark.parametrize(
    ("G", "gradient", "first", "second"),
    [
        (TOY, "raw", (1, 1.4, 1.947869669), (1, 1.76, 2.800952371)),
        (TOY, "weighted", (1, 1.4, 1.947869669), (1, 1.617142857, 2.291039469)),
        (EDGE, "raw", (1, 1.2, 1.08), (1, 1.38, 1.152)),
        (EDGE, "weighted", (1, 1.2, 1.08), (1, 1.33, 1.138666667)),
    ],
)
def test_vectors(G: np.ndarray, gradient: str, first: tuple[float, ...], second: tuple[float, ...]) -> None:
    rule = LRA(every=1, gradient=gradient)
    one = rule.combine(G)
    two = rule.combine(G, state=one.state)
    assert_close(one.weights, first, rtol=1e-9)
    assert_close(two.weights, second, rtol=1e-9)


def test_update_vector() -> None:
    assert_close(LRA().combine(EDGE).update, (1.72, 1.92, 0.36), rtol=1e-12)


def test_without_average_the_weight_is_the_ratio() -> None:
    assert_close(LRA(rate=1.0).combine(TOY).weights, (1, 5, 10.478696692), rtol=1e-9)


@pytest.mark.parametrize(("gradient", "power"), [("raw", 1.0), ("weighted", 0.5)])
def test_fixed_point(gradient: str, power: float) -> None:
    rule, state = LRA(every=1, gradient=gradient), None
    for _ in range(400):
        out = rule.combine(TOY, state=state)
        state = out.state
    assert_close(np.asarray(out.weights)[1:], np.array([5, 10.478696692]) ** power, rtol=1e-8)


def test_weights_change_every_third_step_only() -> None:
    rule, state, seen = LRA(every=3), None, []
    for step in range(7):
        out = rule.combine(gradients(step), state=state)
        state = out.state
        seen.append(np.asarray(out.weights).tolist())
    assert seen[0] == seen[1] == seen[2] != seen[3] == seen[4] == seen[5] != seen[6]


def test_residual_rows_are_summed_first() -> None:
    G = gradients(1)
    merged = LRA(rate=1.0).combine(np.stack([G[1] + G[3], G[0], G[2]]))
    out = LRA(rate=1.0, residual=(1, 3)).combine(G)
    assert_close(out.weights, np.asarray(merged.weights)[[1, 0, 2, 0]], rtol=1e-13)
    assert_close(out.update, merged.update, rtol=1e-12)


def test_scale_of_the_others_cancels() -> None:
    G, scale = gradients(2), np.array([[1.0], [1e3], [1e-5], [7.0]])
    rule = LRA(rate=1.0)
    assert_close(rule.combine(scale * G).update, rule.combine(G).update, rtol=1e-12)


def test_rows_far_apart_keep_the_weights_finite() -> None:
    G = np.array([[1e30, 0], [0, 1e-30]], dtype=np.float32)
    out = LRA(rate=1.0).combine(G)
    assert np.asarray(out.weights)[1] == np.finfo(np.float32).max
    assert np.isfinite(out.update).all()


@pytest.mark.parametrize("zero", [0, 2])
def test_zero_rows_leave_weights_alone(zero: int) -> None:
    rule, G = LRA(every=1), gradients(4)
    before = rule.combine(G).state
    G[zero] = 0
    after = rule.combine(G, state=before).state
    held = slice(None) if zero == 0 else zero
    assert_equal(after.weights[held], before.weights[held])


def test_one_loss_is_left_as_it_is() -> None:
    G = gradients(0, count=1)
    assert_close(LRA().combine(G).update, G[0], rtol=1e-15)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"residual": ()}, "`residual` must name"),
        ({"rate": 0.0}, r"`rate`.*got 0.0"),
        ({"every": 0}, "`every` must be 1 step or more; got 0"),
        ({"gradient": "old"}, "got 'old'"),
        ({"statistic": "median"}, "got 'median'"),
    ],
)
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        LRA(**fields)


def test_residual_must_be_a_row() -> None:
    with pytest.raises(IncenterError, match="`residual` must name"):
        LRA(residual=(7,)).combine(gradients(0))


def test_state_must_fit() -> None:
    state = LRA().combine(gradients(0)).state
    with pytest.raises(IncenterError, match="`state` does not fit LRA"):
        LRA().combine(gradients(0, count=3), state=state)
