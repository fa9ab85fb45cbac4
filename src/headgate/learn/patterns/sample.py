"""Samples a column: the same distinct values are kept wherever and in whatever order the column is read."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

MAX_DISTINCT = 200
"""The most distinct values kept of a column; beyond it, the values with the smallest checksums are kept."""

MIN_SPLIT_VALUES = 20
"""The fewest values of a column that is split into first values (a past batch) and later values (those after it)."""

_MIN_FIRST, _FIRST_DIVISOR = 5, 10  # the first tenth of a column, and at least five values


def limit_distinct(values: Iterable[str] | Mapping[str, int], most: int = MAX_DISTINCT) -> dict[str, int]:
    """At most `most` distinct values, with how often each occurs in the whole column.

    >>> limit_distinct(["b", "a", "b"])
    {'b': 2, 'a': 1}
    >>> len(limit_distinct(str(number) for number in range(1_000)))
    200
    """
    counts = Counter(values)
    if len(counts) <= most:
        return dict(counts)
    kept = sorted(counts, key=lambda value: (zlib.crc32(value.encode("utf-8", "surrogatepass")), value))[:most]
    return {value: counts[value] for value in kept}


def first_values(count: int) -> int:
    """How many of `count` values are a column's first values; 0 for a column too short to split.

    >>> first_values(1_000), first_values(30), first_values(19)
    (100, 5, 0)
    """
    return max(_MIN_FIRST, count // _FIRST_DIVISOR) if count >= MIN_SPLIT_VALUES else 0


class SampledColumn(msgspec.Struct, frozen=True):
    """A sampled column: distinct values, how often each occurs, and how often among the first values (`early`)."""

    values: list[str]
    counts: list[int]
    early: list[int]

    @classmethod
    def of(cls, values: Sequence[str]) -> SampledColumn:
        """The sample of a column whose values are given in their order.

        >>> SampledColumn.of(["a"] * 4 + ["b"] * 16)
        SampledColumn(values=['a', 'b'], counts=[4, 16], early=[4, 1])
        """
        counts = limit_distinct(values)
        early = Counter(values[: first_values(len(values))])
        return cls(list(counts), list(counts.values()), [early[value] for value in counts])
