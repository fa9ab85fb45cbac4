"""The trouble of one dataset since it was last healthy: what was told of it, what waits, and the words for both."""

from __future__ import annotations

import msgspec

from headgate.display.numbers import format_moment
from headgate.gate.notification import Notification
from headgate.values.run import Decision

MOST_BATCHES = 200  # batches that are remembered one by one; earlier ones are only counted
_NAMED = 10  # partitions that a headline names


class IncidentBatch(msgspec.Struct, frozen=True):
    """A batch in trouble; `told` if a message spoke for it, or none was wanted; `held` or published all the same."""

    key: str
    partition: str
    at: float
    told: bool
    held: bool


class Incident(msgspec.Struct, frozen=True):
    """The batches of a dataset that failed one after the other, oldest first.

    `last` is when the last message was sent, `newest` the last notification that waits, `recovery` the key of the last
    message that the dataset is healthy again, `touched` when any of this last changed. Batches that are no longer
    listed are counted as `earlier`.
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
        """Those that nobody was told of, newest first."""
        return tuple(sorted((each for each in self.batches if not each.told), key=lambda each: each.at, reverse=True))

    def has_told(self, notification: Notification) -> bool:
        told = {each.key for each in self.batches if each.told}
        return notification.key in told or notification.key == self.recovery

    def with_batch(self, notification: Notification, told: bool) -> Incident:
        """With one more batch; a new revision of a partition takes the place of the old."""
        batch = IncidentBatch(
            notification.key, notification.partition, notification.at, told, notification.action == Decision.HELD
        )
        others = [each for each in self.batches if each.partition != notification.partition]
        kept, gone = (*others, batch)[-MOST_BATCHES:], others[: max(0, len(others) + 1 - MOST_BATCHES)]
        return msgspec.structs.replace(
            self,
            batches=kept,
            earlier=self.earlier + len(gone),
            earlier_waiting=self.earlier_waiting + sum(not each.told for each in gone),
            since=notification.at if self.since is None else min(self.since, notification.at),
            newest=self.newest if told else notification,
        )

    def mark_all_told(self, now: float) -> Incident:
        told = tuple(msgspec.structs.replace(each, told=True) for each in self.batches)
        return msgspec.structs.replace(self, batches=told, earlier_waiting=0, newest=None, last=now)

    def resolve(self, notification: Notification) -> Incident:
        """Healthy again. A message of health does not delay the next of trouble."""
        return Incident(last=self.last, recovery=notification.key)


def combine_waiting(notification: Notification, incident: Incident) -> Notification:
    """One message for all batches that wait: that of the newest, with the others named."""
    waiting = incident.waiting
    if len(waiting) < 2:
        return notification
    names = [each.partition for each in waiting]
    count = len(names) + incident.earlier_waiting
    shown = ", ".join(names[:_NAMED]) + (f" and {count - _NAMED:,} more" if count > _NAMED else "")
    since = format_moment(_find_start(waiting, incident), whole_days=False)
    became = "held" if all(each.held for each in waiting) else "failing"
    headline = f"{count:,} batches of {notification.dataset} {became} since {since} UTC, newest first: {shown}."
    said = f"{headline} {notification.headline}".strip()
    return msgspec.structs.replace(notification, headline=said, batches=tuple(names))


def _find_start(waiting: tuple[IncidentBatch, ...], incident: Incident) -> float:
    listed = min(each.at for each in waiting)
    return incident.since if incident.earlier_waiting and incident.since is not None else listed


def make_recovery(notification: Notification, incident: Incident) -> Notification:
    """The message of health, with the length of what came before, where it is known."""
    if incident.since is None:
        return msgspec.structs.replace(notification, kind="recovered")
    became = "held" if any(each.held for each in incident.batches) else "failing"
    batches = f"{incident.count:,} {became} batch{'' if incident.count == 1 else 'es'}"
    headline = (
        f"{notification.dataset} is healthy again after {batches}, {format_duration(notification.at - incident.since)}."
    )
    names = tuple(each.partition for each in reversed(incident.batches))
    return msgspec.structs.replace(notification, kind="recovered", headline=headline, batches=names)


def format_duration(seconds: float) -> str:
    """A length of time as people say it.

    >>> format_duration(40), format_duration(2_400), format_duration(93_600), format_duration(1_000_000)
    ('1 minute', '40 minutes', '26 hours', '12 days')
    """
    for unit, size, least in (("day", 86_400, 3 * 86_400), ("hour", 3_600, 5_400), ("minute", 60, 0)):
        if seconds >= least:
            count = max(1, round(seconds / size))
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"
