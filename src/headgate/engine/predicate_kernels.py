"""Operations of SQL on Arrow columns, with SQL's three-valued logic. Workers run them, which may lack the parser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

Column: TypeAlias = pa.Array | pa.ChunkedArray | pa.Scalar
Rows: TypeAlias = Mapping[str, Any]
Evaluate: TypeAlias = Callable[[Rows], Column]
RowFunction: TypeAlias = Callable[[Rows, int], pa.Array]


def make_row_function(evaluate: Evaluate) -> RowFunction:
    """The function that gives one boolean or null for each of so many rows."""

    def evaluate_rows(rows: Rows, count: int) -> pa.Array:
        result = evaluate(rows)
        if isinstance(result, pa.Scalar):
            result = pa.repeat(result, count)
        if not (pa.types.is_boolean(result.type) or pa.types.is_null(result.type)):
            raise TypeError(f"it gives {result.type}, not boolean")
        return result.cast(pa.bool_())

    return evaluate_rows


def _unify_types(left: Column, right: Column) -> tuple[Column, Column]:
    """Both sides in one type: a text literal becomes the date or timestamp it is compared with, an integer a double."""
    left, right = _as_numbers(left, right)
    for side, other, swap in ((left, right, False), (right, left, True)):
        if pa.types.is_temporal(side.type) and isinstance(other, pa.Scalar) and pa.types.is_string(other.type):
            cast = _parse_moment(other.as_py(), side.type)
            return (cast, side) if swap else (side, cast)
    return left, right


def _as_numbers(left: Column, right: Column) -> tuple[Column, Column]:
    """An integer in the type it is compared with: a double, or a decimal wide enough for both, which Arrow lacks."""
    for side, other, swap in ((left, right, False), (right, left, True)):
        if not pa.types.is_integer(other.type):
            continue
        if pa.types.is_floating(side.type):
            kind, safe = pa.float64(), False
        elif pa.types.is_decimal(side.type):
            kind, safe = pa.decimal256(76, side.type.scale), True
            side = pc.cast(side, kind)
        else:
            continue
        cast = pc.cast(other, kind, safe=safe)
        return (cast, side) if swap else (side, cast)
    return left, right


def is_in_texts(value: Any, texts: list[str]) -> Any:
    """IN with texts, as one look-up instead of one comparison for each text."""
    if pa.types.is_string(value.type) or pa.types.is_large_string(value.type):
        result = pc.is_in(value, value_set=pa.array(texts, value.type))
        return pc.if_else(pc.is_valid(value), result, pa.scalar(None, pa.bool_()))
    result = equal(value, pa.scalar(texts[0]))
    for text in texts[1:]:
        result = either(result, equal(value, pa.scalar(text)))
    return result


def _parse_moment(text: str, kind: pa.DataType) -> Any:
    """A text as a value of a date or timestamp type. A timestamp without a zone, on either side, is in UTC."""
    if not pa.types.is_timestamp(kind):
        return pa.scalar(text).cast(kind)
    try:
        moment = pa.scalar(text).cast(pa.timestamp(kind.unit))
    except pa.ArrowInvalid:
        moment = pa.scalar(text).cast(pa.timestamp(kind.unit, "UTC")).cast(pa.timestamp(kind.unit))
    return moment if kind.tz is None else pa.scalar(moment.value, pa.timestamp(kind.unit, kind.tz))


def make_comparison(kernel: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison in which, as in Spark, NaN equals NaN and is greater than every number."""

    def compare(left: Any, right: Any) -> Any:
        left, right = _unify_types(left, right)
        met = kernel(left, right)
        if not (pa.types.is_floating(left.type) or pa.types.is_floating(right.type)):
            return met
        sides = is_nan(left), is_nan(right)
        return pc.if_else(pc.and_(pc.is_valid(met), pc.or_(*sides)), kernel(*sides), met)

    return compare


def is_nan(value: Any) -> Any:
    """Whether a value is NaN; false for null, as in Spark."""
    return pc.fill_null(pc.is_nan(value), False) if pa.types.is_floating(value.type) else pa.scalar(False)


def is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _as_boolean(value: Any) -> Any:
    return value.cast(pa.bool_()) if pa.types.is_null(value.type) else value


def negate(value: Any) -> Any:
    return pc.invert(_as_boolean(value))


def _make_kleene(kernel: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: kernel(_as_boolean(left), _as_boolean(right))


both, either = _make_kleene(pc.and_kleene), _make_kleene(pc.or_kleene)
equal, at_least, at_most = (
    make_comparison(pc.equal),
    make_comparison(pc.greater_equal),
    make_comparison(pc.less_equal),
)


def divide(left: Any, right: Any) -> Any:
    """SQL's `/`, which is never integer division. A zero divisor gives null, as in Spark without ANSI mode."""
    divisor = pc.cast(right, pa.float64())
    return pc.divide(
        pc.cast(left, pa.float64()), pc.if_else(pc.equal(divisor, 0.0), pa.scalar(None, pa.float64()), divisor)
    )
