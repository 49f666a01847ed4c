"""One server and one browser for all tests of the page."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from incenter.study.explorer.server import Explorer
from tests.browser import browser, complaints, look_at
from tests.study.explorer.hands import opens


@pytest.fixture(scope="package")
def server() -> Iterator[Explorer]:
    with Explorer() as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield served
        served.shutdown()


@pytest.fixture(scope="package")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with browser(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


@pytest.fixture
def page(opened: Any, server: Explorer) -> Iterator[Any]:
    """The page as it opens, which must not have complained by the end of the test."""
    server.held.clear()
    look_at(opened)
    opened.get(server.url)
    opens(opened)
    complaints(opened)
    yield opened
    assert complaints(opened) == []
