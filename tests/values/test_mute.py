"""Mutes: which hold at a time, how they are told, and which times are understood."""

from __future__ import annotations

import datetime

import pytest

from headgate.values.errors import MisuseError
from headgate.values.mute import Mute, find_active, find_same, to_seconds


def mute(column: str, until: float | None, sequence: int = 1, who: str = "", note: str = "") -> Mute:
    return Mute(dataset="orders", sequence=sequence, column=column, until=until, who=who, note=note)


def test_of_each_column_the_newest_mute_holds_until_its_time() -> None:
    mutes = [mute("a", 10.0), mute("b", 10.0), mute("a", 20.0, 3), mute("b", None, 4), mute("c", 5.0, 5)]
    assert [each.sequence for each in find_active(mutes, 9.0)] == [3]
    assert find_active(mutes, 20.0) == ()
    assert {each.column for each in find_active(mutes[:2], 9.0)} == {"a", "b"}


def test_the_same_mute_is_found_only_if_it_is_the_newest_of_its_column() -> None:
    mutes = [mute("a", 10.0), mute("b", 10.0, 2)]
    assert find_same(mutes, mute("a", 10.0, 9)) == mutes[0]
    assert find_same([*mutes, mute("a", 20.0, 3)], mute("a", 10.0, 9)) is None
    assert find_same(mutes, mute("a", 10.0, 9, note="why")) is None


def test_a_mute_is_told_in_words() -> None:
    assert mute("a", 1796104800.0, who="ann").describe() == "a is muted until 2026-12-01 06:00:00 by ann"
    assert mute("a", None, note="done").describe() == "a is no longer muted: done"


@pytest.mark.parametrize(
    "moment",
    [
        "2026-12-01",
        "2026-12-01T00:00",
        "2026-12-01T01:00+01:00",
        datetime.date(2026, 12, 1),
        datetime.datetime(2026, 12, 1),
        datetime.datetime(2026, 12, 1, tzinfo=datetime.UTC),
    ],
)
def test_a_moment_is_in_utc_unless_it_says_otherwise(moment: datetime.date | str) -> None:
    assert to_seconds(moment) == 1796083200.0


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01", "01.12.2026"])
def test_what_is_no_time_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(MisuseError, match="Write a date such as 2026-12-01"):
        to_seconds(text)
