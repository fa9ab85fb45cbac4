"""The system's Chromium, without a head: opened for tests and for pictures, and never let out to the network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


def executable() -> str | None:
    """Where the system's Chromium is, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def opened() -> Iterator[Any]:
    """A browser. Only this machine is reached, whatever a page asks for."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=executable(),
            args=[
                "--no-sandbox",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
                "--disable-gpu",
            ],
        )
        try:
            yield browser
        finally:
            browser.close()
