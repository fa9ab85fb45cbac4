"""F1, the short form: seeded kills at every step. `python -m tests.faults` has a thousand."""

from __future__ import annotations

from tests.faults.backends import Backend
from tests.faults.kills import killed


def test_nothing_is_lost_or_doubled_when_writers_are_killed(backend: Backend) -> None:
    row = killed(backend, kills=15, seed=7)
    assert (row.lost, row.doubled) == (0, 0)
    assert row.kills >= 15
    assert len(row.points) > 4
