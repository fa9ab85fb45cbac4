"""What an alert says of one judged batch, as plain data, and the port that carries it out of the house.

Tested by `tests/integrations/test_channels.py` and `tests/gate/test_batch_verdict.py`.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal, Protocol, TypeAlias, get_args

import msgspec

from headgate.values.errors import MisuseError
from headgate.values.expectation import Status
from headgate.values.run import Decision

NotificationKind: TypeAlias = Literal["held", "recovered", "failing", "error", "drift"]
"""Failing: in observe mode, where a failed batch is published. Error: the batch could not be judged. Drift: it passed,
and something has slowly moved far."""

TROUBLE = frozenset({Status.FAIL, Status.ERROR})


class NotificationCause(msgspec.Struct, frozen=True):
    """One reason of a verdict: what it is, what was seen and what was allowed, how rare that is ("1 in 400 runs")."""

    title: str
    detail: str = ""
    rarity: str = ""


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """What is sent to people about one batch.

    `headline` is one sentence. `causes` are ranked, three at most are shown. `commands` are texts to copy, `changed`
    says what changed since the last good batch. `previous_status` is that of the dataset's run before this one, None if
    there was none. `batches` names the partitions that one message speaks for, newest first, if there are others.

    >>> notification = Notification(
    ...     dataset="orders", partition="2026-11-14", revision=1, kind="held", status="fail", action="held",
    ...     headline="orders 2026-11-14 failed and was held.", at=1794700800.0,
    ... )
    >>> notification.is_trouble, notification.to_dict()["status"]
    (True, 'fail')
    """

    dataset: str
    partition: str
    revision: int
    kind: NotificationKind
    status: Status
    action: Decision
    headline: str
    at: float
    causes: tuple[NotificationCause, ...] = ()
    owner: str = ""
    commands: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    link: str | None = None
    previous_status: Status | None = None
    batches: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """A status or an action may be given as its word."""
        try:
            _set(self, "status", Status(self.status))
            _set(self, "action", Decision(self.action))
            if self.previous_status is not None:
                _set(self, "previous_status", Status(self.previous_status))
        except ValueError as error:
            raise MisuseError(
                f"a notification cannot be made: {error}.",
                hint="status is pass, fail, skip or error; action is a decision, such as published or held.",
            ) from None
        if self.kind not in get_args(NotificationKind):
            raise MisuseError(
                f"{self.kind!r} is no kind of notification.", hint=f"Use {', '.join(get_args(NotificationKind))}."
            )

    @property
    def is_trouble(self) -> bool:
        """The batch failed, could not be judged, or was held for another reason."""
        return self.status in TROUBLE or self.action == Decision.HELD

    @property
    def key(self) -> str:
        """The same for a second try of the same message: a hash of dataset, partition, revision and kind."""
        parts = json.dumps([self.dataset, self.partition, self.revision, self.kind])
        return hashlib.sha256(parts.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON. Names are never taken away or changed, only added."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain


_set = msgspec.structs.force_setattr


class Channel(Protocol):
    """Carries notifications to somebody."""

    def send(self, notification: Notification) -> None:
        """Deliver it, or raise `DeliveryError`, whose words hold no secret."""
        ...
