"""The page with files, on small screens, in the dark, and saved for those who have no server."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import incenter
from incenter.study.explorer.page import saved_page
from incenter.study.explorer.presets import PRESETS, Preset
from incenter.study.explorer.server import Explorer
from tests.browser import DESKTOP, PHONE, complaints, look_at
from tests.study.explorer.hands import (
    agrees,
    apart,
    choose,
    contrast,
    drag,
    gradients,
    handle,
    opens,
    shown,
    until,
    words,
)

_CHOOSE_FIFTH = """
const first = document.querySelector("#choice select");
first.value = 4;
first.dispatchEvent(new Event("change"));"""
_FETCHED = """
const names = performance.getEntriesByType("resource").map((each) => each.name);
return names.filter((name) => !name.startsWith("data:"));"""


def test_a_file_is_loaded_and_three_of_its_gradients_chosen(page: Any, tmp_path: Path) -> None:
    G = np.random.default_rng(4).standard_normal((5, 300)) + 0.2
    np.savez(tmp_path / "run.npz", gradients=G, names=["pde", "<b>", "c", "d", "e"], step=900)
    page.find_element("id", "file").send_keys(str(tmp_path / "run.npz"))
    until(lambda: shown(page)["radius"] == f"{incenter.chebyshev_center(G).radius:.6f}")
    assert "run.npz, step 900: 5 gradients of 300 parameters" in shown(page)["look"]
    until(lambda: "pde<b>c" in words(page))
    page.execute_script(_CHOOSE_FIFTH)
    until(lambda: "e<b>c" in words(page) and "pde" not in words(page))
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
    opens(page)
    assert page.execute_script("return document.documentElement.scrollWidth") <= size[0]
    paper, ink = page.execute_script("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color];")
    assert contrast(paper, ink) > 10
    for method in ("chebyshev", "config", "harmonic", "mgda", "imtl_g"):
        where = f"#methods [data-method={method}] label"
        color = page.execute_script("return getComputedStyle(document.querySelector(arguments[0])).color", where)
        assert contrast(paper, color) > 3, method


def test_the_saved_page_needs_nobody(opened: Any, tmp_path: Path) -> None:
    path = tmp_path / "explorer.html"
    path.write_text(saved_page({}), encoding="utf-8")
    look_at(opened)
    complaints(opened)
    opened.get(path.as_uri())
    for preset in PRESETS:
        choose(opened, preset.name)
        until(partial(_tells, opened, preset))
    opened.execute_script("norm.value = 3; norm.dispatchEvent(new Event('change'))")
    until(lambda: agrees(opened, 3.0))
    before, start = gradients(opened), handle(opened, 0)
    drag(opened, start, (60, 30))  # turns the view, not the gradient
    until(lambda: apart(opened, start) > 5)
    assert np.array_equal(gradients(opened), before)
    assert "incenter explore" in opened.execute_script("return hint.textContent")
    assert opened.execute_script(_FETCHED) == []
    assert complaints(opened) == []


def _tells(page: Any, preset: Preset) -> bool:
    own = np.array_equal(gradients(page), np.array(preset.gradients))
    return own and shown(page)["look"] == preset.look and agrees(page)
