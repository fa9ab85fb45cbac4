"""A lake in a folder of its own, in which the test stands: not yet judged, or judged once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.lake import called, write_lake


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEADGATE_CONFIG", "NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(write_lake(tmp_path / "shop"))
    return tmp_path / "shop"


@pytest.fixture(scope="session")
def judged_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_lake(tmp_path_factory.mktemp("judged"))
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert called("run", "--quiet").exit_code == 1
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def judged(judged_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    shutil.copytree(judged_once, folder)
    monkeypatch.chdir(folder)
    return folder
