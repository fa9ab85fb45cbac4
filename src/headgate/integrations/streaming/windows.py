"""Windows of event time: their length, their names as partitions, and the watermark that closes them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from headgate.values.errors import MisuseError

_UNITS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_LENGTH = re.compile(r"\s*([0-9]+)\s+([a-z]+?)s?\s*", re.IGNORECASE)


def parse_seconds(length: str | timedelta, what: str) -> int:
    """A length of time in seconds, as Spark writes it.

    >>> parse_seconds("5 minutes", "window"), parse_seconds(timedelta(hours=1), "window")
    (300, 3600)

    Args:
        length: The length.
        what: What it is the length of, for the message if it is none.
    """
    if isinstance(length, timedelta):
        return int(length.total_seconds())
    match = _LENGTH.fullmatch(length)
    if match is None or match[2].lower() not in _UNITS:
        raise MisuseError(f"{what}={length!r} is not a length of time.", hint='Write "5 minutes", "1 hour" or "1 day".')
    return int(match[1]) * _UNITS[match[2].lower()]


class WindowSize(NamedTuple):
    """The length of all windows of a stream. Windows begin at multiples of it since 1970, in UTC."""

    seconds: int

    @classmethod
    def parse(cls, length: str | timedelta) -> WindowSize:
        seconds = parse_seconds(length, "window")
        if seconds < 1:
            raise MisuseError("a window must have a length.", hint='Write window="5 minutes".')
        return cls(seconds)

    def find_end(self, start: int) -> int:
        return start + self.seconds

    def find_start(self, moment: float) -> int:
        """The start of the window of a moment.

        >>> WindowSize(300).find_start(1_000.5)
        900
        """
        return int(moment // self.seconds) * self.seconds

    def list_between(self, after: int, before: int) -> range:
        """The starts of all windows between two windows, without them."""
        return range(after + self.seconds, before, self.seconds)

    def name(self, start: int) -> str:
        """The name of a window as a partition: its start in UTC, as exact as the length asks for.

        >>> WindowSize(300).name(1_794_990_900), WindowSize(3_600).name(1_794_988_800), WindowSize(86_400).name(0)
        ('2026-11-18T08:35', '2026-11-18T08', '1970-01-01')
        """
        exactness = next(form for step, form in _FORMS if self.seconds % step == 0)
        return datetime.fromtimestamp(start, UTC).strftime(exactness)


_FORMS = ((86_400, "%Y-%m-%d"), (3_600, "%Y-%m-%dT%H"), (60, "%Y-%m-%dT%H:%M"), (1, "%Y-%m-%dT%H:%M:%S"))
