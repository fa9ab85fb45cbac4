"""An incident: the failures of one dataset since it last passed, which of them were reported, and the messages."""

from __future__ import annotations

import msgspec

from headgate.display.numbers import format_moment
from headgate.gate.notification import Notification
from headgate.values.run import Decision

MOST_BATCHES = 200  # batches that an incident lists; earlier ones are only counted
_MAX_NAMES = 10  # partitions that a headline lists


class IncidentBatch(msgspec.Struct, frozen=True):
    """A batch that failed. `reported` if a message covered it or none was due; `held` if it was not published."""

    key: str
    partition: str
    at: float
    reported: bool = msgspec.field(name="told")  # the name in stored files
    held: bool


class Incident(msgspec.Struct, frozen=True):
    """The consecutive batches of a dataset that failed, oldest first.

    `since` is the time of the first failure, `last` the time of the last message, `newest` the latest waiting
    notification, `recovery` the key of the last recovery message, `touched` the time of the last change. `earlier`
    counts batches that are no longer listed, `earlier_waiting` those of them that were not reported.
    """

    batches: tuple[IncidentBatch, ...] = ()
    earlier: int = 0
    earlier_waiting: int = 0
    since: float | None = None
    last: float | None = None
    newest: Notification | None = None
    recovery: str = ""
    touched: float = 0.0

    @property
    def count(self) -> int:
        return self.earlier + len(self.batches)

    @property
    def waiting(self) -> tuple[IncidentBatch, ...]:
        """The batches that were not reported, newest first."""
        return tuple(
            sorted((each for each in self.batches if not each.reported), key=lambda each: each.at, reverse=True)
        )

    def was_reported(self, notification: Notification) -> bool:
        reported = {each.key for each in self.batches if each.reported}
        return notification.key in reported or notification.key == self.recovery

    def with_batch(self, notification: Notification, reported: bool) -> Incident:
        """The incident with one more batch; a new revision of a partition replaces the old one."""
        batch = IncidentBatch(
            notification.key, notification.partition, notification.at, reported, notification.action == Decision.HELD
        )
        others = [each for each in self.batches if each.partition != notification.partition]
        listed, dropped = (*others, batch)[-MOST_BATCHES:], others[: max(0, len(others) + 1 - MOST_BATCHES)]
        return msgspec.structs.replace(
            self,
            batches=listed,
            earlier=self.earlier + len(dropped),
            earlier_waiting=self.earlier_waiting + sum(not each.reported for each in dropped),
            since=notification.at if self.since is None else min(self.since, notification.at),
            newest=self.newest if reported else notification,
        )

    def mark_all_reported(self, now: float) -> Incident:
        batches = tuple(msgspec.structs.replace(each, reported=True) for each in self.batches)
        return msgspec.structs.replace(self, batches=batches, earlier_waiting=0, newest=None, last=now)

    def resolve(self, notification: Notification) -> Incident:
        """The incident after a recovery. A recovery message does not delay the next failure message."""
        return Incident(last=self.last, recovery=notification.key)


def combine_waiting(notification: Notification, incident: Incident) -> Notification:
    """One notification for all waiting batches: that of the newest, with the others listed."""
    waiting = incident.waiting
    if len(waiting) < 2:
        return notification
    names = [each.partition for each in waiting]
    count = len(names) + incident.earlier_waiting
    shown = ", ".join(names[:_MAX_NAMES]) + (f" and {count - _MAX_NAMES:,} more" if count > _MAX_NAMES else "")
    since = format_moment(_find_start(waiting, incident), whole_days=False)
    outcome = "held" if all(each.held for each in waiting) else "failing"
    headline = f"{count:,} batches of {notification.dataset} {outcome} since {since} UTC, newest first: {shown}."
    text = f"{headline} {notification.headline}".strip()
    return msgspec.structs.replace(notification, headline=text, batches=tuple(names))


def _find_start(waiting: tuple[IncidentBatch, ...], incident: Incident) -> float:
    listed = min(each.at for each in waiting)
    return incident.since if incident.earlier_waiting and incident.since is not None else listed


def make_recovery(notification: Notification, incident: Incident) -> Notification:
    """The notification of a recovery, with the number of failed batches and the duration of the incident if known."""
    if incident.since is None:
        return msgspec.structs.replace(notification, kind="recovered")
    outcome = "held" if any(each.held for each in incident.batches) else "failing"
    batches = f"{incident.count:,} {outcome} batch{'' if incident.count == 1 else 'es'}"
    headline = (
        f"{notification.dataset} is healthy again after {batches}, {format_duration(notification.at - incident.since)}."
    )
    names = tuple(each.partition for each in reversed(incident.batches))
    return msgspec.structs.replace(notification, kind="recovered", headline=headline, batches=names)


def format_duration(seconds: float) -> str:
    """A duration in its largest fitting unit.

    >>> format_duration(40), format_duration(2_400), format_duration(93_600), format_duration(1_000_000)
    ('1 minute', '40 minutes', '26 hours', '12 days')
    """
    for unit, size, least in (("day", 86_400, 3 * 86_400), ("hour", 3_600, 5_400), ("minute", 60, 0)):
        if seconds >= least:
            count = max(1, round(seconds / size))
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"
