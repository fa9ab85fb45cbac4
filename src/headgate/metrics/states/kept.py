"""Frequency tables that are too large for a state, kept in files and merged when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from headgate.values.codec import pack_state
from headgate.values.state import MOST, State, tag_of


class GroupTable(msgspec.Struct, frozen=True):
    """Where one frequency table lies: rows of a folder of Parquet files, and how many groups they hold."""

    folder: str
    part: str
    slot: int
    groups: int


class KeptGroups(State, frozen=True, tag="kept_groups"):
    """Frequency tables (ICDE 2019, Table I) by reference. Merging notes that they belong together; nothing is read.

    `rest` are tables small enough to be states, packed, each with its stored name.
    """

    tables: tuple[GroupTable, ...] = ()
    rest: tuple[tuple[str, bytes], ...] = ()

    @classmethod
    def holding(cls, state: State) -> KeptGroups:
        return state if isinstance(state, cls) else cls(rest=((tag_of(type(state)), pack_state(state)),))

    def is_sound(self) -> bool:
        return all(0 <= table.groups < MOST and table.slot >= 0 for table in self.tables)

    def __add__(self, other: KeptGroups) -> KeptGroups:
        return self.merge_all([self, other])

    @classmethod
    def merge_all(cls, states: Sequence[KeptGroups]) -> KeptGroups:
        tables = sorted((table for each in states for table in each.tables), key=msgspec.structs.astuple)
        return cls(tuple(tables), tuple(sorted(packed for each in states for packed in each.rest)))

    @property
    def groups(self) -> int:
        """How many groups the tables hold; one that is in several tables counts several times."""
        return sum(table.groups for table in self.tables)
