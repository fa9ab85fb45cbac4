"""Schema matching by instances: columns that share values lend theirs, and Potter's Wheel reads them all."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.patterns.baselines.potters_wheel import rule
from benchmarks.patterns.protocol import Method, RegexRule

MOST_VALUES = 5_000
SHARED = (1, 10)


class ValueIndex:
    """The different values of many columns, and for each value the columns that have it."""

    def __init__(self, rest: pa.Table) -> None:
        lists = rest["values"].combine_chunks()
        encoded = pc.list_flatten(lists).dictionary_encode()
        parents, codes = (np.asarray(each, np.int64) for each in (pc.list_parent_indices(lists), encoded.indices))
        pairs = np.unique(parents * len(encoded.dictionary) + codes)
        self._values = encoded.dictionary
        self._columns, self._codes = np.divmod(pairs, len(encoded.dictionary))
        self._of_column = np.searchsorted(self._columns, np.arange(len(lists) + 1))
        self._order = np.argsort(self._codes, kind="stable")
        self._of_value = np.searchsorted(self._codes[self._order], np.arange(len(encoded.dictionary) + 1))
        self._places = {value: at for at, value in enumerate(encoded.dictionary.to_pylist())}

    def sharing(self, values: set[str], least: int) -> list[int]:
        """The columns that share at least so many of the values; those that share most come first."""
        places = [self._places[value] for value in sorted(values) if value in self._places]
        found = Counter(column for place in places for column in self._having(place))
        return [column for column, shared in found.most_common() if shared >= least]

    def values(self, column: int) -> list[str]:
        begin, end = self._of_column[column : column + 2]
        return list(self._values.take(pa.array(self._codes[begin:end])).to_pylist())

    def _having(self, place: int) -> list[int]:
        begin, end = self._of_value[place : place + 2]
        return list(self._columns[self._order[begin:end]].tolist())


def broadened(index: ValueIndex, least: int, train: list[str]) -> list[str]:
    """The training values, with the different values of columns that share some, up to a number."""
    own = set(train)
    found = dict.fromkeys(train)
    for column in index.sharing(own, least):
        found.update(dict.fromkeys(index.values(column)))
        if len(found) >= MOST_VALUES:
            break
    extra = (value for value in found if value not in own)
    return [*train, *islice(extra, MOST_VALUES - len(train))]


def matched(index: ValueIndex, least: int, train: list[str]) -> RegexRule | None:
    return rule(train, broadened(index, least, train))


def methods(rest: pa.Table) -> list[Method]:
    """SM-I-1 and SM-I-10 of the paper (section 5.2)."""
    index = ValueIndex(rest)
    return [Method(f"SM-I-{least}", partial(matched, index, least)) for least in SHARED]
