"""References: a function on a grid or at points, or numbers; made when asked for."""

# ruff: noqa: ARG005  (functions are called by the names of their parameters, used or not)
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from incenter import IncenterError
from incenter.pinn import Box, Disc, Reference

DOMAIN = Box(x=(-1, 1), t=(0, 2))


def wave(x: Any, t: Any) -> Any:
    return np.sin(x) * t


def test_a_grid_has_its_ends_and_its_first_axis_outermost() -> None:
    reference = Reference(wave, t=3, x=5).on(DOMAIN, ("u",))
    x, t = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(0, 2, 3), indexing="ij")
    np.testing.assert_array_equal(reference.points, np.stack([x.ravel(), t.ravel()], axis=1))
    np.testing.assert_array_equal(reference.values[:, 0], (np.sin(x) * t).ravel())
    assert reference.outputs == ("u",)


def test_a_function_of_jax_arrays_is_called_on_numbers_even_while_a_program_is_traced() -> None:
    reference = Reference(lambda x, t: jnp.sin(x + 1) * t, x=5, t=3).on(DOMAIN, ("u",))
    total = jax.jit(lambda: jnp.sum(jnp.asarray(reference.values)))()
    assert float(total) == pytest.approx(
        np.sum(Reference(lambda x, t: np.sin(x + 1) * t, x=5, t=3).on(DOMAIN, ("u",)).values), rel=1e-6
    )
    assert isinstance(reference.values, np.ndarray)


def test_a_grid_keeps_to_the_domain() -> None:
    domain = Box(x=(-1, 1), y=(-1, 1)) - Disc((0, 0), 0.5)
    points = Reference(lambda x, y: x + y + 3, x=21, y=21).on(domain, ("u",)).points
    assert np.all(np.hypot(*points.T) > 0.5)
    assert 0.75 < len(points) / 21**2 < 0.85


def test_one_point_along_an_axis_is_its_start() -> None:
    points = Reference(lambda x, t: x + t + 9, x=4, t=1).on(DOMAIN, ("u",)).points
    assert points.shape == (4, 2)
    assert np.all(points[:, 1] == 0)


def test_the_three_forms_agree() -> None:
    on_grid = Reference(wave, x=5, t=3).on(DOMAIN, ("u",))
    at_points = Reference(wave, points=on_grid.points).on(DOMAIN, ("u",))
    as_numbers = Reference(points=on_grid.points, values=on_grid.values[:, 0]).on(DOMAIN, ("u",))
    np.testing.assert_array_equal(at_points.values, on_grid.values)
    np.testing.assert_array_equal(as_numbers.values, on_grid.values)


def test_several_outputs_come_as_columns_or_as_a_tuple() -> None:
    outputs = ("u", "v", "p")
    columns = Reference(lambda x, t: np.stack([x, t, x * t], axis=1), x=4, t=3).on(DOMAIN, outputs)
    separate = Reference(lambda x, t: (x, t, x * t), x=4, t=3).on(DOMAIN, outputs)
    np.testing.assert_array_equal(separate.values, columns.values)
    assert separate.values.shape == (12, 3)
    constant = Reference(lambda x, t: (x, 1.0), x=4, t=3, outputs=("p", "v")).on(DOMAIN, outputs)
    assert constant.outputs == ("p", "v")
    assert np.all(constant.values[:, 1] == 1)


def test_the_function_is_called_once_and_only_when_asked() -> None:
    calls = []

    def costly(x: Any, t: Any) -> Any:
        calls.append(1)
        return x + t

    reference = Reference(costly, x=4, t=3).on(DOMAIN, ("u",))
    assert reference.points.shape == (12, 2)
    assert not calls
    assert reference.values is reference.values
    assert len(calls) == 1


POINTS = np.zeros((3, 2))
BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: Reference(), "needs a function or values, one of them"),
    (lambda: Reference(wave, values=[1.0]), "needs a function or values, one of them"),
    (lambda: Reference(values=[1.0]), "A Reference with values needs their points"),
    (lambda: Reference(np.ones(3), x=3), "starts with a function of the axes; got ndarray"),  # type: ignore[arg-type]
    (lambda: Reference(wave, points=POINTS, x=3), "has points or a grid; got points and x; leave one out."),
    (lambda: Reference(wave, x=0, t=3), "a whole number of points along x, at least 1; got 0."),
    (lambda: Reference(wave, x=2.0, t=3), "a whole number of points along x, at least 1; got 2.0."),  # type: ignore[arg-type]
    (lambda: Reference(points=POINTS, values=np.ones((4, 1))), "have shape (4, 1) and its points are 3"),
    (lambda: Reference(points=POINTS, values=[1, 2, np.nan]), "must be finite, and entry (2,) is nan"),
    (
        lambda: Reference(wave, x=256).on(DOMAIN, ("u",)),
        "has a grid along x, and the domain has the axes x, t; write Reference(f, x=256, t=100).",
    ),
    (lambda: Reference(wave).on(DOMAIN, ("u",)), "has a grid along no axis"),
    (lambda: Reference(wave, x=9, y=9, t=9).on(DOMAIN, ("u",)), "has a grid along x, y, t, and the domain"),
    (
        lambda: Reference(lambda x, y: x, x=9, t=9).on(DOMAIN, ("u",)),
        "takes (x, y), and is called with the axes by name; write its parameters as (x, t).",
    ),
    (
        lambda: Reference(points=np.ones((3, 3)), values=[1, 1, 1]).on(DOMAIN, ("u",)),
        "have 3 columns, and the domain has the axes x, t",
    ),
    (
        lambda: Reference(points=POINTS + 5, values=[1, 1, 1]).on(DOMAIN, ("u",)),
        "3 of the 3 points of Reference lie outside",
    ),
    (
        lambda: Reference(points=POINTS, values=np.ones((3, 2))).on(DOMAIN, ("u",)),
        "has 2 values per point for 1 outputs (u)",
    ),
    (
        lambda: Reference(wave, x=4, t=3, outputs=("w",)).on(DOMAIN, ("u", "v")),
        "is of 'w', which is no output; the outputs are u, v.",
    ),
    (
        lambda: Reference(wave, x=4, t=3, outputs=()).on(DOMAIN, ("u", "v")),
        "must be different outputs, at least one; got ().",
    ),
    (lambda: Reference(wave, x=4, t=3).on(DOMAIN, ("u", "v")).values, "has 1 values per point for 2 outputs (u, v)"),
    (
        lambda: Reference(lambda x, t: x[:3], x=4, t=3).on(DOMAIN, ("u",)).values,
        "have shape (3,) and its points are 12",
    ),
    (
        lambda: Reference(lambda x, t: 1 / t, x=4, t=3).on(DOMAIN, ("u",)).values,
        "must be finite, and entry (0,) is inf",
    ),
    (
        lambda: Reference(lambda x, t: 0 * t, x=4, t=3).on(DOMAIN, ("u",)).values,
        "is zero everywhere, so no error is relative to it",
    ),
]


@pytest.mark.parametrize(("make", "sentence"), BAD)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_mistakes_are_told_in_one_sentence(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(IncenterError, match=re.escape(sentence)) as caught:
        make()
    assert "\n" not in str(caught.value)
