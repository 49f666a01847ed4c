"""Sum and mean, with and without weights."""

from typing import Any

import numpy as np
import pytest

from incenter import IncenterError
from incenter.methods import by_name
from incenter.methods.sum import Sum
from tests.methods.behaviour import BEHAVIOUR, CONFLICT, PAIR, TOY, Case, assert_close, gradients


@BEHAVIOUR
def test_behaviour_with_weights(behaves: Any) -> None:
    behaves(Case(Sum(loss_weights=(1, 2, 0, 4), reduction="mean")))


@pytest.mark.parametrize(
    ("G", "expected"),
    [(TOY, (5.2, 3.93333333, 0.29814240)), (CONFLICT, (1.5, 0, 2, 2)), (PAIR, (2, 2))],
)
def test_vectors(G: np.ndarray, expected: tuple[float, ...]) -> None:
    assert_close(Sum().combine(G).update, expected, atol=5e-9)


def test_mean_is_the_weighted_mean() -> None:
    G, w = gradients(0), np.array([1.0, 2.0, 0.0, 5.0])
    out = Sum(loss_weights=tuple(w), reduction="mean").combine(G)
    assert_close(out.update, np.average(G, axis=0, weights=w), rtol=1e-13)


def test_a_zero_row_does_not_change_the_mean_of_all() -> None:
    G = np.vstack([gradients(0), np.zeros(7)])
    assert_close(Sum(reduction="mean").combine(G).update, G.mean(axis=0), rtol=1e-13)


def test_radius_is_negative_where_a_loss_would_grow() -> None:
    assert Sum().combine(np.array([[10.0, 0.0], [-1.0, 1.0]])).radius < 0


def test_adam_is_an_alias() -> None:
    assert by_name("adam") == Sum()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"reduction": "median"}, '`reduction` must be "sum" or "mean"'),
        ({"loss_weights": (1.0, -1.0)}, "must be finite, not negative"),
        ({"loss_weights": (0.0, 0.0)}, "not all zero"),
    ],
)
def test_fields_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IncenterError, match=message):
        Sum(**fields)


def test_weights_must_match_the_rows() -> None:
    with pytest.raises(IncenterError, match="has 2 entries, but G has 4 rows"):
        Sum(loss_weights=(1.0, 1.0)).combine(gradients(0))
