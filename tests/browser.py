"""A page as a person sees it: Debian's Chromium, headless, driven over its own driver.

A machine without `chromium` and `chromedriver` skips the tests that need them; CI installs both.
"""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

DESKTOP = (1280, 900)
PHONE = (390, 844)
Scheme = Literal["light", "dark"]

# Without the background services, which look for hosts on the network at every start.
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


@contextmanager
def browser(profile: Path) -> Iterator[Any]:
    """A browser with an empty profile in the folder `profile`, which keeps its console's log."""
    from selenium import webdriver

    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("this test needs a browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield opened
    finally:
        opened.quit()


def look_at(opened: Any, size: tuple[int, int] = DESKTOP, scheme: Scheme = "light") -> None:
    """The size of the window in CSS pixels, a phone's being one, and the colours that the person prefers."""
    width, height = size
    metrics: Mapping[str, Any] = {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE,
    }  # fmt: skip
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", dict(metrics))
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def complaints(opened: Any) -> list[str]:
    """What the page has written to the console as an error or a warning since this was asked last."""
    return [entry["message"] for entry in opened.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
