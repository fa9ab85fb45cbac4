"""F1 through the command line over every store, the short form. `python -m tests.faults` has a thousand kills."""

from __future__ import annotations

from pathlib import Path

from tests.faults.backends import Backend
from tests.faults.cli_kills import killed


def test_one_more_run_puts_everything_in_its_place(backend: Backend, tmp_path: Path) -> None:
    row = killed(backend, tmp_path, kills=12, seed=3)
    assert (row.leaked, row.lost, row.doubled) == (0, 0, 0)
    assert row.kills >= 12
    assert len(row.points) > 6
