"""F3: no room on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.disk import no_pages_left, refused_writes_of_files, small_disk


def test_a_refused_write_leaves_the_history_as_it_was(tmp_path: Path) -> None:
    row = refused_writes_of_files(tmp_path)
    assert (row.trials, row.lost, row.doubled) == (9, 0, 0)


def test_a_full_disk_leaves_the_history_as_it_was(tmp_path: Path) -> None:
    row = small_disk(tmp_path / "disk")
    if row is None:
        pytest.skip("only root may mount a small disk")
    assert (row.lost, row.doubled) == (0, 0)


def test_sqlite_without_a_free_page_keeps_what_it_has(tmp_path: Path) -> None:
    row = no_pages_left(tmp_path)
    assert (row.trials, row.lost, row.doubled) == (5, 0, 0)
