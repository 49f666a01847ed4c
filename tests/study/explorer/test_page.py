"""The page in a real browser: what a person does to a gradient, and the library's own numbers for it."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from selenium.webdriver.common.keys import Keys

from incenter.study.explorer.presets import PRESETS
from incenter.study.explorer.server import Explorer
from tests.browser import PHONE, look_at
from tests.study.explorer.hands import agrees, apart, choose, drag, gradients, handle, opens, press, shown, until, words

_FOCUSED = """
const one = document.activeElement;
return one.id || one.dataset.name || one.className.baseVal || one.type || one.tagName;"""
_RING = "return getComputedStyle(document.activeElement.querySelector('.focus')).stroke"
_BOX = "const box = picture.getBoundingClientRect(); return [box.x, box.y, box.width, box.height];"
_STRETCH = """
const slider = document.querySelectorAll("#lengths input")[2];
slider.value = 1;
slider.dispatchEvent(new Event("input", { bubbles: true }));"""
_NORM = "norm.value = arguments[0]; norm.dispatchEvent(new Event('change'));"


def test_it_opens_with_the_papers_example(page: Any) -> None:
    assert np.array_equal(gradients(page), np.array(PRESETS[0].gradients))
    assert agrees(page)
    assert shown(page)["binds"] == ["binds", "binds", "has room"]


@pytest.mark.parametrize("preset", PRESETS[1:], ids=lambda preset: preset.name)
def test_presets(page: Any, preset: Any) -> None:
    choose(page, preset.name)
    until(lambda: np.array_equal(gradients(page), np.array(preset.gradients)) and agrees(page))
    assert shown(page)["look"] == preset.look


def test_before_and_after_the_jump_are_seen_from_the_same_side(page: Any) -> None:
    choose(page, "harmonic_before")
    until(lambda: agrees(page) and shown(page)["radius"] != "0.707107")
    before = [handle(page, 1), handle(page, 2)]
    choose(page, "harmonic_after")
    until(lambda: np.array_equal(gradients(page), np.array(PRESETS[5].gradients)))
    until(lambda: apart(page, before[0], 1) < 0.5 and apart(page, before[1], 2) < 0.5)


def test_a_mouse_drags_a_gradient_and_every_number_follows(page: Any) -> None:
    before, seen = gradients(page), shown(page)
    start = handle(page, 0)
    drag(page, start, (-90, -30))
    until(lambda: not np.array_equal(gradients(page), before) and agrees(page))
    after = gradients(page)
    assert np.array_equal(after[1:], before[1:])
    assert np.linalg.norm(after[0]) == pytest.approx(5)
    assert shown(page)["radius"] != seen["radius"]
    until(lambda: apart(page, (start[0] - 90, start[1] - 30)) < 1.5)  # the tip stays under the pointer
    assert "Gradients of your own." in shown(page)["seen"]


def test_a_drag_beyond_the_sphere_stays_on_it(page: Any) -> None:
    drag(page, handle(page, 1), (-600, 0))
    until(lambda: agrees(page) and np.linalg.norm(gradients(page)[1]) == pytest.approx(3))


def test_the_background_turns_the_view_and_changes_no_number(page: Any) -> None:
    before, seen, start = gradients(page), shown(page), handle(page, 0)
    x, y, _, height = page.execute_script(_BOX)
    drag(page, (x + 20, y + height / 2), (120, 40))
    until(lambda: apart(page, start) > 20)
    assert np.array_equal(gradients(page), before)
    assert shown(page) == seen
    page.execute_script("home.click()")
    until(lambda: apart(page, start) < 0.5)


def test_everything_by_keyboard(page: Any) -> None:
    before = gradients(page)
    page.execute_script("picture.focus()")
    press(page, Keys.TAB)
    assert page.switch_to.active_element.get_attribute("aria-label").startswith("g1, binds. Arrow keys turn it")
    press(page, Keys.ARROW_LEFT, Keys.ARROW_UP, "+")
    until(lambda: agrees(page) and np.linalg.norm(gradients(page)[0]) == pytest.approx(5.5))
    turned = gradients(page)[0] / 5.5 @ before[0] / 5
    assert 1 < math.degrees(math.acos(turned)) < 4.1  # two keys of 2 degrees
    press(page, Keys.TAB, "-")
    until(lambda: agrees(page) and np.linalg.norm(gradients(page)[1]) == pytest.approx(3 / 1.1))
    assert page.execute_script(_RING) != "none"


def test_tab_reaches_every_control(page: Any) -> None:
    reached = set()
    page.execute_script("document.activeElement.blur()")
    for _ in range(60):
        press(page, Keys.TAB)
        reached.add(page.execute_script(_FOCUSED))
    assert {"toy", "stationary", "norm", "file", "picture", "home", "range", "checkbox", "SUMMARY"} <= reached
    assert any("handle" in each for each in reached)


def test_pushing_a_gradient_round_the_sphere(page: Any) -> None:
    before = gradients(page)[0]
    page.execute_script("document.querySelector('.handle').focus()")
    least = 1.0
    for _ in range(95):  # 190 degrees: over the horizon and behind
        press(page, Keys.ARROW_RIGHT)
        least = min(least, float(gradients(page)[0] @ before) / 25)
    until(lambda: agrees(page))
    assert least < -0.3


@pytest.fixture
def fingers(page: Any) -> Iterator[None]:
    page.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    yield
    page.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


@pytest.mark.usefixtures("fingers")
def test_a_finger_drags_and_two_zoom(page: Any, server: Explorer) -> None:
    look_at(page, PHONE)
    page.get(server.url)
    opens(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        places = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
        page.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    before, (x, y) = gradients(page), handle(page, 0)
    touch("touchStart", (x, y))
    for step in range(1, 6):
        touch("touchMove", (x - 8 * step, y - 3 * step))
    touch("touchEnd")
    until(lambda: not np.array_equal(gradients(page), before) and agrees(page))
    until(lambda: apart(page, (x - 40, y - 15)) < 1.5)
    assert page.execute_script("return scrollY") == 0

    between, (x, y, width, height) = apart(page, handle(page, 1)), page.execute_script(_BOX)
    middle, low = x + width / 2, y + height - 40
    touch("touchStart", (middle - 20, low), (middle + 20, low))
    touch("touchMove", (middle - 40, low), (middle + 40, low))
    touch("touchEnd")
    until(lambda: apart(page, handle(page, 1)) > 1.5 * between)


def test_lengths_and_norms(page: Any) -> None:
    page.execute_script(_STRETCH)
    until(lambda: np.linalg.norm(gradients(page)[2]) == pytest.approx(10) and agrees(page))


@pytest.mark.parametrize("p", ["1.5", "3", "inf"])
def test_another_norm(page: Any, p: str) -> None:
    page.execute_script(_NORM, p)
    until(lambda: agrees(page, float(p)))


def test_a_rule_is_hidden_by_its_box(page: Any) -> None:
    assert "HARMONIC" in words(page)
    page.execute_script("document.querySelector('[data-method=harmonic] input').click()")
    until(lambda: "HARMONIC" not in words(page))
