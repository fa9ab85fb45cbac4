"""One column of one batch, with views that folds share. Each view is computed once, on first use."""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property, partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.metrics.base.arrow import DAY, keep_dictionary, to_numbers, to_plain
from headgate.metrics.base.hashing import Hashes, Words, hash_bytes, hash_words
from headgate.metrics.base.labels import format_labels
from headgate.metrics.base.tally import Integers, Tally, tally_bytes, tally_encoded, tally_numbers
from headgate.metrics.base.text import Texts
from headgate.values.schema import BYTES, Kind

_ABSENT = np.uint64(0x9E3779B97F4A7C15)  # the hash of null in grouping columns


class ColumnBatch:
    """The values of a column in one batch. Folds do not see the name of the column."""

    def __init__(self, array: pa.Array | pa.ChunkedArray, kind: Kind) -> None:
        values = keep_dictionary(array)
        self._given = values.cast(pa.string()) if pa.types.is_null(values.type) else values
        self.kind = kind
        self.nulls = int(self._given.null_count)
        self.present = len(self._given) - self.nulls

    def __len__(self) -> int:
        return len(self._given)

    @cached_property
    def array(self) -> pa.Array:
        """The values and nulls as a plain array. Texts that are dictionary encoded are decoded for it."""
        return to_plain(self._given)

    @cached_property
    def values(self) -> pa.Array:
        """The values that are not null."""
        return self.array.drop_null() if self.nulls else self.array

    @cached_property
    def valid(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self._given.is_valid().to_numpy(zero_copy_only=False))

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
        is_text = self.kind in BYTES or self._is_wide_decimal
        found = self.tally.row_hashes if is_text else None
        if found is None:
            found = hash_words(_one_nan(self._numbers[0]).view(np.uint64))
        return self._with_nulls(found[0]), self._with_nulls(found[1])

    @property
    def words(self) -> Words:
        """A 64-bit word for every row, nulls included: equal for equal values, and practically only for those."""
        return self._with_nulls(self._words_of_values)

    def _with_nulls(self, values: Words) -> Words:
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
        return tally_encoded(self._given) if pa.types.is_dictionary(self._given.type) else tally_bytes(self._given)

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
        return texts.patterns(weights)


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
