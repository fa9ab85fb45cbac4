"""What a table remembers of how rare its own good batches were."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Part(StrEnum):
    """A part of a batch that has a limit of its own."""

    ROWS = "rows"  # the number of rows
    BASICS = "basics"  # complete columns, keys, newest times and periods
    NULLS = "nulls"  # more of them than usual, of columns that have some
    COLUMNS = "columns"  # all metrics of a column together


class BatchRarity(msgspec.Struct, frozen=True, omit_defaults=True):
    """How rare each part of one batch was, and the surprises of the metrics that were notable in it.

    `is_alarm` is whether a part was beyond its limit.
    """

    parts: dict[Part, float] = {}
    surprises: dict[str, float] = {}
    is_alarm: bool = False


class RarityMemory(msgspec.Struct, frozen=True, omit_defaults=True):
    """How rare the good batches of a table were so far, and what was notable in them.

    `runs` is how many are remembered; it is no whole number once old ones fade. `number` counts all of them. `alarms`
    is how many were held and accepted: false alarms. `level` is the mean rarity of their columns. `batches` counts
    them, for each part, by their rarity, in steps of `rarity_limit.STEP`. `surprises` are those of the metrics that
    were notable, the newest of each, and the numbers of their batches.
    """

    runs: float = 0.0
    number: int = 0
    alarms: float = 0.0
    level: float = 0.0
    batches: dict[Part, dict[str, float]] = {}
    surprises: dict[str, tuple[tuple[float, int], ...]] = {}


NOTHING_REMEMBERED = RarityMemory()
