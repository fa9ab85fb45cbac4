"""One column of one batch, with views that folds share. Each view is computed once, on first use."""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.base.arrow import DAY, to_numbers, to_plain
from headgate.metrics.base.hashing import Hashes, Words, hash_bytes, hash_words
from headgate.metrics.base.tally import Integers, Tally, tally_bytes, tally_numbers
from headgate.metrics.base.text import Texts, format_labels
from headgate.values.schema import BYTES, Kind

_ABSENT = np.uint64(0x9E3779B97F4A7C15)  # the hash of null in grouping columns


class ColumnBatch:
    """The values of a column in one batch. Folds do not see the name of the column."""

    def __init__(self, array: pa.Array | pa.ChunkedArray, kind: Kind) -> None:
        values = to_plain(array)
        self.array = values.cast(pa.string()) if pa.types.is_null(values.type) else values
        self.kind = kind

    def __len__(self) -> int:
        return len(self.array)

    @property
    def nulls(self) -> int:
        return int(self.array.null_count)

    @property
    def present(self) -> int:
        return len(self) - self.nulls

    @cached_property
    def values(self) -> pa.Array:
        """The values that are not null."""
        return self.array.drop_null() if self.nulls else self.array

    @cached_property
    def valid(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.array.is_valid().to_numpy(zero_copy_only=False))

    # --- ordered columns: numbers, booleans, dates, timestamps

    @cached_property
    def _numbers(self) -> tuple[npt.NDArray[np.int64] | npt.NDArray[np.float64], float]:
        return to_numbers(self.values, self.kind)

    @cached_property
    def _ascending(self) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        values = self._numbers[0].copy()
        values.sort()
        return values

    @cached_property
    def floats(self) -> npt.NDArray[np.float64]:
        """The finite numbers, sorted; dates and timestamps in seconds since 1970."""
        ordered = self._ascending
        if ordered.dtype != np.float64:
            return np.asarray(ordered / self._numbers[1], np.float64)
        low, high = np.searchsorted(ordered, -np.inf, side="right"), np.searchsorted(ordered, np.inf)
        return np.asarray(ordered[low:high], np.float64)

    @property
    def infinities(self) -> tuple[int, int]:
        """How many numbers are minus infinity, and how many plus infinity."""
        ordered = self._ascending
        if ordered.dtype != np.float64 or len(self.floats) == len(ordered):
            return 0, 0
        first, end = np.searchsorted(ordered, np.inf), np.searchsorted(ordered, np.inf, side="right")
        return int(np.searchsorted(ordered, -np.inf, side="right")), int(end - first)  # NaNs come last

    @cached_property
    def numbers_with_gaps(self) -> npt.NDArray[np.float64]:
        """The number of every row, NaN for rows without one."""
        numbers = np.full(len(self), np.nan)
        values, units = self._numbers
        numbers[self.valid] = values / units
        return numbers

    # --- distinct values

    @cached_property
    def tally(self) -> Tally:
        """The distinct values with their counts."""
        if self.kind in BYTES:
            return self._text_tally[0]
        if self._is_wide_decimal:
            return tally_bytes(self.array.cast(pa.string()))[0]
        return tally_numbers(self._ascending, partial(_label_numbers, self.kind, self.array.type))

    @property
    def _is_wide_decimal(self) -> bool:
        """Whether these are decimals with too many digits for an exact 64-bit integer."""
        return bool(pa.types.is_decimal(self.array.type)) and self._numbers[0].dtype == np.float64

    @property
    def hashes(self) -> Hashes:
        """A 128-bit hash of every row, nulls included, for grouping."""
        first, second = np.full(len(self), _ABSENT), np.full(len(self), _ABSENT)
        if self.kind in BYTES:
            hashes_of_values = hash_bytes(self.texts.data, self.texts.offsets)
        elif self._is_wide_decimal:
            texts = Texts(self.values.cast(pa.string()))
            hashes_of_values = hash_bytes(texts.data, texts.offsets)
        else:
            hashes_of_values = hash_words(_one_nan(self._numbers[0]).view(np.uint64))
        first[self.valid], second[self.valid] = hashes_of_values
        return first, second

    @property
    def words(self) -> Words:
        """A 64-bit word for every row, nulls included: equal for equal values, and practically only for those."""
        values = self._words_of_values
        if not self.nulls:
            return values
        words = np.full(len(self), _ABSENT)
        words[self.valid] = values
        return words

    @property
    def _words_of_values(self) -> Words:
        if self.kind is Kind.OTHER and not pa.types.is_integer(self.array.type):
            # nested values; Spark sends a hash of each instead
            texts = Texts(pa.array(list(map(repr, self.values.to_pylist())), pa.large_string()))
            return hash_bytes(texts.data, texts.offsets)[0]
        if (rows := self.tally.rows if self.kind in BYTES or self._is_wide_decimal else None) is not None:
            return rows
        return _one_nan(self._numbers[0]).view(np.uint64)

    # --- strings and bytes

    @cached_property
    def texts(self) -> Texts:
        return Texts(self.values)

    @cached_property
    def _text_tally(self) -> tuple[Tally, Texts, Integers | None]:
        return tally_bytes(self.array)

    @property
    def distinct_texts(self) -> tuple[Texts, Integers | None]:
        """The values that text metrics must read, and the weight of each (None: all are 1)."""
        return self._text_tally[1:]

    @cached_property
    def classes(self) -> dict[str, int]:
        """The number of characters of each class in all values together."""
        texts, weights = self.distinct_texts
        return texts.classes(weights)

    @cached_property
    def lengths(self) -> tuple[Integers, Integers]:
        """The lengths in characters (bytes, for binary) that occur, and how many values have each."""
        texts, weights = self.distinct_texts
        lengths = texts.lengths if self.kind is Kind.STRING else np.diff(texts.offsets)
        if not len(lengths) or int(lengths.max()) > 1 << 16:
            sizes, indices = np.unique(lengths, return_inverse=True)
            return sizes, np.bincount(indices, weights, minlength=len(sizes)).astype(np.int64)
        counts = np.bincount(lengths, weights).astype(np.int64)
        sizes = np.flatnonzero(counts)
        return sizes, counts[sizes]

    @cached_property
    def patterns(self) -> tuple[pa.Array, Integers]:
        """The patterns that occur, in symbol codes, and how many values have each."""
        texts, weights = self.distinct_texts
        encoded = texts.patterns()
        indices = encoded.indices.to_numpy(zero_copy_only=False)
        return encoded.dictionary, np.bincount(indices, weights, minlength=len(encoded.dictionary)).astype(np.int64)


def _label_numbers(kind: Kind, type_of: pa.DataType, values: npt.NDArray[np.generic]) -> list[str]:
    """Numbers as Arrow prints them for the type of the column, so that both engines have the same labels."""
    if kind is Kind.DATE:
        return _print_values(pa.array((values // DAY).astype(np.int32)).view(pa.date32()))
    if kind is Kind.TIMESTAMP:
        return _print_values(pa.array(values).view(pa.timestamp("us")))
    if kind is Kind.BOOLEAN:
        return ["true" if value else "false" for value in values]
    if kind is Kind.DECIMAL and values.dtype == np.int64:
        return [str(Decimal(value).scaleb(-type_of.scale)) for value in values.tolist()]
    return [str(value) for value in values.tolist()]


def _print_values(array: pa.Array) -> list[str]:
    return format_labels(array.cast(pa.string()))


def _one_nan(values: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> npt.NDArray[np.generic]:
    if values.dtype != np.float64:
        return values
    nans = np.isnan(values)
    return np.where(nans, np.nan, values) if nans.any() else values
