"""The alert policy: which notifications are sent, which wait for the next message, and which are dropped."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args

import msgspec

from headgate.gate.notification import TROUBLE, Channel, Notification
from headgate.integrations.alerts.incident import Incident, combine_waiting, format_duration, make_recovery
from headgate.integrations.alerts.memory import Memory
from headgate.values.errors import DeliveryError, MisuseError
from headgate.values.expectation import Status
from headgate.values.outcome import Failed
from headgate.values.run import Decision

On: TypeAlias = Literal["status_change", "every_hold"]


class Delivered(msgspec.Struct, frozen=True):
    """Every channel accepted `notification`. `note` names a problem that did not prevent the delivery."""

    notification: Notification
    note: str = ""


class Suppressed(msgspec.Struct, frozen=True):
    """Nothing was sent, because the policy says so."""

    why: str


AlertResult: TypeAlias = Delivered | Suppressed | Failed


class Alerts:
    """Sends notifications about failing and recovered datasets to channels.

    The failures of one dataset cause at most one message in `every` seconds. Failures in between wait, and are combined
    in the next message. A recovery from failures that were reported is sent at once.

    No method raises an error of a channel: a message that could not be delivered gives `Failed`, and waits.

    Args:
        channels: Where to send: `Slack(...)`, `Webhook(...)`, or any object with a `send` method.
        on: "status_change" (the default) sends when the status differs from that of the run before; "every_hold" also
            sends for each held batch.
        every: The shortest time between two messages about failures of one dataset, in seconds. One hour by default.
        memory: A file that keeps what was sent, so that later processes know it. None keeps it in this process.
        now: The clock, in seconds since 1970. For tests.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        *,
        on: On = "status_change",
        every: float = 3_600.0,
        memory: str | os.PathLike[str] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        if on not in get_args(On):
            raise MisuseError(f"on={on!r} is not a choice.", hint=f"Write one of {', '.join(get_args(On))}.")
        if not every >= 0:
            raise MisuseError(f"every={every!r} is no number of seconds.", hint="every=3600 is one message in an hour.")
        self._channels = tuple(channels)
        self._on = on
        self._every = every
        self._memory = Memory(memory)
        self._now = now

    def notify(self, notification: Notification) -> AlertResult:
        """Send this notification, keep it for the next message, or drop it; the result says which."""
        if not self._channels:
            return Suppressed("there is no channel")
        incident = self._memory.incident_of(notification.dataset)
        if incident.was_reported(notification):
            return Suppressed("it was told before")
        if notification.is_trouble:
            return self._notify_failure(notification, incident)
        if notification.status == Status.PASS and (incident.batches or notification.previous_status in TROUBLE):
            return self._notify_recovery(notification, incident)
        if notification.kind == "drift":
            return self._notify_drift(notification, incident)
        return Suppressed(
            "it passed, as before" if notification.status == Status.PASS else "there was nothing to judge"
        )

    def flush(self) -> tuple[AlertResult, ...]:
        """Send the waiting notifications that are due, one message for each dataset."""
        ready = [
            (incident.newest, incident)
            for incident in self._memory.incidents().values()
            if incident.newest is not None and incident.waiting and not self._reason_to_wait(incident)
        ]
        return tuple(
            self._send(combine_waiting(newest, incident), incident, incident.mark_all_reported(self._now()))
            for newest, incident in ready
        )

    def _notify_failure(self, notification: Notification, incident: Incident) -> AlertResult:
        is_hold = self._on == "every_hold" and notification.action == Decision.HELD
        is_news = is_hold or notification.status != notification.previous_status or bool(incident.waiting)
        incident = incident.with_batch(notification, reported=not is_news)
        if not is_news:
            return self._suppress(notification, incident, f"the status is {notification.status}, as before")
        if reason := self._reason_to_wait(incident):
            return self._suppress(notification, incident, reason)
        return self._send(combine_waiting(notification, incident), incident, incident.mark_all_reported(self._now()))

    def _notify_recovery(self, notification: Notification, incident: Incident) -> AlertResult:
        was_reported = len(incident.waiting) < len(incident.batches) or not incident.batches
        if not was_reported and (reason := self._reason_to_wait(incident)):
            return self._suppress(notification, incident, reason)
        recovery = make_recovery(notification, incident)
        return self._send(recovery, incident, incident.resolve(recovery))

    def _notify_drift(self, notification: Notification, incident: Incident) -> AlertResult:
        """Tell of a batch that passed. If the dataset was told of just now, the history tells it alone."""
        if reason := self._reason_to_wait(incident):
            return Suppressed(reason.removesuffix("; it waits"))
        headline = f"{notification.headline} {'; '.join(notification.changed[:1])}."
        told = msgspec.structs.replace(notification, headline=headline)
        return self._send(told, incident, incident.mark_all_reported(self._now()))

    def _reason_to_wait(self, incident: Incident) -> str:
        """Why a failure is not sent now; empty if it is. If the clock was set back, it is sent."""
        if incident.last is None or not 0 <= (ago := self._now() - incident.last) < self._every:
            return ""
        every = format_duration(self._every)
        return f"the dataset was told of {format_duration(ago)} ago, and is at most once in {every}; it waits"

    def _suppress(self, notification: Notification, incident: Incident, why: str) -> Suppressed:
        note = self._memory.keep(notification.dataset, incident, self._now())
        return Suppressed(f"{why}; {note}" if note else why)

    def _send(self, notification: Notification, before: Incident, after: Incident) -> AlertResult:
        """Send to all channels, then record `after`; or record `before`, so that it waits, if no channel accepted it.

        If only some channels accepted it, it counts as sent: no channel gets the same message twice.
        """
        errors = [error for channel in self._channels if (error := _try_channel(channel, notification))]
        all_failed = len(errors) == len(self._channels)
        note = self._memory.keep(notification.dataset, before if all_failed else after, self._now())
        return Failed("; ".join(errors)) if errors else Delivered(notification, note)


def _try_channel(channel: Channel, notification: Notification) -> str:
    """Send to one channel; the error as text, or an empty text."""
    try:
        channel.send(notification)
    except DeliveryError as error:
        return f"{channel!r}: {error}"
    except Exception as error:  # from a custom channel; its message may contain a secret
        return f"{channel!r}: {type(error).__name__}"
    return ""
