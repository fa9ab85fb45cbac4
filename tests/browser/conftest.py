"""One Chromium for all tests here, a listener that nothing may call, and pages to look at."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.report.chromium import executable, opened
from tests.browser.beacon import Beacon
from tests.browser.visit import Visitor, Windows


# Ended with these tests: while the driver runs, its event loop is the thread's.
@pytest.fixture(scope="package")
def windows() -> Iterator[Windows]:
    if executable() is None:
        word = "there is no Chromium on this machine: apt install chromium"
        if os.environ.get("HEADGATE_NEED_BROWSER"):
            pytest.fail(word)
        pytest.skip(word)
    with opened() as browser:
        yield Windows(browser)


@pytest.fixture
def beacon() -> Iterator[Beacon]:
    with Beacon() as listening:
        yield listening


@pytest.fixture
def visitor(windows: Windows, tmp_path: Path) -> Iterator[Visitor]:
    with Visitor(windows, tmp_path) as made:
        yield made
