"""The page in a real browser: what a person does to a gradient, and the library's own numbers for it."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incenter
from incenter.study.explorer.page import saved_page
from incenter.study.explorer.presets import PRESETS
from incenter.study.explorer.server import Explorer
from tests.browser import DESKTOP, PHONE, browser, complaints, look_at

PATIENCE = 10.0  # seconds


@pytest.fixture(scope="module")
def server() -> Iterator[Explorer]:
    with Explorer() as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield served
        served.shutdown()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


@pytest.fixture
def page(opened: Any, server: Explorer) -> Iterator[Any]:
    server.held.clear()
    look_at(opened)
    opened.get(server.url)
    until(lambda: shown(opened)["radius"] == "0.707107")
    complaints(opened)
    yield opened
    assert complaints(opened) == []


def until(met: Callable[[], Any]) -> None:
    """Wait for something that the page does in its own time."""
    end = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < end, "the page never came to show it"
        time.sleep(0.02)


def choose(page: Any, name: str) -> None:
    page.execute_script("document.querySelector(`#presets [data-name='${arguments[0]}']`).click()", name)


def shown(page: Any) -> dict[str, Any]:
    """What a person reads: r*, status, who binds, and each rule's cosines; with the gradients it gives in Python."""
    found: dict[str, Any] = page.execute_script(
        """const text = (where, what) => where.querySelector(what)?.textContent.replaceAll("−", "-");
        const rows = [...document.querySelectorAll("#methods li")];
        return {
          radius: text(document, "#value"), status: text(document, "#status"),
          binds: [...document.querySelectorAll("#binding li")].map((each) => text(each, "b")),
          least: Object.fromEntries(rows.map((row) => [row.dataset.method, text(row, ".least")])),
          cosines: Object.fromEntries(rows.map((row) =>
            [row.dataset.method, [...row.querySelectorAll(".cosines span:not(.state)")].map((each) => each.textContent.replaceAll("−", "-"))])),
          python: text(document, "#python code"), look: text(document, "#look"), seen: text(document, "#seen"), trouble: text(document, "#trouble"),
        };"""
    )
    return found


def gradients(page: Any) -> Any:
    lines = shown(page)["python"].split("\nprint")[0].removeprefix("import numpy as np, incenter\n")
    names: dict[str, Any] = {"np": np}
    exec(lines, names)
    return names["G"]


def agrees(page: Any, p: float = 2.0) -> bool:
    """Whether every number on the page is the library's for the gradients that the page says it has."""
    G, seen = gradients(page), shown(page)
    centre = incenter.chebyshev_center(G, p)
    unit = G / np.linalg.norm(G, axis=1, keepdims=True)
    same = [
        seen["radius"] == f"{centre.radius:.6f}",
        seen["binds"] == ["binds" if active else "has room" for active in centre.active],
    ]
    for method, cosines in seen["cosines"].items():
        fields = {"p": p} if method == "chebyshev" else {}
        update = incenter.methods.by_name(method, **fields).combine(G, key=0).update
        length = np.linalg.norm(update)
        own = unit @ update / (length or 1.0)
        near = np.allclose([float(cosine) for cosine in cosines], own, atol=6e-5) if cosines else length == 0
        same += [near, abs(float(seen["least"][method]) - own.min()) < 6e-5]
    return all(same) and len(seen["cosines"]) > 12


def handle(page: Any, k: int) -> tuple[float, float]:
    """Where the tip of gradient `k` is in the window."""
    x, y = page.execute_script(
        """const box = document.querySelectorAll("#handles .handle")[arguments[0]].querySelector("path").getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];""",
        k,
    )
    return x, y


def drag(page: Any, start: tuple[float, float], by: tuple[float, float], steps: int = 6) -> None:
    def mouse(kind: str, share: float) -> None:
        page.execute_cdp_cmd(
            "Input.dispatchMouseEvent",
            {"type": kind, "x": start[0] + share * by[0], "y": start[1] + share * by[1], "button": "left",
             "buttons": 1, "clickCount": 1, "pointerType": "mouse"},
        )  # fmt: skip

    mouse("mousePressed", 0)
    for step in range(1, steps + 1):
        mouse("mouseMoved", step / steps)
    mouse("mouseReleased", 1)


def press(page: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    for key in keys:
        ActionChains(page, duration=0).send_keys(key).perform()


def test_it_opens_with_the_papers_example(page: Any) -> None:
    assert np.array_equal(gradients(page), np.array(PRESETS[0].gradients))
    assert agrees(page)
    assert shown(page)["binds"] == ["binds", "binds", "has room"]


@pytest.mark.parametrize("preset", PRESETS[1:], ids=lambda preset: preset.name)
def test_presets(page: Any, preset: Any) -> None:
    choose(page, preset.name)
    until(lambda: np.array_equal(gradients(page), np.array(preset.gradients)) and agrees(page))
    assert shown(page)["look"] == preset.look


def test_a_mouse_drags_a_gradient_and_every_number_follows(page: Any) -> None:
    before, seen = gradients(page), shown(page)
    start = handle(page, 0)
    drag(page, start, (-90, -30))
    until(lambda: not np.array_equal(gradients(page), before) and agrees(page))
    after = gradients(page)
    assert np.array_equal(after[1:], before[1:])
    assert np.linalg.norm(after[0]) == pytest.approx(5)
    assert shown(page)["radius"] != seen["radius"]
    assert handle(page, 0) == pytest.approx((start[0] - 90, start[1] - 30), abs=1.5)  # the tip stays under the pointer
    assert "Gradients of your own." in shown(page)["seen"]


def test_a_drag_beyond_the_sphere_stays_on_it(page: Any) -> None:
    drag(page, handle(page, 1), (-600, 0))
    until(lambda: agrees(page) and np.linalg.norm(gradients(page)[1]) == pytest.approx(3))


def test_the_background_turns_the_view_and_changes_no_number(page: Any) -> None:
    before, seen, start = gradients(page), shown(page), handle(page, 0)
    x, y = page.execute_script("const b = picture.getBoundingClientRect(); return [b.x + 20, b.y + b.height / 2];")
    drag(page, (x, y), (120, 40))
    until(lambda: math.dist(handle(page, 0), start) > 20)
    assert np.array_equal(gradients(page), before)
    assert shown(page) == seen
    page.execute_script("home.click()")
    until(lambda: math.dist(handle(page, 0), start) < 0.5)


def test_everything_by_keyboard(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

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
    assert page.execute_script("return getComputedStyle(document.activeElement.querySelector('.focus')).stroke") != "none"


def test_tab_reaches_every_control(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    reached = set()
    page.execute_script("document.activeElement.blur()")
    for _ in range(60):
        press(page, Keys.TAB)
        reached.add(page.execute_script("const a = document.activeElement; return a.id || a.dataset.name || a.className.baseVal || a.type || a.tagName"))  # fmt: skip
    assert {"toy", "stationary", "norm", "file", "picture", "home", "range", "checkbox", "SUMMARY"} <= reached
    assert any("handle" in each for each in reached)


def test_pushing_a_gradient_round_the_sphere(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    before = gradients(page)[0]
    page.execute_script("document.querySelector('.handle').focus()")
    least = 1.0
    for _ in range(95):  # 190 degrees: over the horizon and behind
        press(page, Keys.ARROW_RIGHT)
        least = min(least, float(gradients(page)[0] @ before) / 25)
    until(lambda: agrees(page))
    assert least < -0.3


def test_a_finger_drags_and_two_zoom(page: Any, opened: Any, server: Explorer) -> None:
    look_at(opened, PHONE)
    opened.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    opened.get(server.url)
    until(lambda: shown(page)["radius"] == "0.707107")

    def touch(kind: str, *points: tuple[float, float]) -> None:
        fingers = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
        opened.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    before, (x, y) = gradients(page), handle(page, 0)
    touch("touchStart", (x, y))
    for step in range(1, 6):
        touch("touchMove", (x - 8 * step, y - 3 * step))
    touch("touchEnd")
    until(lambda: not np.array_equal(gradients(page), before) and agrees(page))
    assert handle(page, 0) == pytest.approx((x - 40, y - 15), abs=1.5)
    assert page.execute_script("return scrollY") == 0

    apart, (x, y) = math.dist(handle(page, 0), handle(page, 1)), handle(page, 0)
    middle = page.execute_script("const b = picture.getBoundingClientRect(); return [b.x + b.width / 2, b.bottom - 40];")
    touch("touchStart", (middle[0] - 20, middle[1]), (middle[0] + 20, middle[1]))
    touch("touchMove", (middle[0] - 40, middle[1]), (middle[0] + 40, middle[1]))
    touch("touchEnd")
    until(lambda: math.dist(handle(page, 0), handle(page, 1)) > 1.5 * apart)
    opened.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def test_lengths_and_norms(page: Any) -> None:
    page.execute_script(
        "const s = document.querySelectorAll('#lengths input')[2]; s.value = 1; s.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    until(lambda: np.linalg.norm(gradients(page)[2]) == pytest.approx(10) and agrees(page))
    for p in ("1.5", "3", "inf"):
        page.execute_script("norm.value = arguments[0]; norm.dispatchEvent(new Event('change'))", p)
        until(lambda p=p: agrees(page, float(p)))


def test_a_rule_is_hidden_by_its_box(page: Any) -> None:
    assert "HARMONIC" in page.execute_script("return words.textContent")
    page.execute_script("document.querySelector('[data-method=harmonic] input').click()")
    until(lambda: "HARMONIC" not in page.execute_script("return words.textContent"))


def test_a_file_is_loaded_and_three_of_its_gradients_chosen(page: Any, tmp_path: Path) -> None:
    G = np.random.default_rng(4).standard_normal((5, 300)) + 0.2
    np.savez(tmp_path / "run.npz", gradients=G, names=["pde", "<b>", "c", "d", "e"], step=900)
    page.find_element("id", "file").send_keys(str(tmp_path / "run.npz"))
    until(lambda: shown(page)["radius"] == f"{incenter.chebyshev_center(G).radius:.6f}")
    assert "run.npz, step 900: 5 gradients of 300 parameters" in shown(page)["look"]
    words = lambda: page.execute_script("return words.textContent")  # noqa: E731
    until(lambda: "pde<b>c" in words())
    page.execute_script("const s = choice.querySelector('select'); s.value = 4; s.dispatchEvent(new Event('change'))")
    until(lambda: "e<b>c" in words())
    assert shown(page)["radius"] == f"{incenter.chebyshev_center(G).radius:.6f}"
    drag(page, handle(page, 0), (30, 20))  # a copy of the three, which is nobody's file any more
    until(lambda: "Gradients of your own." in shown(page)["seen"] and agrees(page))
    lengths = np.linalg.norm(gradients(page), axis=1)
    assert lengths == pytest.approx(np.linalg.norm(G[[4, 1, 2]], axis=1))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"nonsense", "bad.npz is not an .npz file, or not a whole one."),
        ({"g": np.eye(3)}, "bad.npz has no array called `gradients`; it holds g."),
        ({"gradients": np.ones(3)}, "`gradients` in bad.npz must have shape (m, n)"),
    ],
)
def test_a_bad_file_is_one_sentence_and_changes_nothing(page: Any, tmp_path: Path, content: Any, sentence: str) -> None:
    path = tmp_path / "bad.npz"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, **content)
    page.find_element("id", "file").send_keys(str(path))
    until(lambda: sentence in shown(page)["trouble"])
    assert agrees(page)
    refused = [line for line in complaints(page) if "400 (Bad Request)" in line]  # which the browser notes itself
    assert len(refused) == 1
    choose(page, "worked")
    until(lambda: shown(page)["trouble"] == "")


@pytest.mark.parametrize("size", [DESKTOP, PHONE, (320, 700)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_is_legible(page: Any, server: Explorer, size: tuple[int, int], scheme: Any) -> None:
    look_at(page, size, scheme)
    page.get(server.url)
    until(lambda: shown(page)["radius"] == "0.707107")
    assert page.execute_script("return document.documentElement.scrollWidth") <= size[0]
    paper, ink = page.execute_script("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color];")
    assert contrast(paper, ink) > 10
    for method in ("chebyshev", "config", "harmonic", "mgda", "imtl_g"):
        where = f"#methods [data-method={method}] label"
        color = page.execute_script("return getComputedStyle(document.querySelector(arguments[0])).color", where)
        assert contrast(paper, color) > 3, method


def contrast(first: str, second: str) -> float:
    """As the guidelines for accessible pages define it."""

    def luminance(color: str) -> float:
        parts = [int(part) / 255 for part in color[4:-1].split(",")]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


def test_the_saved_page_needs_nobody(opened: Any, tmp_path: Path) -> None:
    path = tmp_path / "explorer.html"
    path.write_text(saved_page({}), encoding="utf-8")
    look_at(opened)
    complaints(opened)
    opened.get(path.as_uri())
    for preset in PRESETS:
        choose(opened, preset.name)
        until(lambda preset=preset: shown(opened)["look"] == preset.look)
        until(lambda preset=preset: np.array_equal(gradients(opened), np.array(preset.gradients)) and agrees(opened))
    opened.execute_script("norm.value = 3; norm.dispatchEvent(new Event('change'))")
    until(lambda: agrees(opened, 3.0))
    before, start = gradients(opened), handle(opened, 0)
    drag(opened, start, (60, 30))  # turns the view, not the gradient
    until(lambda: math.dist(handle(opened, 1), start) > 5 and math.dist(handle(opened, 0), start) > 5)
    assert np.array_equal(gradients(opened), before)
    assert "incenter explore" in opened.execute_script("return hint.textContent")
    assert opened.execute_script("return performance.getEntriesByType('resource').filter((e) => !e.name.startsWith('data:')).length") == 0  # fmt: skip
    assert complaints(opened) == []
