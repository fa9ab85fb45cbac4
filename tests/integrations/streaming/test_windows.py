"""The lengths and names of windows."""

from __future__ import annotations

import datetime

import pytest

from headgate.integrations.streaming.windows import WindowSize, parse_seconds
from headgate.values.errors import MisuseError
from headgate.values.period import read_period


@pytest.mark.parametrize(
    ("text", "seconds"), [("1 second", 1), ("5 minutes", 300), (" 2  Hours ", 7_200), ("1 day", 86_400), ("0 days", 0)]
)
def test_lengths_are_written_as_spark_writes_them(text: str, seconds: int) -> None:
    assert parse_seconds(text, "delay") == seconds


@pytest.mark.parametrize("text", ["", "5", "minutes", "five minutes", "5 fortnights", "-5 minutes", "1.5 hours"])
def test_what_is_no_length_is_refused(text: str) -> None:
    with pytest.raises(MisuseError, match="is not a length of time"):
        parse_seconds(text, "delay")


def test_a_window_without_a_length_is_refused() -> None:
    with pytest.raises(MisuseError, match="must have a length"):
        WindowSize.parse("0 seconds")


@pytest.mark.parametrize("length", ["10 seconds", "1 minute", "5 minutes", "15 minutes", "1 hour", "6 hours", "1 day"])
def test_the_name_of_a_window_tells_its_start(length: str) -> None:
    size = WindowSize.parse(length)
    names = set()
    for at in range(200):
        start = size.find_start(1_794_990_000) + at * size.seconds
        period = read_period(size.name(start))
        assert period is not None
        assert period.seconds == start
        names.add(size.name(start))
    assert len(names) == 200


def test_moments_before_1970_have_windows_too() -> None:
    size = WindowSize(300)
    assert size.find_start(-1) == -300
    assert size.find_end(-300) == 0


def test_windows_between_two_others() -> None:
    assert list(WindowSize(300).list_between(0, 1_200)) == [300, 600, 900]
    assert list(WindowSize.parse(datetime.timedelta(minutes=5)).list_between(0, 300)) == []
