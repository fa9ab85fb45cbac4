"""How odd the character triples of a text column are, given its character pairs: typing errors raise it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from headgate.metrics.base.batch import ColumnBatch
from headgate.metrics.base.metric import ColumnMetric
from headgate.metrics.base.registry import metric
from headgate.metrics.base.text import Texts
from headgate.values.outcome import Outcome, Undefined, outcome_of
from headgate.values.schema import TEXT
from headgate.values.state import State, are_counts

_EDGE, _DIGIT, _FOREIGN, _SYMBOL = 0, 27, 28, 29  # letters are 1 to 26, whatever their case
_BASE = 32


class Trigrams(State, frozen=True, tag="trigrams"):
    """How often each triple of symbols occurs: 32 symbols, so at most 32,768 triples; sorted codes and their counts."""

    codes: bytes = b""
    counts: bytes = b""

    @classmethod
    def of(cls, tally: npt.NDArray[np.int64]) -> Trigrams:
        codes = np.flatnonzero(tally)
        return cls(codes.astype("<u2").tobytes(), tally[codes].astype("<i8").tobytes())

    def is_sound(self) -> bool:
        codes, counts = np.frombuffer(self.codes, "<u2"), np.frombuffer(self.counts, "<i8")
        ordered = bool((codes[1:] > codes[:-1]).all()) and bool((codes < _BASE**3).all())
        return len(codes) == len(counts) and ordered and are_counts(counts)

    def dense(self) -> npt.NDArray[np.int64]:
        tally = np.zeros(_BASE**3, np.int64)
        tally[np.frombuffer(self.codes, "<u2")] = np.frombuffer(self.counts, "<i8")
        return tally

    def __add__(self, other: Trigrams) -> Trigrams:
        return Trigrams.of(self.dense() + other.dense())


@metric
class IndexOfPeculiarity(ColumnMetric[Trigrams], frozen=True):
    """sqrt(mean of I(xyz)^2) over all triples, I(xyz) = (log n(xy) + log n(yz)) / 2 - log n(xyz) (Redyuk 2021, Eq. 1).

    Letters without case, all digits one symbol, all other ASCII one, every byte beyond ASCII one, and an edge at both
    ends of a value. The root mean square runs over the triples of the batch, not value by value, so that the state
    merges.
    """

    name: ClassVar = "index_of_peculiarity"
    state: ClassVar = Trigrams
    accepts: ClassVar = TEXT

    def fold(self, batch: ColumnBatch) -> Trigrams:
        texts, weights = batch.distinct_texts
        return Trigrams.of(_triples(texts, weights))

    def measure(self, state: Trigrams) -> Outcome:
        tally = state.dense().reshape(_BASE, _BASE, _BASE)
        total = int(tally.sum())
        if not total:
            return Undefined("no value has characters")
        x, y, z = np.nonzero(tally)
        pairs_before, pairs_after = tally.sum(axis=2), tally.sum(axis=0)
        counts = tally[x, y, z]
        index = (np.log(pairs_before[x, y]) + np.log(pairs_after[y, z])) / 2 - np.log(counts)
        return outcome_of(float(np.sqrt((counts * index * index).sum() / total)), otherwise="the counts are too large")


def _triples(texts: Texts, weights: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
    tally = np.zeros(_BASE**3)
    done = 0
    for block in texts.blocks:
        own = None if weights is None else weights[done : done + len(block)]
        tally += _block_triples(block, own)
        done += len(block)
    return np.rint(tally).astype(np.int64)


def _block_triples(texts: Texts, weights: npt.NDArray[np.int64] | None) -> npt.NDArray[np.float64]:
    """Each value with an edge before and after it; triples whose middle is an edge span two values and are left out."""
    sizes = np.diff(texts.offsets)
    symbols = np.full(len(texts.data) + 2 * len(texts), _EDGE, np.int64)
    owner = np.repeat(np.arange(len(texts)), sizes)
    symbols[np.arange(len(texts.data)) + 2 * owner + 1] = _SYMBOL_OF[texts.data]
    codes = (symbols[:-2] * _BASE + symbols[1:-1]) * _BASE + symbols[2:]
    inside = symbols[1:-1] != _EDGE
    times = None if weights is None else weights[owner].astype(np.float64)
    return np.bincount(codes[inside], times, minlength=_BASE**3).astype(np.float64)


def _symbol_of() -> npt.NDArray[np.int64]:
    table = np.full(256, _SYMBOL)
    table[48:58] = _DIGIT
    table[65:91] = table[97:123] = np.arange(1, 27)
    table[128:] = _FOREIGN
    return table


_SYMBOL_OF = _symbol_of()
