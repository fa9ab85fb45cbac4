"""Packages that are installed for one test only: their metadata, in a folder on the path."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Writes the metadata of a package: `install("a", "Requires-Dist: b")`."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write_metadata(name: str, *fields: str) -> None:
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        lines = ["Metadata-Version: 2.4", f"Name: {name}", "Version: 1.0", *fields]
        (folder / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")

    return write_metadata
