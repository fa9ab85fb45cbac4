"""F4, the short form: 8 processes at once."""

from __future__ import annotations

from tests.faults.backends import Backend
from tests.faults.races import raced_for_many_keys, raced_for_one_key


def test_one_of_many_writers_of_a_key_wins_and_all_others_are_told(backend: Backend) -> None:
    row = raced_for_one_key(backend, processes=8, commits=25)
    assert (row.lost, row.doubled) == (0, 0)


def test_writers_of_distinct_keys_all_succeed(backend: Backend) -> None:
    row = raced_for_many_keys(backend, processes=8, commits=25)
    assert (row.lost, row.doubled) == (0, 0)
