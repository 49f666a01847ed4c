"""What a person reads on the explorer's page, and does to it; shared by the tests in the browser."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import incenter
from tests.study.waiting import wait_until

PATIENCE = 60.0  # seconds, of which an idle machine takes a fraction of one
MINUS = "\N{MINUS SIGN}"

_SHOWN = """
const text = (where, what) => where.querySelector(what)?.textContent ?? "";
const rows = [...document.querySelectorAll("#methods li")];
const each = (read) => Object.fromEntries(rows.map((row) => [row.dataset.method, read(row)]));
return {
  radius: text(document, "#value"),
  status: text(document, "#status"),
  binds: [...document.querySelectorAll("#binding li")].map((loss) => text(loss, "b")),
  least: each((row) => text(row, ".least")),
  cosines: each((row) => [...row.querySelectorAll(".cosines span:not(.state)")].map((cosine) => cosine.textContent)),
  python: text(document, "#python code"),
  look: text(document, "#look"),
  seen: text(document, "#seen"),
  trouble: text(document, "#trouble"),
};"""
_DRAWN = "return document.querySelectorAll('#handles [transform]').length"
_HANDLE = """
const [k, tell] = arguments;
const look = () => {
  const box = document.querySelectorAll("#handles .handle")[k].querySelector("path").getBoundingClientRect();
  tell([box.x + box.width / 2, box.y + box.height / 2]);
};
requestAnimationFrame(() => requestAnimationFrame(look));"""  # what is yet to be drawn is in the next frame


def until(met: Callable[[], Any]) -> None:
    """Wait for something that the page does in its own time."""
    wait_until(lambda: bool(met()), "what the page should come to show", PATIENCE)


def opens(page: Any) -> None:
    """Wait until the page shows the first preset, drawn."""
    until(lambda: shown(page)["radius"] == "0.707107" and page.execute_script(_DRAWN) == 3)


def choose(page: Any, name: str) -> None:
    page.execute_script("document.querySelector(`#presets [data-name='${arguments[0]}']`).click()", name)


def shown(page: Any) -> dict[str, Any]:
    """What a person reads: r*, status, who binds, and each rule's cosines; with the gradients it gives in Python."""
    found: dict[str, Any] = page.execute_script(_SHOWN)
    return found


def words(page: Any) -> str:
    """What is written in the picture."""
    return str(page.execute_script("return document.getElementById('words').textContent"))


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
        near = np.allclose([_number(cosine) for cosine in cosines], own, atol=6e-5) if cosines else length == 0
        same += [near, abs(_number(seen["least"][method]) - own.min()) < 6e-5]
    return all(same) and len(seen["cosines"]) > 12


def _number(text: str) -> float:
    return float(text.replace(MINUS, "-"))


def handle(page: Any, k: int) -> tuple[float, float]:
    """Where the tip of gradient `k` is in the window."""
    x, y = page.execute_async_script(_HANDLE, k)
    return x, y


def apart(page: Any, place: tuple[float, float], k: int = 0) -> float:
    """Pixels between the tip of gradient `k` and a place."""
    return math.dist(handle(page, k), place)


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


def contrast(first: str, second: str) -> float:
    """As the guidelines for accessible pages define it."""

    def luminance(color: str) -> float:
        parts = [int(part) / 255 for part in color[4:-1].split(",")]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)
