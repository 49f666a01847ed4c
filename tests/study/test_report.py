"""What stands in a report: the numbers of the tables, the commands of the runs, and nothing that a name can do."""

import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from incenter.geometry.errors import IncenterError
from incenter.study.layout import lay_out
from incenter.study.report import page
from incenter.study.report.cells import cells_of, shared_settings, surroundings_of
from incenter.study.report.curves import as_json, curves_of
from incenter.study.rows import Row
from incenter.study.selection import chosen
from tests.study.made_rows import made_row
from tests.study.made_study import ERRORS, INERT, STEPS, made_study


class Reader(HTMLParser):
    """Words by the element that they are in, and the elements with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.words.append((self.open[-1] if self.open else "", data.strip()))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, *tags: str) -> list[str]:
        return [words for tag, words in self.words if tag in tags]


def commands_of(text: str) -> set[str]:
    """What is to be typed, word by word in spans."""
    return {unescape(re.sub(r"<[^>]*>", "", code)) for code in re.findall(r"<code[^>]*>(.*?)</code>", text)}


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return made_study()


@pytest.fixture(scope="module")
def text(rows: list[Row]) -> str:
    return page(rows, "made", ["made", "--store", "my store.sqlite"])


@pytest.fixture(scope="module")
def read(text: str) -> Reader:
    return Reader(text)


def test_every_element_is_closed_and_every_link_leads_somewhere(read: Reader) -> None:
    assert read.open == []
    names = [each["id"] for _, each in read.elements if "id" in each]
    assert len(names) == len(set(names))
    links = [(each["href"] or "").removeprefix("#") for each in read.all("a")]
    opened = [each["popovertarget"] for each in read.all("button") if "popovertarget" in each]
    assert links
    assert opened
    assert set(links) | set(opened) <= set(names)


def test_the_words_of_the_tables_are_explained(read: Reader) -> None:
    said = " ".join(read.text("p", "i"))
    assert "Adam is the plain sum of the losses" in said
    assert "Yoon, Bae, Ho-Nguyen and Lee" in said


def test_a_study_of_our_method_alone_has_a_page(rows: list[Row]) -> None:
    alone = Reader(page([row for row in rows if row.method == "chebyshev"]))
    assert "Chebyshev" in alone.text("th")
    assert "Adam" not in " ".join(alone.text("p"))


def test_every_figure_is_named(read: Reader) -> None:
    names = [words for words in read.text("b") if words.endswith(".")]
    assert "Cone, ball and directions." in names
    assert "." not in names


def test_nothing_is_fetched(text: str, read: Reader) -> None:
    assert [each for each in read.all("link") if each.get("href")] == []
    assert all("src" not in each for each in read.all("script"))
    assert all((each["src"] or "").startswith("data:") for each in read.all("img"))
    styles = "".join(read.text("style"))
    assert "url(" not in styles
    assert "@import" not in styles
    assert "default-src 'none'" in text


def test_the_numbers_are_those_of_the_tables(rows: list[Row], read: Reader) -> None:
    shown = read.text("button", "span", "td")
    for table in chosen(rows):
        for line in table.grid().lines:
            for entry in line.entries:
                assert not entry.text or entry.text in shown
    best = [each for each in read.all("button") if "best" in (each.get("class") or "")]
    assert best
    notes = " ".join(read.text("p"))
    assert "Missing (seed 0 failed, seed 1 not planned)" in notes


def test_a_number_has_the_command_that_makes_it(rows: list[Row], text: str) -> None:
    commands = {cell.command for cell in cells_of(lay_out(rows))}
    shown = commands_of(text)
    assert commands <= shown
    assert "incenter study tables made --store 'my store.sqlite' --only errors" in shown
    pressed = re.search(r'popovertarget="(made-\d+)">0.0525 \(0.0035\)</button>', text)
    assert pressed is not None  # Chebyshev's mean error, on either problem
    opened = text.partition(f'<div popover id="{pressed[1]}"')[2].partition("</div>")[0]
    (command,) = commands_of(opened)
    assert command.startswith("incenter train helmholtz --method chebyshev --lr 0.001")
    assert command.endswith("--seeds 0,1")


def test_the_paired_tests_name_the_runs_of_both_methods(rows: list[Row]) -> None:
    tests = next(each for each in chosen(rows) if each.name == "paired-tests")
    keys = {row.key: row for row in rows}
    for line in tests.grid().lines:
        for entry in line.entries:
            methods = {keys[key].method for key in entry.runs}
            assert not entry.runs or ("chebyshev" in methods and len(methods) == 2)


def test_a_name_does_nothing(text: str, read: Reader) -> None:
    assert INERT not in text
    assert any(INERT in words for words in read.text("b"))
    assert len(read.all("script")) == 2  # the numbers of the curves, and our own
    assert "ValueError: <b>not</b> today" in "".join(read.text("pre"))
    hostile = as_json({"title": "</script><!--"})
    assert "<" not in hostile
    assert json.loads(hostile) == {"title": "</script><!--"}


def test_all_settings_are_there(rows: list[Row], read: Reader) -> None:
    cells = cells_of(lay_out(rows))
    shown = set(read.text("th"))
    for cell in cells:
        assert set(cell.settings) <= shown
    assert {row.key for cell in cells for row in cell.rows} == {row.key for row in rows}
    assert set(shared_settings(cells)) <= set(cells[0].settings)
    assert {row.key for row in rows} <= set(read.text("code"))


def test_runs_with_another_setting_are_another_cell() -> None:
    rows = [made_row(seed=0), made_row(seed=1), made_row(seed=0, lr=3e-4), made_row("heat", operator="divergence")]
    cells = cells_of(lay_out(rows))
    assert [[row.seed for row in cell.rows] for cell in cells] == [[0, 1], [0], [0]]
    assert "lr" not in shared_settings(cells)
    assert cells[2].settings["problem.operator"] == "divergence"


def test_places_are_told_apart() -> None:
    rows = made_study()[:3]
    assert {each.letter for each in surroundings_of(rows).values()} == {"A"}


def test_the_curves_are_the_records(rows: list[Row]) -> None:
    curves = json.loads(as_json(curves_of(lay_out(rows))))
    helmholtz, burgers = curves["problems"]
    assert [each["title"] for each in burgers["quantities"]] == [
        "relative L2 error", "least cosine of update and gradients", "r*, the largest least cosine there is",
        "loss: residual", "loss: boundary", "loss: initial", "weight: residual", "weight: boundary", "weight: initial",
    ]  # fmt: skip
    assert len(helmholtz["quantities"]) == 7
    for method, name in zip(burgers["methods"], ERRORS, strict=True):
        error = method["curves"][0]
        assert error["steps"] == [STEPS[0], STEPS[-1]]
        middle = ERRORS[name] * 1.05  # of two seeds
        np.testing.assert_allclose(error["median"][-1], middle, rtol=1e-3)
        np.testing.assert_allclose(
            [error["low"][0], error["high"][0]], [ERRORS[name] * 10, ERRORS[name] * 11], rtol=1e-3
        )
        weights = method["curves"][6]
        assert (weights is None) == (name == "pcgrad")


def test_the_same_runs_make_the_same_page(rows: list[Row], text: str) -> None:
    assert page(rows, "made", ["made", "--store", "my store.sqlite"]) == text


@pytest.mark.parametrize("rows", [[], [made_row(status="waiting"), made_row("heat", status="failed")]])
def test_where_nothing_is_done_it_says_so(rows: list[Row]) -> None:
    text = page(rows, "quick", ["quick"])
    assert "No run is done yet" in text
    read = Reader(text)
    assert read.open == []
    assert read.text("title") == ["A first comparison - incenter"]
    assert {cell.command for cell in cells_of(lay_out(rows))} <= commands_of(text)


def test_the_page_of_many_runs_is_small(rows: list[Row]) -> None:
    """What grows with the runs: the numbers of the curves, below 10 kB for each of them."""
    curves = as_json(curves_of(lay_out(rows)))
    assert len(curves) < 10_000 * sum(row.status == "done" for row in rows)


def test_without_jinja_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(IncenterError, match=r"A report needs jinja2.*pip install 'incenter\[study\]'"):
        page([])
