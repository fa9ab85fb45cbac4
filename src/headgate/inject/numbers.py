"""Numbers that were changed, back in a type that holds them: the column's own, or the next wider."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def fit_numbers(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Whole numbers, decimals or their text in this type of whole number or decimal, or in a wider one.

    Whole numbers widen to 64 bits, decimals to 38 and 76 digits of the same scale, and both at last to doubles.

    >>> fit_numbers(pa.array([3000]), pa.int8()).type, fit_numbers(pa.array(["12"]), pa.int8()).type
    (DataType(int64), DataType(int8))
    """
    for wider in _ladder(kind):
        try:
            return values.cast(wider)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    return values.cast(pa.float64(), safe=False)


def narrow_doubles(doubles: pa.Array, kind: pa.DataType) -> pa.Array:
    """Doubles in this type of float, unless a number would become infinite in it."""
    if pa.types.is_float64(kind):
        return doubles
    narrow = doubles.cast(kind, safe=False)
    lost = pc.and_(pc.is_inf(narrow.cast(pa.float64())), pc.is_finite(doubles))
    return doubles if pc.any(lost).as_py() else narrow


def parse_numbers(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Texts of numbers, some of them null, in this type or a wider one; decimals are rounded to their scale."""
    if pa.types.is_integer(kind):
        return fit_numbers(texts, kind)
    if pa.types.is_decimal(kind):
        try:
            return fit_numbers(pc.round(texts.cast(pa.decimal256(76, kind.scale + 1)), kind.scale), kind)
        except (pa.ArrowInvalid, ValueError):
            return texts.cast(pa.float64())
    return narrow_doubles(texts.cast(pa.float64()), kind)


def _ladder(kind: pa.DataType) -> list[pa.DataType]:
    if not pa.types.is_decimal(kind):
        return [kind, pa.int64()]
    ladder = [kind, pa.decimal256(76, kind.scale)]
    return [kind, pa.decimal128(38, kind.scale), ladder[1]] if kind.scale <= 38 else ladder
