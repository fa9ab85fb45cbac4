"""The trouble of one dataset since it was last healthy: what was told of it, what waits, and the words for both."""

from __future__ import annotations

import msgspec

from headgate.display.numbers import shown_moment
from headgate.gate.notification import Notice
from headgate.values.run import Decision

MOST = 200  # batches that are remembered one by one; earlier ones are only counted
_NAMED = 10  # partitions that a headline names


class Batch(msgspec.Struct, frozen=True):
    """A batch in trouble; `told` if a message spoke for it, or none was wanted; `held` or published all the same."""

    key: str
    partition: str
    at: float
    told: bool
    held: bool


class Spell(msgspec.Struct, frozen=True):
    """Batches in trouble, oldest first. `last` is when trouble was last told, `newest` the last notice that waits,
    `recovery` the key of the last message of health, `touched` when any of this last changed. What no longer is among
    the batches is counted as `earlier`."""

    batches: tuple[Batch, ...] = ()
    earlier: int = 0
    earlier_waiting: int = 0
    since: float | None = None
    last: float | None = None
    newest: Notice | None = None
    recovery: str = ""
    touched: float = 0.0

    @property
    def count(self) -> int:
        return self.earlier + len(self.batches)

    @property
    def waiting(self) -> tuple[Batch, ...]:
        """Those that nobody was told of, newest first."""
        return tuple(sorted((each for each in self.batches if not each.told), key=lambda each: each.at, reverse=True))

    def has_told(self, notice: Notice) -> bool:
        told = {each.key for each in self.batches if each.told}
        return notice.key in told or notice.key == self.recovery

    def with_batch(self, notice: Notice, told: bool) -> Spell:
        """With one more batch; a new revision of a partition takes the place of the old."""
        batch = Batch(notice.key, notice.partition, notice.at, told, notice.action == Decision.HELD)
        others = [each for each in self.batches if each.partition != notice.partition]
        kept, gone = (*others, batch)[-MOST:], others[: max(0, len(others) + 1 - MOST)]
        return msgspec.structs.replace(
            self,
            batches=kept,
            earlier=self.earlier + len(gone),
            earlier_waiting=self.earlier_waiting + sum(not each.told for each in gone),
            since=notice.at if self.since is None else min(self.since, notice.at),
            newest=self.newest if told else notice,
        )

    def all_told(self, now: float) -> Spell:
        told = tuple(msgspec.structs.replace(each, told=True) for each in self.batches)
        return msgspec.structs.replace(self, batches=told, earlier_waiting=0, newest=None, last=now)

    def over(self, notice: Notice) -> Spell:
        """Healthy again. A message of health does not delay the next of trouble."""
        return Spell(last=self.last, recovery=notice.key)


def grouped(notice: Notice, spell: Spell) -> Notice:
    """One message for all batches that wait: that of the newest, with the others named."""
    waiting = spell.waiting
    if len(waiting) < 2:
        return notice
    names = [each.partition for each in waiting]
    count = len(names) + spell.earlier_waiting
    shown = ", ".join(names[:_NAMED]) + (f" and {count - _NAMED:,} more" if count > _NAMED else "")
    since = shown_moment(_since(waiting, spell), whole_days=False)
    became = "held" if all(each.held for each in waiting) else "failing"
    headline = f"{count:,} batches of {notice.dataset} {became} since {since} UTC, newest first: {shown}."
    said = f"{headline} {notice.headline}".strip()
    return msgspec.structs.replace(notice, headline=said, batches=tuple(names))


def _since(waiting: tuple[Batch, ...], spell: Spell) -> float:
    listed = min(each.at for each in waiting)
    return spell.since if spell.earlier_waiting and spell.since is not None else listed


def recovered(notice: Notice, spell: Spell) -> Notice:
    """The message of health, with the length of what came before, where it is known."""
    if spell.since is None:
        return msgspec.structs.replace(notice, kind="recovered")
    became = "held" if any(each.held for each in spell.batches) else "failing"
    batches = f"{spell.count:,} {became} batch{'' if spell.count == 1 else 'es'}"
    headline = f"{notice.dataset} is healthy again after {batches}, {lasted(notice.at - spell.since)}."
    names = tuple(each.partition for each in reversed(spell.batches))
    return msgspec.structs.replace(notice, kind="recovered", headline=headline, batches=names)


def lasted(seconds: float) -> str:
    """A length of time as people say it.

    >>> lasted(40), lasted(2_400), lasted(93_600), lasted(1_000_000)
    ('1 minute', '40 minutes', '26 hours', '12 days')
    """
    for unit, size, least in (("day", 86_400, 3 * 86_400), ("hour", 3_600, 5_400), ("minute", 60, 0)):
        if seconds >= least:
            count = max(1, round(seconds / size))
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"
