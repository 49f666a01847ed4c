"""The site, built strictly, as people see it: links, console, requests, widths, light and dark, the search."""

import http.server
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import pytest

from docs.writers.__main__ import written
from docs.writers.source_pages import EXPLORER
from tests.browser import DESKTOP, PHONE, Scheme, browser, complaints, look_at

ROOT = Path(__file__).parents[2]
SEEN: tuple[tuple[tuple[int, int], Scheme], ...] = (
    (DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light"), (PHONE, "dark")
)  # fmt: skip


class Page(HTMLParser):
    """The anchors of a page, what it links to and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if "href" in values:
            (self.links if tag == "a" else self.loads).add(values["href"])
        if "src" in values:
            self.loads.add(values["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    return {str(path.relative_to(site)): Page(path.read_text()) for path in sorted(site.rglob("*.html"))}


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Of a local server of the site."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_no_page_is_stale() -> None:
    stale = [str(page.relative_to(ROOT)) for page, content in written() if page.read_text() != content]
    assert stale == [], "python -m docs.writers writes them again"


def test_every_link_leads_somewhere(site: Path, pages: dict[str, Page]) -> None:
    broken = [
        (name, link)
        for name, page in pages.items()
        if name != "404.html"  # its links are absolute, for a server's root
        for link in page.links
        if not leads(site, pages, name, link)
    ]
    assert broken == []


def leads(site: Path, pages: dict[str, Page], name: str, link: str) -> bool:
    target, anchor = urldefrag(urljoin(f"http://site/{name}", link))
    if not target.startswith("http://site/"):
        return target.startswith("https://")
    path = unquote(target.removeprefix("http://site/")) or "index.html"
    if path not in pages:
        return (site / path).is_file()
    return not anchor or unquote(anchor) in pages[path].anchors


def test_nothing_is_loaded_from_elsewhere(pages: dict[str, Page]) -> None:
    assert {load for page in pages.values() for load in page.loads if "//" in load} == set()


def test_pages_as_people_see_them(address: str, pages: dict[str, Page], tmp_path: Path) -> None:
    """At both widths, light and dark: a quiet console, no request elsewhere, no page wider than its window."""
    found: list[tuple[str, ...]] = []
    with browser(tmp_path / "profile") as opened:
        for name in pages.keys() - {EXPLORER}:  # which has tests of its own
            look_at(opened, *SEEN[0])
            opened.get(address + name)
            for size, scheme in SEEN:
                look_at(opened, size, scheme)
                wanted = {"light": "default", "dark": "slate"}[scheme]
                if not soon(opened, f"return document.body.dataset.mdColorScheme == '{wanted}'"):
                    found.append((name, scheme, "not in this scheme"))
                width = opened.execute_script("return document.documentElement.scrollWidth")
                if width > size[0]:
                    found.append((name, str(size), f"{width} wide"))
            loaded = opened.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
            found += [(name, url) for url in loaded if not url.startswith((address, "data:", "blob:"))]
            found += [(name, complaint) for complaint in complaints(opened)]
    assert found == []


def soon(opened: Any, question: str, seconds: float = 20.0) -> bool:
    """Whether the page's answer becomes true; the page hears of a change of scheme a moment later."""
    until = time.monotonic() + seconds
    while not (answer := opened.execute_script(question)) and time.monotonic() < until:
        time.sleep(0.02)
    return bool(answer)


def test_the_search_finds_a_page(address: str, tmp_path: Path) -> None:
    with browser(tmp_path / "profile") as opened:
        look_at(opened)
        opened.get(address)
        opened.execute_script("document.querySelector('#__search').click()")
        opened.find_element("css selector", "input[name=query]").send_keys("stationary")
        assert soon(opened, "return document.querySelector('.md-search-result__item a') != null")
        found = opened.find_elements("css selector", ".md-search-result__item a")
        assert any("statuses" in (each.get_attribute("href") or "") for each in found)
        assert complaints(opened) == []
