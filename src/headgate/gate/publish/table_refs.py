"""Names in a table that keep the data of batches: what is staged, what is held, and what is on its way to readers.

Tested by `tests/gate/publish/test_publisher.py`.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Iterable
from typing import Literal, TypeAlias, cast

import msgspec

from headgate.gate.publish.publisher import Delivery, Part

RefKind: TypeAlias = Literal["staged", "held", "taken"]

EMPTY = ":empty"
"""The end of what identifies a batch without rows."""
_NAME = re.compile(
    r"headgate-(staged|held|taken)-[A-Za-z0-9-]*-([0-9a-f]{16})-([0-9]+)-([0-9a-f]{12,128})-(whole|good|bad)(-empty)?"
)
_READABLE = 40  # characters of a partition that a name shows


class Ref(msgspec.Struct, frozen=True):
    """A name in a table, and what it keeps.

    `number` and `key` are those of the revision. What is staged is no revision yet: it has the time and a random key.
    """

    kind: RefKind
    partition: str
    number: int
    key: str
    part: Part
    name: str
    source: str

    @classmethod
    def parse(cls, name: str, source: str) -> Ref | None:
        """The ref of this name, which keeps this data; None if the name is not one of ours.

        >>> name = name_ref("held", Delivery("orders", "2026-11-14", 3, "c0ffee00c0ffee00"), "iceberg:7")
        >>> Ref.parse(name, "iceberg:7").number
        3
        """
        found = _NAME.fullmatch(name)
        if found is None:
            return None
        kind, partition, number, key, part, empty = found.groups()
        whole = source + EMPTY if empty else source
        return cls(cast(RefKind, kind), partition, int(number), key, cast(Part, part), name, whole)

    def is_of(self, delivery: Delivery) -> bool:
        """Whether it keeps this revision, or this part of one."""
        return (self.number, self.key, self.part) == (delivery.number, delivery.key, delivery.part)


class Refs(msgspec.Struct, frozen=True):
    """The refs of one partition."""

    all: tuple[Ref, ...]

    @classmethod
    def choose(cls, refs: Iterable[Ref], partition: str) -> Refs:
        """Those of a partition."""
        wanted = hash_partition(partition)
        return cls(tuple(each for each in refs if each.partition == wanted))

    def find(self, kind: RefKind, delivery: Delivery) -> Ref | None:
        """The ref of a revision that is held or taken."""
        return next((each for each in self.all if each.kind == kind and each.is_of(delivery)), None)

    def find_staged(self, part: Part) -> Ref | None:
        """What was staged last, unless it is held or taken already. What was staged before that never counts again."""
        kept = {each.source for each in self.all if each.kind != "staged"}
        staged = [each for each in self.all if each.kind == "staged" and each.part == part]
        newest = max(staged, key=lambda each: (each.number, each.key), default=None)
        return None if newest is None or newest.source in kept else newest

    def list_staged(self, source: str) -> list[Ref]:
        """The refs of what is staged, and of what was staged before it."""
        own = [each for each in self.all if each.kind == "staged" and each.source == source]
        return [
            each
            for each in self.all
            if each.kind == "staged" and any(each.part == one.part and each.number <= one.number for one in own)
        ]


def hash_partition(partition: str) -> str:
    """What stands for a partition in names, which may not have every character."""
    return hashlib.sha256(partition.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def name_ref(kind: RefKind, delivery: Delivery, source: str) -> str:
    """The name of what is held or taken for a revision."""
    return _make_name(kind, delivery.partition, delivery.number, delivery.key, delivery.part, source)


def name_staged(partition: str, part: Part, source: str) -> str:
    """A new name for what a job stages."""
    return _make_name("staged", partition, time.time_ns(), secrets.token_hex(8), part, source)


def _make_name(kind: RefKind, partition: str, number: int, key: str, part: Part, source: str) -> str:
    readable = re.sub("[^A-Za-z0-9]+", "-", partition)[:_READABLE].strip("-")
    empty = "-empty" if source.endswith(EMPTY) else ""
    return f"headgate-{kind}-{readable}-{hash_partition(partition)}-{number}-{key}-{part}{empty}"
