"""F3 through the gate: no room on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.gate_disk import no_pages_left, refused_writes, small_disk


def test_a_refused_write_is_told_and_publishes_nothing(tmp_path: Path) -> None:
    row = refused_writes(tmp_path)
    assert (row.leaked, row.lost, row.doubled) == (0, 0, 0)
    assert row.trials > 30


def test_a_full_disk_publishes_nothing_that_was_not_committed(tmp_path: Path) -> None:
    row = small_disk(tmp_path / "disk")
    if row is None:
        pytest.skip("only root may mount a small disk")
    assert (row.leaked, row.lost, row.doubled) == (0, 0, 0)


def test_sqlite_without_a_free_page_publishes_nothing(tmp_path: Path) -> None:
    row = no_pages_left(tmp_path)
    assert (row.leaked, row.lost, row.doubled) == (0, 0, 0)
