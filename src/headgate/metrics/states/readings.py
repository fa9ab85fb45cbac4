"""Folds that several metrics share: a metric inherits one of these and only says how it measures."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.codes import hash_pattern, pattern_label
from headgate.metrics.base.hashing import combine, hash_bytes
from headgate.metrics.base.labels import Labels
from headgate.metrics.base.metric import ColumnMetric, GroupMetric
from headgate.metrics.base.text import Texts
from headgate.metrics.states.characters import Characters
from headgate.metrics.states.distinct import Distinct
from headgate.metrics.states.frequencies import PATTERNS, VALUES, Frequencies
from headgate.metrics.states.groups import Groups
from headgate.metrics.states.moments import Moments
from headgate.metrics.states.quantiles import Quantiles
from headgate.values.schema import HASHABLE, ORDERED, TEXT


class OfNumbers(ColumnMetric[Moments], frozen=True):
    """Reads the moments of the finite numbers, and how many are infinite."""

    state: ClassVar = Moments
    folded: ClassVar = "moments"

    def fold(self, batch: ColumnBatch) -> Moments:
        return Moments.of(batch.floats, *batch.infinities)


class OfQuantiles(ColumnMetric[Quantiles], frozen=True):
    """Reads the distribution of the finite numbers."""

    state: ClassVar = Quantiles
    folded: ClassVar = "quantiles"
    accepts: ClassVar = ORDERED

    def fold(self, batch: ColumnBatch) -> Quantiles:
        return Quantiles.of(batch.floats)


class OfDistinct(ColumnMetric[Distinct], frozen=True):
    """Reads the sketch of which values there are."""

    state: ClassVar = Distinct
    folded: ClassVar = "distinct"
    hashes_values: ClassVar = True

    def fold(self, batch: ColumnBatch) -> Distinct:
        return Distinct.of(batch.tally.hashes, batch.present)


class OfLengths(ColumnMetric[Moments], frozen=True):
    """Reads the moments of the lengths: characters of a string, bytes of a binary value."""

    state: ClassVar = Moments
    folded: ClassVar = "lengths"
    tells_values: ClassVar = True

    def fold(self, batch: ColumnBatch) -> Moments:
        return Moments.of_counts(*batch.lengths)


class OfCharacters(ColumnMetric[Characters], frozen=True):
    """Reads how many characters of each class there are."""

    state: ClassVar = Characters
    folded: ClassVar = "characters"
    accepts: ClassVar = TEXT
    tells_values: ClassVar = True

    def fold(self, batch: ColumnBatch) -> Characters:
        return Characters.of(batch)


class OfValues(ColumnMetric[Frequencies], frozen=True):
    """Reads the most frequent values."""

    state: ClassVar = Frequencies
    folded: ClassVar = "frequent_values"
    hashes_values: ClassVar = True
    accepts: ClassVar = HASHABLE

    def fold(self, batch: ColumnBatch) -> Frequencies:
        tally = batch.tally
        return Frequencies.of(tally.counts, tally.pack_labels, VALUES, keys=tally.keys)


class OfPatterns(ColumnMetric[Frequencies], frozen=True):
    """Reads the most frequent patterns."""

    state: ClassVar = Frequencies
    folded: ClassVar = "frequent_patterns"
    accepts: ClassVar = TEXT

    def fold(self, batch: ColumnBatch) -> Frequencies:
        symbols, counts = batch.patterns
        if len(counts) > PATTERNS:
            texts = Texts(symbols)
            label, keys = partial(_label_patterns, symbols), hash_bytes(texts.data, texts.offsets)[0]
            return Frequencies.of(counts, label, PATTERNS, patterns=True, keys=keys)
        patterns = symbols.to_pylist()  # few, and mostly those of the batch before
        hashes = np.array(list(map(hash_pattern, patterns)), np.uint64).reshape(-1, 2)
        labels = Labels.of(list(map(pattern_label, patterns)), hashes[:, 1])
        return Frequencies.of(counts, lambda at: labels, PATTERNS, patterns=True, keys=hashes[:, 0])


def _label_patterns(symbols: pa.Array, at: npt.NDArray[np.int64]) -> list[str]:
    return [pattern_label(each) for each in symbols.take(at).to_pylist()]


class OfGroups(GroupMetric[Groups], frozen=True):
    """Reads the sizes of the groups of equal rows; a row with a null in every grouping column is in no group."""

    state: ClassVar = Groups
    folded: ClassVar = "groups"
    accepts: ClassVar = HASHABLE

    def fold(self, *columns: ColumnBatch) -> Groups:
        inside = columns[0].valid.copy()
        for column in columns[1:]:
            inside |= column.valid
        first, second = combine([column.hashes for column in columns])
        return Groups.of((first[inside], second[inside]))
