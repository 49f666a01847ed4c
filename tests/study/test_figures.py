"""Pictures of made-up runs: what is drawn is what the runs are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incenter.study.figures import (
    coefficient_figure,
    cost_figure,
    curves_figure,
    draw,
    figures,
    reconstructed,
    true_coefficient,
)
from incenter.study.layout import lay_out
from incenter.study.quantities import SECONDS
from incenter.study.row_figures import solution_of, training_of
from incenter.study.rows import Row
from incenter.study.tables import table
from tests.study.made_rows import made_row

STEPS = np.arange(1, 101) * 10


def recorded(method: str, seed: int, **more: Any) -> Row:
    """The error is 1 / step times the seed's number, and was measured at every fifth record."""
    error = np.where(np.arange(100) % 5 == 4, (seed + 1) / STEPS, np.nan)
    history = {"step": STEPS, "error": error, "radius": np.full(100, 0.1 * (seed + 1))}
    return made_row("burgers", method, seed, arrays={"history": history}, **more)


def recovered(method: str, off: float) -> Row:
    """A coefficient that is wrong by `off` x everywhere."""
    x = np.linspace(-1, 1, 65)
    learnt = true_coefficient(x, x) + off * x[:, None]
    fields = {"axis/x": x, "axis/y": x, "axis/t": np.ones(4), "a": np.repeat(learnt[..., None], 4, axis=-1)}
    return made_row("inverse_heat", method, arrays={"fields": fields})


def test_a_curve_is_the_median_of_the_seeds() -> None:
    layout = lay_out(recorded("chebyshev", seed) for seed in range(3))
    error, radius = curves_figure(layout, layout.columns[0]).axes
    steps, values = (np.asarray(each, dtype=float) for each in error.lines[0].get_data())
    assert (steps[0], steps[-1]) == (50, 1000)
    assert values[[0, -1]] == pytest.approx(2 / steps[[0, -1]], rel=1e-9)
    assert np.asarray(radius.lines[0].get_ydata()) == pytest.approx(0.2, abs=1e-12)
    assert error.get_yscale() == "log"


def test_a_long_noisy_record_is_drawn_by_medians() -> None:
    """One record in ten is far off: no curve shows it."""
    step = np.arange(1.0, 5001)
    history = {"step": step, "radius": np.where(step % 10 == 0, -1.0, 0.5)}
    layout = lay_out([made_row(arrays={"history": history})])
    _, radius = curves_figure(layout, layout.columns[0]).axes
    assert np.asarray(radius.lines[0].get_ydata()) == pytest.approx(0.5, abs=1e-12)


def test_bars_are_the_cells_of_the_table() -> None:
    rows = [
        made_row("burgers", method, seed, seconds=10.0 * (seed + 1)) for method in ("sum", "mgda") for seed in (0, 1)
    ]
    axes = cost_figure(table(rows, SECONDS)).axes[0]
    assert [patch.get_width() for patch in axes.patches] == [15.0, 15.0]  # type: ignore[attr-defined]
    paper = next(line for line in axes.lines if str(line.get_label()).startswith("the paper"))
    assert [*np.asarray(paper.get_xdata())] == [293.77, 616.87]


def test_the_coefficient_is_drawn_upright_and_its_error_below() -> None:
    layout = lay_out([recovered("chebyshev", 0.01), recovered("mgda", 1.0), recovered("adam", 3.0)])
    chosen = reconstructed(layout, layout.columns[0])
    assert [line.title for line, _ in chosen] == ["Adam", "Chebyshev"]
    figure = coefficient_figure("made", chosen)
    truth, adam, ours, _, first, second = (axes.images[0] if axes.images else None for axes in figure.axes[:6])
    assert truth is not None
    assert adam is not None
    assert ours is not None
    assert adam.get_clim() == ours.get_clim() == truth.get_clim() == pytest.approx((1.0, 3.0), abs=1e-9)
    assert np.asarray(ours.get_array())[-1, 0] == pytest.approx(2 - 0.01, abs=1e-12)  # upper left: x = -1 and y = 1
    for image, off in ((first, 3.0), (second, 0.01)):
        assert image is not None
        wanted = np.broadcast_to(off * np.abs(np.linspace(-1, 1, 65)), (65, 65))
        assert np.asarray(image.get_array()) == pytest.approx(wanted, abs=1e-12)


def test_the_true_coefficient_is_the_problems() -> None:
    pytest.importorskip("jax")
    from incenter.pinn.problems.inverse_heat import a_exact

    x, y = np.linspace(-1, 1, 7), np.linspace(-1, 1, 5)
    assert true_coefficient(x, y) == pytest.approx(a_exact(*np.meshgrid(x, y, indexing="ij")), abs=1e-12)


def test_all_that_the_runs_can_give_is_drawn(tmp_path: Path) -> None:
    rows = [
        recorded("sum", 0),
        recorded("chebyshev", 0),
        recovered("sum", 1.0),
        made_row("helmholtz", status="running"),
    ]
    names = [name for name, _ in figures(rows)]
    standard = "inverse-heat-standard"
    assert names == [
        "curves-burgers",
        f"solution-{standard}",
        "seconds",
        "ms-per-step",
        f"coefficient-{standard}",
        "geometry",
    ]
    assert [path.name for path in draw(rows[:2], tmp_path, "svg")] == [
        "curves-burgers.svg",
        "seconds.svg",
        "ms-per-step.svg",
        "geometry.svg",
    ]
    assert all(path.read_text().startswith("<?xml") for path in tmp_path.iterdir())
    assert list(figures([made_row(status="waiting")])) == []


def test_a_run_of_the_store_is_drawn_as_one_of_a_folder() -> None:
    """Losses and weights over the steps; the outputs that have a reference beside it, at the times of the fields."""
    draw = np.random.default_rng(0).random((2, 100, 3))
    history = {
        "step": STEPS,
        "losses": draw[0],
        "weights": draw[1],
        "names": np.array(["residual", "boundary", "initial"]),
    }
    x, t = np.linspace(-1, 1, 64), np.linspace(0, 1, 64)
    u = x[:, None] * t
    fields = {"axis/x": x, "axis/t": t, "u": u, "q": u, "reference/u": u + 0.5}
    row = made_row("burgers", arrays={"history": history, "fields": fields})
    training, solution = training_of(row), solution_of(row)
    assert training is not None
    assert [text.get_text() for text in training.legends[0].get_texts()] == ["residual", "boundary", "initial"]
    assert solution is not None
    titles = " ".join(axes.get_title() for axes in solution.axes)
    assert "u" in titles
    assert "q" not in titles
    assert training_of(made_row()) is None
    assert solution_of(made_row()) is None
    assert [name for name, _ in figures([row])][:3] == ["curves-burgers", "training-burgers", "solution-burgers"]
