"""A person's word that what was learned of a column holds no batch for some time."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterable

import msgspec

from headgate.display.numbers import format_moment
from headgate.values.errors import MisuseError


class Mute(msgspec.Struct, frozen=True, kw_only=True):
    """Until when a column is muted, with who said so and why. It is a commit of the dataset with its own sequence.

    `column` is a label, in which `*` stands for any characters. `until` is in seconds since 1970; None ends a mute.
    """

    dataset: str
    sequence: int
    column: str
    until: float | None
    who: str = ""
    note: str = ""
    at: float = msgspec.field(default_factory=time.time)

    def describe(self) -> str:
        """The mute in words.

        >>> Mute(dataset="orders", sequence=3, column="c", until=1796083200.0, who="ann", note="backfill").describe()
        'c is muted until 2026-12-01 by ann: backfill'
        """
        state = "no longer muted" if self.until is None else f"muted until {format_moment(self.until)}"
        who = f" by {self.who}" if self.who else ""
        return f"{self.column} is {state}{who}{f': {self.note}' if self.note else ''}"


def find_active(mutes: Iterable[Mute], now: float) -> tuple[Mute, ...]:
    """The mutes that hold at a time, in seconds since 1970: of each column the newest one, unless it is over."""
    newest = {each.column: each for each in mutes}
    return tuple(each for each in newest.values() if each.until is not None and each.until > now)


def find_same(mutes: Iterable[Mute], wanted: Mute) -> Mute | None:
    """The newest mute of the column, if it says the same as another one."""
    newest = {each.column: each for each in mutes}.get(wanted.column)
    if newest is None or (newest.until, newest.who, newest.note) != (wanted.until, wanted.who, wanted.note):
        return None
    return newest


def to_seconds(moment: datetime.date | datetime.datetime | str) -> float:
    """A moment in seconds since 1970. A day stands for its start. A time without a time zone is in UTC.

    >>> to_seconds("2026-12-01"), to_seconds("2026-12-01T02:00+02:00")
    (1796083200.0, 1796083200.0)
    """
    if isinstance(moment, str):
        try:
            moment = datetime.datetime.fromisoformat(moment)
        except ValueError:
            hint = "Write a date such as 2026-12-01, or 2026-12-01T06:00."
            raise MisuseError(f"{moment!r} is no time.", hint=hint) from None
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime(moment.year, moment.month, moment.day)
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)).timestamp()


def refuse_mute(dataset: str) -> MisuseError:
    """The error of a store that is to record a mute of a dataset without a run."""
    return MisuseError(f"{dataset} has no run, so it has no column to mute.", hint="Judge a batch first.")
