"""Tokens counted by the label of their row, with a sample of rows on which to try a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from headgate.metrics.base.hashing import Words
from headgate.metrics.base.tokens import BUCKETS, Tokens
from headgate.values.state import State, are_counts

Integers: TypeAlias = npt.NDArray[np.int64]

LABELS = 256
SAMPLE = 1024


class LabelledRows(NamedTuple):
    """Different rows in the order of their hashes: how often each occurs, the hash of its label, its tokens."""

    hashes: Words
    copies: Integers
    labels: Words
    tokens: Tokens

    def take_rows(self, at: Integers) -> LabelledRows:
        return LabelledRows(self.hashes[at], self.copies[at], self.labels[at], self.tokens.of_rows(at))


class LabelledTokens(State, frozen=True, tag="labelled_tokens"):
    """How often rows of a label have a token: all that multinomial naive Bayes learns (Deequ 2018, section 3.2).

    Labels are 64-bit hashes, at most 256; past that only `crowded` is left. Tokens are 4,096 buckets. The sample holds
    the 1,024 different rows of the least hashes, all if there are fewer, each with its number of copies. A row that
    falls out of it never comes back, for the least hashes only become less: so the copies of those that are in it are
    exact, and the state depends on nothing but which rows there are, and how often.

    At most 12 bytes for each label and bucket that occur together, 12.6 MB if all do, and 160 KB of sample.
    """

    labels: bytes = b""
    rows: bytes = b""
    cells: bytes = b""
    counts: bytes = b""
    sample_hashes: bytes = b""
    sample_copies: bytes = b""
    sample_labels: bytes = b""
    sample_tokens: bytes = b""
    sample_sizes: bytes = b""
    crowded: bool = False

    @classmethod
    def of(cls, rows: LabelledRows) -> LabelledTokens:
        """Of different rows, sorted by hash."""
        labels, places = np.unique(rows.labels, return_inverse=True)
        if not len(labels) or len(labels) > LABELS:
            return cls(crowded=len(labels) > LABELS)
        sizes = rows.tokens.sizes
        cells = np.repeat(places * BUCKETS, sizes) + rows.tokens.in_a_row()
        counts = np.bincount(cells, np.repeat(rows.copies, sizes)).astype(np.int64)
        present = np.flatnonzero(counts)
        counted = (np.bincount(places, rows.copies), present, counts[present])
        return cls._holding(labels, *counted, rows.take_rows(np.arange(min(len(rows.hashes), SAMPLE))))

    def __add__(self, other: LabelledTokens) -> LabelledTokens:
        return self.merge_all([self, other])

    @classmethod
    def merge_all(cls, states: Sequence[LabelledTokens]) -> LabelledTokens:
        held = [each for each in states if each.labels or each.crowded]
        if len(held) < 2:
            return held[0] if held else cls()
        if any(each.crowded for each in held):
            return cls(crowded=True)
        labels = np.unique(np.frombuffer(b"".join([each.labels for each in held]), "<u8"))
        if len(labels) > LABELS:
            return cls(crowded=True)
        # each table's labels stand in the order of hashes, and so do those of all: cells keep their order
        places = [np.searchsorted(labels, each.label_hashes) for each in held]
        rows = np.bincount(np.concatenate(places), np.concatenate([each.label_rows for each in held]))
        cells = np.concatenate([at[each._cell_labels] * BUCKETS for at, each in zip(places, held, strict=True)])
        cells += np.concatenate([each._cell_buckets for each in held])
        counts = np.frombuffer(b"".join([each.counts for each in held]), "<i8")
        return cls._holding(labels, rows, *_sum_by_key(cells, counts), _merge_samples([each.sample() for each in held]))

    @classmethod
    def _holding(
        cls, labels: Words, rows: npt.NDArray[np.generic], cells: Integers, counts: Integers, sample: LabelledRows
    ) -> LabelledTokens:
        return cls(
            labels=labels.astype("<u8").tobytes(),
            rows=rows.astype("<i8").tobytes(),
            cells=cells.astype("<u4").tobytes(),
            counts=counts.astype("<i8").tobytes(),
            sample_hashes=sample.hashes.astype("<u8").tobytes(),
            sample_copies=sample.copies.astype("<i8").tobytes(),
            sample_labels=sample.labels.astype("<u8").tobytes(),
            sample_tokens=sample.tokens.in_a_row().astype("<u2").tobytes(),
            sample_sizes=sample.tokens.sizes.astype("<u2").tobytes(),
        )

    def is_sound(self) -> bool:
        cells, counts = np.frombuffer(self.cells, "<u4"), np.frombuffer(self.counts, "<i8")
        sizes, tokens = np.frombuffer(self.sample_sizes, "<u2"), np.frombuffer(self.sample_tokens, "<u2")
        sampled = [np.frombuffer(each, "<u8") for each in (self.sample_hashes, self.sample_copies, self.sample_labels)]
        labels, hashes = self.label_hashes, sampled[0]
        return (
            len(labels) == len(self.label_rows) <= LABELS
            and len(cells) == len(counts)
            and {len(each) for each in sampled} == {len(sizes)}
            and int(sizes.sum(dtype=np.int64)) == len(tokens)
            and bool((len(sizes) > 0) == (len(labels) > 0))
            and all(bool((each[1:] > each[:-1]).all()) for each in (labels, cells, hashes))
            and bool((cells < len(labels) * BUCKETS).all())
            and bool((tokens < BUCKETS).all())
            and bool(np.isin(sampled[2], labels).all())
            and all(map(are_counts, (self.label_rows, counts, sampled[1].view(np.int64))))
            and self._counts_sample()
        )

    def _counts_sample(self) -> bool:
        """Whether the counts include the rows of the sample."""
        rows = self.sample()
        places = np.searchsorted(self.label_hashes, rows.labels)
        sizes = rows.tokens.sizes
        cells, at = np.unique(np.repeat(places * BUCKETS, sizes) + rows.tokens.in_a_row(), return_inverse=True)
        table = self.table().ravel()
        return bool((np.bincount(at, np.repeat(rows.copies, sizes), len(cells)) <= table[cells]).all())

    @property
    def label_hashes(self) -> Words:
        return np.frombuffer(self.labels, "<u8")

    @property
    def label_rows(self) -> Integers:
        """How many rows have each label."""
        return np.frombuffer(self.rows, "<i8")

    @property
    def _cell_labels(self) -> Integers:
        return np.frombuffer(self.cells, "<u4").astype(np.int64) // BUCKETS

    @property
    def _cell_buckets(self) -> Integers:
        return np.frombuffer(self.cells, "<u4").astype(np.int64) % BUCKETS

    def table(self) -> Integers:
        """How often rows of a label (down) have a token (across)."""
        found = np.zeros((len(self.label_hashes), BUCKETS), np.int64)
        found[self._cell_labels, self._cell_buckets] = np.frombuffer(self.counts, "<i8")
        return found

    def sample(self) -> LabelledRows:
        sizes = np.frombuffer(self.sample_sizes, "<u2").astype(np.int64)
        tokens = Tokens(np.frombuffer(self.sample_tokens, "<u2"), np.cumsum(sizes) - sizes, sizes)
        hashes, labels = (np.frombuffer(each, "<u8") for each in (self.sample_hashes, self.sample_labels))
        return LabelledRows(hashes, np.frombuffer(self.sample_copies, "<i8"), labels, tokens)


def _sum_by_key(keys: Integers, counts: Integers) -> tuple[Integers, Integers]:
    """The different keys in order, each with the sum of its counts."""
    order = np.argsort(keys, kind="stable")
    different, begins = np.unique(keys[order], return_index=True)
    return different, np.add.reduceat(counts[order], begins) if len(begins) else counts


def _merge_samples(samples: Sequence[LabelledRows]) -> LabelledRows:
    """The rows of the least hashes, with the copies of all samples."""
    buckets = np.concatenate([each.tokens.buckets for each in samples])
    sizes = np.concatenate([each.tokens.sizes for each in samples])
    tokens = Tokens(buckets, np.cumsum(sizes) - sizes, sizes)
    hashes, copies, labels = (np.concatenate([each[at] for each in samples]) for at in range(3))
    different, firsts, at = np.unique(hashes, return_index=True, return_inverse=True)
    summed, firsts = np.bincount(at, copies).astype(np.int64), firsts[:SAMPLE]
    return LabelledRows(different[:SAMPLE], summed[:SAMPLE], labels[firsts], tokens.of_rows(firsts))
