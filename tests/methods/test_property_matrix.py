"""Which rule keeps which promise: conflicts, scale and order of the losses, over 300 random cases with r* >= 0.01."""

from functools import cache

import numpy as np
import pytest

from incenter import chebyshev_center
from incenter.methods import Rule, by_name
from tests.matrices import Floats

CASES = 300
# rule: never conflicts, direction free of the losses' scale, update free of their order
PROMISES = {
    "sum": (False, False, True),
    "mgda": (True, False, True),
    "gapo": (True, True, True),
    "pcgrad": (False, False, False),
    "cagrad": (False, False, True),
    "imtl_g": (False, False, True),  # its sign depends on the scales
    "config": (True, True, True),
    "harmonic": (True, True, True),
    "nash_mtl": (True, True, True),
    "aligned_mtl": (False, False, True),
    "upgrad": (True, False, True),
    "chebyshev": (True, True, True),
    "dcgd_center": (False, False, False),  # with the first loss as one group and the others as the other
    "dcgd_average": (False, False, False),
    "dcgd_projection": (False, False, False),
    "lra": (False, False, False),  # at its first step
}
SAME = 1e-8  # between unit vectors; Newton's method of nash_mtl stops at 1e-9
RULES = pytest.mark.parametrize("name", PROMISES)


def rule_of(name: str) -> Rule:
    return by_name(name, order="fixed") if name == "pcgrad" else by_name(name)


@cache
def cases() -> list[Floats]:
    rng = np.random.default_rng(0)
    drawn: list[Floats] = [rng.normal(size=(3, 4)) for _ in range(10 * CASES)]
    return [G for G in drawn if chebyshev_center(G).radius >= 0.01][:CASES]


def unit(update: Floats) -> Floats:
    return np.asarray(update / np.linalg.norm(update))


def largest_change(rule: Rule, change: Floats | list[int]) -> float:
    """Of the direction, over the cases, where losses are scaled (floats) or exchanged (a list of rows)."""
    changed = [G[change] if isinstance(change, list) else G * change for G in cases()]
    pairs = zip(cases(), changed, strict=True)
    return max(float(np.linalg.norm(unit(rule.combine(a).update) - unit(rule.combine(b).update))) for a, b in pairs)


def test_there_are_enough_cases() -> None:
    assert len(cases()) == CASES


@RULES
def test_conflicts(name: str) -> None:
    conflicts = sum(rule_of(name).combine(G).radius < -1e-12 for G in cases())
    assert (conflicts == 0) is PROMISES[name][0], conflicts


@RULES
def test_scaling_the_losses(name: str) -> None:
    change = largest_change(rule_of(name), np.array([[1e-2], [3.0], [50.0]]))
    assert change <= SAME if PROMISES[name][1] else change > 0.1


@RULES
def test_exchanging_the_losses(name: str) -> None:
    change = largest_change(rule_of(name), [2, 0, 1])
    assert change <= SAME if PROMISES[name][2] else change > 0.1


def test_imtl_g_ignores_scale_but_for_its_sign() -> None:
    rule = by_name("imtl_g")
    for G in cases():
        a = unit(rule.combine(G).update)
        b = unit(rule.combine(G * np.array([[1e-2], [3.0], [50.0]])).update)
        assert min(np.linalg.norm(a - b), np.linalg.norm(a + b)) <= SAME


def test_chebyshev_is_config_where_every_loss_binds_and_deeper_elsewhere() -> None:
    for G in cases():
        center, config = chebyshev_center(G), by_name("config").combine(G)
        if center.active.all():
            np.testing.assert_allclose(unit(config.update), center.direction, atol=1e-9)
        else:
            assert config.radius < center.radius - 1e-12


def test_nash_bargains_are_equal() -> None:
    """a_i (K a)_i = 1, so the update has length sqrt(m) whatever the gradients."""
    for G in cases():
        out = by_name("nash_mtl").combine(G)
        weights = np.asarray(out.weights)
        np.testing.assert_allclose(weights * (G @ G.T @ weights), 1, rtol=1e-9)
        assert out.update @ out.update == pytest.approx(3, rel=1e-9)
