"""Numbers that were restored, in the type that their column has."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from headgate.inject.numbers import narrow_doubles

Floats = npt.NDArray[np.float64]

_EXACT_DIGITS = 15  # of a decimal, that a double has
_EXACT_WHOLE = 2**53
_SHORT_DIGITS, _MOST_PLACES = 12, 22  # powers of ten up to this one are exact
_ROUNDING = 1e-15  # of a number, that two operations on doubles add
_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def restore_numbers(values: pa.Array, change: Callable[[Any, Any], Any], parameter: float) -> pa.Array:
    """Numbers after an operator and a parameter, in their own type. Nulls stay.

    Numbers with more digits than a double has are restored digit by digit.

    >>> import operator
    >>> restore_numbers(pa.array([900719925474099300, None]), operator.truediv, 100.0).to_pylist()
    [9007199254740993, None]
    """
    if _has_many_digits(values):
        return _restore_exactly(values, change, parameter)
    doubles = drop_rounding(change(values.cast(pa.float64()).to_numpy(zero_copy_only=False), parameter))
    return as_type(pa.array(doubles, mask=values.is_null().to_numpy(zero_copy_only=False)), values.type)


def drop_rounding(numbers: Floats) -> Floats:
    """Numbers without what rounding added: those next to one of at most twelve digits become it.

    >>> drop_rounding(np.array([45.12345600000001, 1 / 3])).tolist()
    [45.123456, 0.3333333333333333]
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        places = _SHORT_DIGITS - 1 - np.floor(np.log10(np.abs(numbers)))
        unit = 10.0 ** np.clip(places, 0, _MOST_PLACES)
        short = np.rint(numbers * unit) / unit
        is_near = (places >= 0) & (np.abs(short - numbers) <= _ROUNDING * np.abs(numbers))
    return np.where(is_near, short, numbers)


def move_back(times: pa.Array, seconds: float) -> pa.Array:
    """Dates or timestamps that many seconds earlier, in their own type; dates by whole days.

    >>> import datetime
    >>> str(move_back(pa.array([datetime.date(2026, 11, 14)]), 86_400.0)[0])
    '2026-11-13'
    """
    kind = times.type
    if pa.types.is_timestamp(kind):
        units = round(seconds * _UNITS[kind.unit])
        return pc.subtract(times, pa.scalar(units, pa.duration(kind.unit)))
    whole = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    step = round(seconds / 86_400) if pa.types.is_date32(kind) else round(seconds * 1000)
    return pc.subtract(times.view(whole), pa.scalar(step, whole)).view(kind)


def as_type(numbers: pa.Array, kind: pa.DataType) -> pa.Array:
    """Doubles as a column of this type has them: whole numbers rounded, decimals in their scale.

    >>> as_type(pa.array([2.999999]), pa.int64()).to_pylist()
    [3]
    """
    if pa.types.is_integer(kind):
        return pc.round(numbers).cast(kind)
    if pa.types.is_decimal(kind):
        return pc.round(numbers, kind.scale).cast(kind, safe=False)
    return narrow_doubles(numbers, kind) if pa.types.is_floating(kind) else numbers


def _has_many_digits(values: pa.Array) -> bool:
    if pa.types.is_decimal(values.type):
        return bool(values.type.precision > _EXACT_DIGITS)
    if not pa.types.is_integer(values.type) or values.type.bit_width < 64:
        return False
    ends = [each.as_py() for each in pc.min_max(values).values()]
    return any(each is not None and abs(each) > _EXACT_WHOLE for each in ends)


def _restore_exactly(values: pa.Array, change: Callable[[Any, Any], Any], parameter: float) -> pa.Array:
    unit = Decimal(1).scaleb(-values.type.scale) if pa.types.is_decimal(values.type) else Decimal(1)
    by = Decimal(repr(parameter))
    with localcontext(prec=80):
        restored = [None if each is None else change(Decimal(each), by).quantize(unit) for each in values.to_pylist()]
    return (
        pa.array(restored, values.type)
        if unit != 1 or pa.types.is_decimal(values.type)
        else pa.array([None if each is None else int(each) for each in restored], values.type)
    )
