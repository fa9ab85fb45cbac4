"""Columns made bounded: the same distinct values are kept wherever and in whatever order the column is read."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

DISTINCT = 200
"""Distinct values of a column that are looked at; of more, those with the smallest checksums are kept."""

LEAST_COLUMN = 20
"""Values of a column whose first ones are taken for a batch, and whose later ones for what came after it."""

_FEWEST_FIRST, _FIRST = 5, 10  # the first tenth of a column, and at least five


def limit_distinct(values: Iterable[str] | Mapping[str, int], most: int = DISTINCT) -> dict[str, int]:
    """Distinct values and how often each occurs, at most `most` of them: a sample of values, with all their repeats.

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
    """How many of a column's values are its first ones; 0 for a column too short to be told first and later apart.

    >>> first_values(1_000), first_values(30), first_values(19)
    (100, 5, 0)
    """
    return max(_FEWEST_FIRST, count // _FIRST) if count >= LEAST_COLUMN else 0


class SampledColumn(msgspec.Struct, frozen=True):
    """A column, bounded: distinct values, how often each occurs, and how often among the first."""

    values: list[str]
    counts: list[int]
    early: list[int]

    @classmethod
    def of(cls, values: Sequence[str]) -> SampledColumn:
        """From the values in their order.

        >>> SampledColumn.of(["a"] * 4 + ["b"] * 16)
        SampledColumn(values=['a', 'b'], counts=[4, 16], early=[4, 1])
        """
        counts = limit_distinct(values)
        early = Counter(values[: first_values(len(values))])
        return cls(list(counts), list(counts.values()), [early[value] for value in counts])
