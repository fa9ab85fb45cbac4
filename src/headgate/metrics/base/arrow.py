"""Converts Arrow's many types to the few kinds that folds know, each in one canonical layout."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.values.schema import Kind

_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
DAY = 86_400  # seconds
_SPARE_ENTRIES = 1024  # so many entries of a dictionary that no row has cost little
_EXACT_DIGITS = 18  # an unscaled decimal with this many digits fits in 64 bits
# pyarrow has views of text and bytes from version 16 on.
_is_text_view: Callable[[pa.DataType], bool] = getattr(pa.types, "is_string_view", lambda kind: False)
_is_bytes_view: Callable[[pa.DataType], bool] = getattr(pa.types, "is_binary_view", lambda kind: False)


def kind_of(kind: pa.DataType) -> Kind:
    """The kind of an Arrow type; for dictionary and run-end encodings, of the values."""
    is_ = pa.types
    if is_.is_dictionary(kind) or is_.is_run_end_encoded(kind):
        return kind_of(kind.value_type)
    for test, answer in (
        (is_.is_uint64, Kind.DECIMAL),
        (is_.is_integer, Kind.INTEGER),
        (is_.is_floating, Kind.FLOAT),
        (is_.is_decimal, Kind.DECIMAL),
        (is_.is_boolean, Kind.BOOLEAN),
        (_is_text, Kind.STRING),
        (is_.is_date, Kind.DATE),
        (is_.is_timestamp, Kind.TIMESTAMP),
        (_is_bytes, Kind.BINARY),
    ):
        if test(kind):
            return answer
    return Kind.OTHER


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_text_view(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    is_ = pa.types
    tests = (is_.is_binary, is_.is_large_binary, _is_bytes_view, is_.is_fixed_size_binary)
    return any(test(kind) for test in tests)


def to_plain(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One contiguous array without dictionary, run-end, view or fixed-size encoding, and without half floats."""
    array = join_chunks(array)
    if pa.types.is_dictionary(array.type):
        return to_plain(array.dictionary_decode())
    if pa.types.is_run_end_encoded(array.type):
        return to_plain(pc.run_end_decode(array))
    if pa.types.is_uint64(array.type):
        return array.cast(pa.decimal128(20))
    if pa.types.is_float16(array.type):  # not every pyarrow casts them
        halves = array.to_numpy(zero_copy_only=False)
        return pa.array(halves.astype(np.float32), mask=np.asarray(array.is_null()))
    if _is_text_view(array.type):
        return array.cast(pa.large_string())
    if _is_bytes_view(array.type) or pa.types.is_fixed_size_binary(array.type):
        return array.cast(pa.large_binary())
    return array


def join_chunks(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One array of all chunks."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    array = array.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return array


def keep_dictionary(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One contiguous array: dictionary encoded if it is of texts and folds can read it so, else plain.

    They can if the entries differ, none is null, and there are not many more of them than rows.
    """
    array = join_chunks(array)
    if not pa.types.is_dictionary(array.type) or not (
        _is_text(array.type.value_type) or _is_bytes(array.type.value_type)
    ):
        return to_plain(array)
    entries = array.dictionary
    if len(entries) > len(array) + _SPARE_ENTRIES or entries.null_count or len(entries.unique()) < len(entries):
        return to_plain(array)
    return array


def to_numbers(array: pa.Array, kind: Kind) -> tuple[npt.NDArray[np.int64] | npt.NDArray[np.float64], float]:
    """Values of an ordered column without nulls as integers or doubles, and the number by which to divide them.

    Dates count seconds and timestamps microseconds; decimals of up to 18 digits are their unscaled integers. A float's
    negative zero becomes zero: the two are one value.
    """
    match kind:
        case Kind.FLOAT:
            return _to_doubles(array) + 0.0, 1.0
        case Kind.DECIMAL:
            return _to_decimals(array)
        case Kind.DATE:
            days = array.cast(pa.date32()).view(pa.int32())
            return days.to_numpy(zero_copy_only=False).astype(np.int64) * DAY, 1.0
        case Kind.TIMESTAMP:
            return _to_microseconds(array), 1e6
        case _:
            return _to_int64(array), 1.0


def _to_int64(array: pa.Array) -> npt.NDArray[np.int64]:
    wide = array if pa.types.is_int64(array.type) else array.cast(pa.int64())
    return np.asarray(wide.to_numpy(zero_copy_only=False))


def _to_doubles(array: pa.Array) -> npt.NDArray[np.float64]:
    wide = array if pa.types.is_float64(array.type) else array.cast(pa.float64(), safe=False)
    return np.asarray(wide.to_numpy(zero_copy_only=False))


def _to_decimals(array: pa.Array) -> tuple[npt.NDArray[np.int64] | npt.NDArray[np.float64], float]:
    kind = array.type
    if pa.types.is_decimal128(kind) and kind.precision <= _EXACT_DIGITS and kind.scale >= 0:
        halves = np.frombuffer(array.buffers()[1], np.int64)[2 * array.offset : 2 * (array.offset + len(array))]
        return np.ascontiguousarray(halves[::2]), 10.0**kind.scale
    return _to_doubles(array), 1.0


def _to_microseconds(array: pa.Array) -> npt.NDArray[np.int64]:
    raw = np.asarray(array.view(pa.int64()).to_numpy(zero_copy_only=False))
    if array.type.unit == "ns":
        return raw // 1000
    scale = _MICROSECONDS[array.type.unit]
    bound = np.iinfo(np.int64).max // scale
    return np.asarray(np.clip(raw, -bound, bound) * scale, np.int64)
