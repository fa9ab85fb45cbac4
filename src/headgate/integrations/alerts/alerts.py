"""The policy of alerts: what is told, what waits for the next message, what nobody needs to hear."""

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
    """Every channel took it; `notification` is what was said, `note` what went wrong besides."""

    notification: Notification
    note: str = ""


class Suppressed(msgspec.Struct, frozen=True):
    """Nothing was sent, on purpose."""

    why: str


AlertResult: TypeAlias = Delivered | Suppressed | Failed


class Alerts:
    """Tells channels of trouble and of health.

    `on="status_change"` tells when the status differs from that of the run before; `on="every_hold"` also tells of each
    held batch. Trouble of one dataset is told at most once in `every` seconds: what comes between waits and becomes one
    message. Health after trouble that was told is told at once. `memory` is a file in which a later process finds what
    was told.

    Nothing here raises: a message that could not be delivered is `Failed`, and waits for the next.
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
        """Send this notification, keep it for the next message, or drop it; the answer says which."""
        if not self._channels:
            return Suppressed("there is no channel")
        incident = self._memory.incident_of(notification.dataset)
        if incident.has_told(notification):
            return Suppressed("it was told before")
        if notification.is_trouble:
            return self._notify_trouble(notification, incident)
        if notification.status == Status.PASS and (incident.batches or notification.previous_status in TROUBLE):
            return self._notify_recovery(notification, incident)
        return Suppressed(
            "it passed, as before" if notification.status == Status.PASS else "there was nothing to judge"
        )

    def flush(self) -> tuple[AlertResult, ...]:
        """Send what waits and need wait no longer, one message for each dataset."""
        ready = [
            (incident.newest, incident)
            for incident in self._memory.incidents().values()
            if incident.newest is not None and incident.waiting and not self._reason_to_wait(incident)
        ]
        return tuple(
            self._send(combine_waiting(newest, incident), incident, incident.mark_all_told(self._now()))
            for newest, incident in ready
        )

    def _notify_trouble(self, notification: Notification, incident: Incident) -> AlertResult:
        is_hold = self._on == "every_hold" and notification.action == Decision.HELD
        is_news = is_hold or notification.status != notification.previous_status or bool(incident.waiting)
        incident = incident.with_batch(notification, told=not is_news)
        if not is_news:
            return self._suppress(notification, incident, f"the status is {notification.status}, as before")
        if waits := self._reason_to_wait(incident):
            return self._suppress(notification, incident, waits)
        return self._send(combine_waiting(notification, incident), incident, incident.mark_all_told(self._now()))

    def _notify_recovery(self, notification: Notification, incident: Incident) -> AlertResult:
        was_told = len(incident.waiting) < len(incident.batches) or not incident.batches
        if not was_told and (waits := self._reason_to_wait(incident)):
            return self._suppress(notification, incident, waits)
        return self._send(
            make_recovery(notification, incident), incident, incident.resolve(make_recovery(notification, incident))
        )

    def _reason_to_wait(self, incident: Incident) -> str:
        """Why trouble is not told now; a clock that was set back makes nobody wait."""
        if incident.last is None or not 0 <= (ago := self._now() - incident.last) < self._every:
            return ""
        every = format_duration(self._every)
        return f"the dataset was told of {format_duration(ago)} ago, and is at most once in {every}; it waits"

    def _suppress(self, notification: Notification, incident: Incident, why: str) -> Suppressed:
        note = self._memory.keep(notification.dataset, incident, self._now())
        return Suppressed(f"{why}; {note}" if note else why)

    def _send(self, notification: Notification, before: Incident, after: Incident) -> AlertResult:
        """If nobody could be told, it is remembered as not told. If only some could, they are not told twice."""
        troubles = [trouble for channel in self._channels if (trouble := _try_channel(channel, notification))]
        nobody = len(troubles) == len(self._channels)
        note = self._memory.keep(notification.dataset, before if nobody else after, self._now())
        return Failed("; ".join(troubles)) if troubles else Delivered(notification, note)


def _try_channel(channel: Channel, notification: Notification) -> str:
    try:
        channel.send(notification)
    except DeliveryError as error:
        return f"{channel!r}: {error}"
    except Exception as error:  # a channel of somebody else; its words may hold a secret
        return f"{channel!r}: {type(error).__name__}"
    return ""
