"""NTK weighting: printed vectors of all measures, schedule, unusable traces."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError, Status
from incenter.methods.ntk import NTK
from tests.methods.behaviour import BEHAVIOUR, TOY, Case, assert_close, assert_equal, gradients

LOSSES = np.array([1.0, 2.0, 4.0])


@BEHAVIOUR
@pytest.mark.parametrize(
    "case",
    [
        Case(NTK(measure="proxy_traces", every=1), losses=True),
        Case(NTK(measure="sqrt_loss", every=2, rate=0.3), losses=True),
        Case(NTK(measure="grad_norm", normalise="mean", every=1, rate=0.1)),
    ],
    ids=lambda case: case.rule.measure,
)
def test_behaviour(behaves: Any, case: Case) -> None:
    behaves(case)


@pytest.mark.parametrize(
    ("rule", "inputs", "expected"),
    [
        (NTK(), {"traces": (8, 1, 1)}, (1.25, 10, 10)),
        (NTK(normalise="mean"), {"traces": (8, 1, 1)}, (0.41666667, 3.33333333, 3.33333333)),
        (NTK(measure="grad_norm", normalise="mean"), {}, (0.6, 1, 3)),
        (NTK(measure="proxy_traces"), {"losses": LOSSES}, (1.19, 6.61111111, 119)),
        (NTK(measure="sqrt_loss"), {"losses": LOSSES}, np.sum(s := np.array([5, 3, 1]) / LOSSES**0.5) / s),
    ],
)
def test_vectors(rule: NTK, inputs: dict[str, Any], expected: tuple[float, ...]) -> None:
    assert_close(rule.combine(TOY, **inputs).weights, expected, rtol=1e-8)


def test_inverse_weights_sum_to_one() -> None:
    weights = NTK().combine(gradients(0), traces=[3.0, 1e6, 1e-4, 2.0]).weights
    assert_close(np.sum(1 / np.asarray(weights)), 1.0, rtol=1e-12)


def test_weights_are_kept_between_renewals_and_without_traces() -> None:
    rule = NTK(every=2)
    out = rule.combine(TOY, traces=(8, 1, 1))
    for inputs in ({"traces": (1, 1, 1)}, {}):
        out = rule.combine(TOY, state=out.state, **inputs)
        assert_close(out.weights, (1.25, 10, 10), rtol=1e-12)
    rule.combine(TOY, state=out.state)


def test_running_average_starts_from_one() -> None:
    out = NTK(rate=0.1).combine(TOY, traces=(8, 1, 1))
    assert_close(out.weights, 0.9 + 0.1 * np.array([1.25, 10, 10]), rtol=1e-12)


def test_a_vanishing_trace_bounds_the_weight() -> None:
    weights = NTK(floor=1e-6).combine(TOY, traces=(1.0, 1.0, 0.0)).weights
    assert_close(weights, (2, 2, 2e6), rtol=1e-5)


def test_from_a_gram_matrix() -> None:
    weights = NTK().weights(TOY @ TOY.T, traces=(8, 1, 1)).weights
    assert_close(weights, (1.25, 10, 10), rtol=1e-12)


@pytest.mark.parametrize(("rule", "name"), [(NTK(), "traces"), (NTK(measure="sqrt_loss"), "losses")])
def test_missing_or_wrong_inputs_are_said(rule: NTK, name: str) -> None:
    with pytest.raises(IncenterError, match=f"needs `{name}`; pass {name}="):
        rule.combine(TOY)
    with pytest.raises(IncenterError, match=f"`{name}` must hold one number per row"):
        rule.combine(TOY, **{name: (1.0, 2.0)})
    with pytest.raises(IncenterError, match=f"needs `{name}` that are not negative; got -1"):
        rule.combine(TOY, **{name: (1.0, 2.0, -1.0)})


@pytest.mark.parametrize("convert", [np.asarray, jnp.asarray])
def test_unusable_traces_leave_the_state(convert: Any) -> None:
    state = NTK().combine(convert(TOY), traces=(8, 1, 1)).state
    out = NTK().combine(convert(TOY), traces=(8, np.nan, 1), state=state)
    assert out.status == Status.NONFINITE
    assert not np.asarray(out.update).any()
    assert_equal(out.state.weights, state.weights)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"measure": "trace"}, "`measure` must be one of traces"),
        ({"normalise": "max"}, "got 'max'"),
        ({"rate": 2.0}, "got 2.0"),
        ({"every": 0}, "got 0"),
        ({"floor": 0.0}, "`floor` must be in"),
    ],
)
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        NTK(**fields)
