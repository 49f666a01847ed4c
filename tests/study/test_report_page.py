"""The report as a person sees and uses it, in a browser: by mouse, touch and keyboard, on a desk and a phone."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incenter.study.report import page
from incenter.study.selection import chosen
from tests.browser import DESKTOP, PHONE, Scheme, browser, complaints, look_at
from tests.study.made_study import ERRORS, made_study

A4 = (794, 1123)  # of paper, in CSS pixels
# Everything that the page asks for, and what it did not get.
_FETCHED = "return performance.getEntriesByType('resource').map(each => each.name)"
_VALUES = """
return Object.fromEntries([...document.querySelectorAll('#methods li')].map(
    each => [each.querySelector('span').textContent, each.querySelector('output').value]))
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report") / "report.html"
    made.write_text(page(made_study(), "made", ["made"]), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile") / "profile") as opened:
        yield opened


@pytest.fixture
def opened(window: Any, path: Path) -> Iterator[Any]:
    look_at(window, DESKTOP)
    window.get(path.as_uri())
    yield window
    assert complaints(window) == []
    assert [name for name in window.execute_script(_FETCHED) if not name.startswith("data:")] == []
    assert not window.title.startswith("taken")


def choose(opened: Any, name: str, text: str) -> None:
    from selenium.webdriver.support.select import Select

    Select(opened.find_element("css selector", f"select[name={name}]")).select_by_visible_text(text)


def drawn(opened: Any) -> list[str]:
    return [each.get_attribute("d") for each in opened.find_elements("css selector", "#plot .curve")]


def at(opened: Any) -> int:
    return int(opened.find_element("id", "plot").get_attribute("aria-valuenow"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desk", "phone"])
def test_it_fits_and_can_be_read(opened: Any, path: Path, size: tuple[int, int], scheme: Scheme) -> None:
    look_at(opened, size, scheme)
    opened.get(path.as_uri())
    assert opened.execute_script("return document.documentElement.scrollWidth") <= size[0]
    ground, ink = opened.execute_script(
        "const style = getComputedStyle(document.body); return [style.backgroundColor, style.color]"
    )
    assert (luminance(ground) < 0.05) == (scheme == "dark")
    for quiet in (ink, opened.execute_script("return getComputedStyle(document.querySelector('.quiet')).color")):
        assert contrast(ground, quiet) > 4.5
    for unfolded in ("details", "#chart"):
        opened.execute_script(f"for (const each of document.querySelectorAll('{unfolded}')) each.open = true")
    assert opened.execute_script("return document.documentElement.scrollWidth") <= size[0]
    images = opened.execute_script("return [...document.images].map(each => [each.complete, each.naturalWidth])")
    assert images
    assert all(complete and width > 300 for complete, width in images)


def test_the_tables_hold_the_numbers_of_the_tables(opened: Any) -> None:
    for table in chosen(made_study()):
        cells = opened.execute_script(
            "return [...document.querySelectorAll(`#table-${arguments[0]} tbody tr`)]"
            ".map(line => [...line.cells].map(cell => cell.textContent.trim()))",
            table.name,
        )
        assert cells == [[line.title, *(entry.text for entry in line.entries)] for line in table.grid().lines]


def test_a_number_opens_its_command_and_leads_to_its_runs(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    number = opened.find_element("css selector", "#table-errors .best")
    number.send_keys(Keys.ENTER)
    made = opened.find_element("css selector", ".made:popover-open")
    assert "incenter train helmholtz --method chebyshev" in made.find_element("css selector", "code").text
    assert "error 0.05" in made.text
    made.find_element("css selector", ".copy").click()
    assert opened.execute_script("return getSelection().toString()").startswith("incenter train helmholtz")
    made.find_element("css selector", "a").click()
    assert opened.find_elements("css selector", ".made:popover-open") == []
    runs = opened.find_element("css selector", ".runs[open]")
    assert "Chebyshev on Helmholtz" in runs.text


def test_the_curves_are_read_with_the_mouse(opened: Any) -> None:
    from selenium.webdriver import ActionChains

    plot = opened.find_element("id", "plot")
    assert at(opened) == 50_000
    assert opened.execute_script(_VALUES) == {"Adam": "0.21", "PCGrad": "0.105", "Chebyshev": "0.0525"}
    ActionChains(opened).move_to_element(plot).perform()
    middle = at(opened)
    assert 20_000 < middle < 30_000
    expected = ERRORS["chebyshev"] * 1.05 * (10 - 9 * (middle - 500) / 49_500)
    assert float(opened.execute_script(_VALUES)["Chebyshev"]) == pytest.approx(expected, rel=0.02)
    assert f"{middle:,}" in opened.find_element("id", "position").text
    assert len(opened.find_elements("css selector", "#plot circle")) == 3


def test_the_curves_are_read_with_the_keyboard(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    plot = opened.find_element("id", "plot")
    plot.send_keys(Keys.HOME)
    assert at(opened) == 500
    plot.send_keys(Keys.ARROW_RIGHT)
    assert at(opened) == pytest.approx(500 + 49_500 / 124, abs=1)
    plot.send_keys(Keys.PAGE_UP, Keys.PAGE_DOWN, Keys.ARROW_LEFT)
    assert at(opened) == 500
    assert "Chebyshev 0.525" in plot.get_attribute("aria-valuetext")
    plot.send_keys(Keys.END)
    assert at(opened) == 50_000
    box = opened.find_element("css selector", "#methods input")
    box.send_keys(Keys.SPACE)
    assert len(drawn(opened)) == 2


def test_the_curves_are_read_by_touch(opened: Any, path: Path) -> None:
    look_at(opened, PHONE)
    opened.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    opened.get(path.as_uri())
    place = opened.execute_script(
        "const plot = document.getElementById('plot'); plot.scrollIntoView({block: 'center'});"
        "const {left, top, width, height} = plot.getBoundingClientRect(); return [left + width / 2, top + height / 2]"
    )
    touch = {"x": place[0], "y": place[1]}
    opened.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [touch]})
    first = at(opened)
    assert 15_000 < first < 35_000
    moved = {"x": place[0] + 60, "y": place[1]}
    opened.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [moved]})
    opened.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    opened.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert at(opened) > first + 4_000


def test_problem_quantity_methods_and_axis_are_chosen(opened: Any) -> None:
    before = drawn(opened)
    assert len(before) == 3
    box = opened.find_element("css selector", "input[name=log]")
    assert box.is_selected()  # errors are drawn on a logarithmic axis
    box.click()
    assert drawn(opened) != before
    box.click()
    assert drawn(opened) == before

    choose(opened, "problem", "Burgers")
    choose(opened, "quantity", "weight: initial")
    assert len(drawn(opened)) == 2
    assert opened.execute_script(_VALUES) == {"Adam": "1", "PCGrad": "not recorded", "Chebyshev": "1"}
    choose(opened, "problem", "Helmholtz")  # which has no such loss
    assert opened.execute_script(_VALUES)["Adam"] == "0.21"

    opened.find_element("css selector", "button[name=none]").click()
    assert drawn(opened) == []
    assert "No method is chosen" in opened.find_element("css selector", "#plot text").text
    opened.find_element("css selector", "button[name=all]").click()
    assert len(drawn(opened)) == 3


def test_what_is_below_0_has_no_place_on_a_logarithmic_axis(opened: Any) -> None:
    choose(opened, "quantity", "least cosine of update and gradients")
    assert not opened.find_element("css selector", "input[name=log]").is_selected()
    assert opened.find_element("id", "note").text == ""
    opened.find_element("css selector", "input[name=log]").click()
    assert "breaks off" in opened.find_element("id", "note").text
    assert not any("NaN" in path or "Infinity" in path for path in drawn(opened))


def test_failures_are_unfolded(opened: Any) -> None:
    failures = opened.find_element("id", "failures")
    failures.find_element("css selector", "summary").click()
    assert "Traceback (most recent call last)" in failures.find_element("css selector", "pre").text


def test_it_is_printed_unfolded(opened: Any) -> None:
    folded = "return document.querySelectorAll('details:not([open])').length"
    before = opened.execute_script(folded)
    assert before > 0
    opened.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert opened.execute_script(folded) == 0
    look_at(opened, A4)
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert opened.execute_script("return document.documentElement.scrollWidth") <= A4[0]  # and nothing is cut off
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    opened.execute_script("dispatchEvent(new Event('afterprint'))")
    assert opened.execute_script(folded) == before


def luminance(color: str) -> float:
    parts = [int(each) / 255 for each in re.findall(r"\d+", color)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    light, dark = sorted(map(luminance, (first, second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
