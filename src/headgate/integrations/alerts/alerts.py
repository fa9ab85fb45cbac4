"""The policy of alerts: what is told, what waits for the next message, what nobody needs to hear."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args

import msgspec

from headgate.gate.notification import TROUBLE, Channel, Notice
from headgate.integrations.alerts.incident import Spell, grouped, lasted, recovered
from headgate.integrations.alerts.memory import Memory
from headgate.values.errors import DeliveryError, MisuseError
from headgate.values.expectation import Status
from headgate.values.outcome import Failed
from headgate.values.run import Decision

On: TypeAlias = Literal["status_change", "every_hold"]


class Delivered(msgspec.Struct, frozen=True):
    """Every channel took it; `notice` is what was said, `note` what went wrong besides."""

    notice: Notice
    note: str = ""


class Suppressed(msgspec.Struct, frozen=True):
    """Nothing was sent, on purpose."""

    why: str


Told: TypeAlias = Delivered | Suppressed | Failed


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

    def tell(self, notice: Notice) -> Told:
        """Send this notice, keep it for the next message, or drop it; the answer says which."""
        if not self._channels:
            return Suppressed("there is no channel")
        spell = self._memory.of(notice.dataset)
        if spell.has_told(notice):
            return Suppressed("it was told before")
        if notice.is_trouble:
            return self._tell_trouble(notice, spell)
        if notice.status == Status.PASS and (spell.batches or notice.previous_status in TROUBLE):
            return self._tell_health(notice, spell)
        return Suppressed("it passed, as before" if notice.status == Status.PASS else "there was nothing to judge")

    def flush(self) -> tuple[Told, ...]:
        """Send what waits and need wait no longer, one message for each dataset."""
        ready = [
            (spell.newest, spell)
            for spell in self._memory.spells().values()
            if spell.newest is not None and spell.waiting and not self._waits(spell)
        ]
        return tuple(self._send(grouped(newest, spell), spell, spell.all_told(self._now())) for newest, spell in ready)

    def _tell_trouble(self, notice: Notice, spell: Spell) -> Told:
        is_hold = self._on == "every_hold" and notice.action == Decision.HELD
        is_news = is_hold or notice.status != notice.previous_status or bool(spell.waiting)
        spell = spell.with_batch(notice, told=not is_news)
        if not is_news:
            return self._suppress(notice, spell, f"the status is {notice.status}, as before")
        if waits := self._waits(spell):
            return self._suppress(notice, spell, waits)
        return self._send(grouped(notice, spell), spell, spell.all_told(self._now()))

    def _tell_health(self, notice: Notice, spell: Spell) -> Told:
        was_told = len(spell.waiting) < len(spell.batches) or not spell.batches
        if not was_told and (waits := self._waits(spell)):
            return self._suppress(notice, spell, waits)
        return self._send(recovered(notice, spell), spell, spell.over(recovered(notice, spell)))

    def _waits(self, spell: Spell) -> str:
        """Why trouble is not told now; a clock that was set back makes nobody wait."""
        if spell.last is None or not 0 <= (ago := self._now() - spell.last) < self._every:
            return ""
        return f"the dataset was told of {lasted(ago)} ago, and is at most once in {lasted(self._every)}; it waits"

    def _suppress(self, notice: Notice, spell: Spell, why: str) -> Suppressed:
        note = self._memory.keep(notice.dataset, spell, self._now())
        return Suppressed(f"{why}; {note}" if note else why)

    def _send(self, notice: Notice, before: Spell, after: Spell) -> Told:
        """If nobody could be told, it is remembered as not told. If only some could, they are not told twice."""
        troubles = [trouble for channel in self._channels if (trouble := _trouble(channel, notice))]
        nobody = len(troubles) == len(self._channels)
        note = self._memory.keep(notice.dataset, before if nobody else after, self._now())
        return Failed("; ".join(troubles)) if troubles else Delivered(notice, note)


def _trouble(channel: Channel, notice: Notice) -> str:
    try:
        channel.send(notice)
    except DeliveryError as error:
        return f"{channel!r}: {error}"
    except Exception as error:  # a channel of somebody else; its words may hold a secret
        return f"{channel!r}: {type(error).__name__}"
    return ""
