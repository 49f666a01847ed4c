"""The curves of a run: what is drawn, in every odd case, and that it can be read."""

import dataclasses

import numpy as np
import pytest

from incenter.study.training_figure import Curves, training_figure
from tests.study.readable import assert_readable


def curves(m: int = 3, records: int = 600, every: int = 50) -> Curves:
    source = np.random.default_rng(0)
    step = np.arange(1, records + 1) * every
    noise = np.exp(0.4 * source.normal(size=(records, m)))
    radius = 0.6 * np.exp(-step / step[-1])
    error = np.where(np.arange(records) % 10 == 0, 0.05 + np.exp(-step / step[-1]), np.nan)
    names = tuple(f"momentum {k}" for k in range(m))
    return Curves("burgers, chebyshev, seed 0", names, step, noise * 1e-3, 1 / noise, 0.9 * radius, radius, error)


@pytest.mark.parametrize("m", [2, 3, 8, 16])
@pytest.mark.parametrize("records", [1, 2, 600])
def test_it_can_be_read(m: int, records: int) -> None:
    assert_readable(training_figure(curves(m, records)))


@pytest.mark.parametrize("steps", [7, 20_000, 50_000, 999_999, 123_456_789])
def test_steps_of_every_length_can_be_read(steps: int) -> None:
    records = min(500, steps)
    assert_readable(training_figure(curves(records=records, every=steps // records)))


def test_every_loss_has_its_curve_in_its_own_colour_and_line() -> None:
    figure = training_figure(curves(16))
    lines = figure.axes[0].lines
    assert [line.get_label() for line in lines] == [f"momentum {k}" for k in range(16)]
    assert (
        len({(str(line.get_color()), str(line.get_linestyle()), str(vars(line)["_dash_pattern"])) for line in lines})
        == 16
    )
    assert [text.get_text() for text in figure.legends[0].texts] == [f"momentum {k}" for k in range(16)]


def test_a_curve_is_the_median_of_stretches_and_spans_all_steps() -> None:
    run = curves(2, 4800)
    line = training_figure(run).axes[0].lines[1]
    drawn = np.asarray(line.get_xydata())
    stretches = 4800 // 39
    assert len(drawn) == stretches + 1
    assert drawn[:-1, 0].tolist() == run.step[: 39 * stretches].reshape(-1, 39).mean(axis=1).tolist()
    losses = run.losses[: 39 * stretches, 1].reshape(-1, 39)
    assert drawn[:-1, 1].tolist() == np.median(losses, axis=1).tolist()


def test_what_was_not_measured_is_said() -> None:
    run = curves()
    nothing = np.full_like(run.radius, np.nan)
    figure = training_figure(
        dataclasses.replace(
            run, error=nothing, radius=nothing, best_radius=nothing, weights=np.full_like(run.weights, np.nan)
        )
    )
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert words == [
        "not measured: the problem has no reference", "not recorded", "this method's update is no weighted sum"
    ]  # fmt: skip
    assert_readable(figure)


def test_weights_and_cosines_below_zero_are_shown() -> None:
    run = curves()
    figure = training_figure(dataclasses.replace(run, weights=run.weights * [1, -1, 0], radius=run.radius - 0.5))
    radius, weights = figure.axes[2:4]
    assert radius.get_ylim()[0] < (run.radius - 0.5).min()
    assert weights.get_yscale() == "symlog"
    assert weights.get_ylim()[0] < -1
    assert_readable(figure)


def test_weights_of_losses_that_do_not_bind_leave_a_gap_on_the_logarithmic_axis() -> None:
    run = curves()
    figure = training_figure(dataclasses.replace(run, weights=run.weights * [1, 1, 0]))
    assert figure.axes[3].get_yscale() == "log"
    assert len(figure.axes[3].lines) == 2
