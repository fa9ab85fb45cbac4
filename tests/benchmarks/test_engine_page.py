"""The page of the engine's benchmark is written from the committed results."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.engine.__main__ import RESULTS
from benchmarks.engine.page import PAGE, write_page


def test_the_page_says_what_the_results_say(tmp_path: Path) -> None:
    found = json.loads((RESULTS / "engine.json").read_text(encoding="utf-8"))
    written = tmp_path / "page.md"
    write_page(found, written)
    assert written.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
