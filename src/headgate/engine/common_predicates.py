"""Row predicates that mean the same to Spark and to Arrow, whatever the settings of the session.

These are comparisons of a column with a constant or another column of its own type, IN, BETWEEN, IS NULL and isnan,
joined by AND, OR and NOT. Casts, arithmetic, other functions, patterns and moments without a zone are left to Spark:
zones, ANSI mode and versions change them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlglot
from sqlglot import expressions as sql

from headgate.engine.local import RowTest
from headgate.engine.predicates import RowPredicate
from headgate.values.day_lists import is_day
from headgate.values.errors import BadPredicate
from headgate.values.schema import Column, Kind

_UNCLEAR = re.compile(r'[\\"]|\$\{')  # escapes, double quotes and variables, whose meaning is a setting
_QUOTED = re.compile(r"'[^']*'|`[^`]*`")
_HIDDEN = re.compile(r"\+|\bis_nan\b", re.IGNORECASE)  # what the parsed tree does not tell from other text
_MOST_FLOATS = 10  # after IN; with more, Spark takes 0.0 and -0.0 for different
_COMPARISONS = (sql.EQ, sql.NEQ, sql.LT, sql.LTE, sql.GT, sql.GTE)
_WHOLE = re.compile(r"\d{1,18}")
_FRACTION = re.compile(r"\d{1,15}(?:\.\d{1,15})?")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00:00")
_NUMBERS = frozenset({Kind.INTEGER, Kind.FLOAT, Kind.DECIMAL})
_ORDERED = _NUMBERS | {Kind.STRING, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN}
_LITERAL_TYPES = {
    Kind.INTEGER: {sql.DataType.Type.INT, sql.DataType.Type.BIGINT},
    Kind.FLOAT: {sql.DataType.Type.INT, sql.DataType.Type.BIGINT, sql.DataType.Type.DOUBLE},
    Kind.DECIMAL: {sql.DataType.Type.INT, sql.DataType.Type.BIGINT},
    Kind.DATE: {sql.DataType.Type.DATE},
}


def compile_common(text: str, columns: Mapping[str, Column]) -> RowTest | None:
    """The test of rows, or None if Spark may understand the predicate in another way.

    >>> columns = {"price": Column("price", Kind.FLOAT, "double"), "at": Column("at", Kind.TIMESTAMP, "timestamp")}
    >>> compile_common("price > 0 AND price IS NOT NULL", columns) is None
    False
    >>> compile_common("at > '2026-11-14 06:00'", columns) is None
    True

    Args:
        text: The predicate.
        columns: The columns that it may name.
    """
    if _UNCLEAR.search(text) or _HIDDEN.search(_QUOTED.sub("", text)):
        return None
    try:
        if not _is_common(sqlglot.parse_one(text, read="spark"), columns):
            return None
        predicate = RowPredicate(text, tuple(columns))
    except (BadPredicate, sqlglot.errors.SqlglotError, RecursionError):
        return None
    return RowTest(text, predicate.evaluate, predicate.columns)


def _is_common(node: Any, columns: Mapping[str, Column]) -> bool:
    """Whether a node is a condition that both understand alike."""
    match node:
        case sql.Boolean():
            return True
        case sql.Paren() | sql.Not():
            return _is_common(node.this, columns)
        case sql.And() | sql.Or():
            return _is_common(node.this, columns) and _is_common(node.expression, columns)
        case sql.Is():
            return _find_column(node.this, columns) is not None and isinstance(node.expression, sql.Null)
        case sql.In():
            return not node.args.get("query") and _is_option(node.this, node.expressions, columns)
        case sql.Between():
            return _is_compared(node.this, [node.args["low"], node.args["high"]], columns)
        case sql.Column():
            column = _find_column(node, columns)
            return column is not None and column.kind is Kind.BOOLEAN
        case sql.IsNan():
            column = _find_column(node.this, columns)
            return column is not None and column.kind is Kind.FLOAT
    if isinstance(node, _COMPARISONS):
        left, right = node.this, node.expression
        return (
            _is_compared(left, [right], columns)
            or _is_compared(right, [left], columns)
            or _are_of_one_type(left, right, columns)
        )
    return False


def _find_column(node: Any, columns: Mapping[str, Column]) -> Column | None:
    return columns.get(node.name) if isinstance(node, sql.Column) and len(node.parts) == 1 else None


def _is_option(left: Any, options: Sequence[Any], columns: Mapping[str, Column]) -> bool:
    column = _find_column(left, columns)
    if column is None or column.kind is Kind.TIMESTAMP:  # without ANSI mode Spark compares moments after IN as texts
        return False
    are_few = column.kind is not Kind.FLOAT or len(options) <= _MOST_FLOATS
    return are_few and _is_compared(left, options, columns)


def _is_compared(left: Any, constants: Any, columns: Mapping[str, Column]) -> bool:
    """Whether these are a column and constants of its type."""
    column = _find_column(left, columns)
    return column is not None and bool(constants) and all(_is_constant(each, column) for each in constants)


def _are_of_one_type(left: Any, right: Any, columns: Mapping[str, Column]) -> bool:
    """Whether these are two columns whose values are ordered without a conversion."""
    one, other = _find_column(left, columns), _find_column(right, columns)
    if one is None or other is None or one.type != other.type or "collate" in one.type:
        return False
    return one.kind in _ORDERED


def _is_float(number: float) -> bool:
    """Whether four bytes hold the number: a setting says whether a `float` is compared in four or in eight."""
    return bool(struct.unpack("f", struct.pack("f", number))[0] == number)


def _is_moment(text: str) -> bool:
    """Whether a text is a moment of UTC that says so."""
    if not _MOMENT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_constant(node: Any, column: Column) -> bool:
    if isinstance(node, sql.Paren):
        return _is_constant(node.this, column)
    if isinstance(node, sql.Neg):
        return column.kind in _NUMBERS and _is_constant(node.this, column)
    if isinstance(node, sql.Cast | sql.TryCast):
        allowed = _LITERAL_TYPES.get(column.kind, set())
        return node.to.this in allowed and _is_literal(node.this, column)
    return _is_literal(node, column)


def _is_literal(node: Any, column: Column) -> bool:
    if isinstance(node, sql.Boolean):
        return column.kind is Kind.BOOLEAN
    if not isinstance(node, sql.Literal):
        return False
    if node.is_string:
        if column.kind is Kind.TIMESTAMP:
            return _is_moment(node.name)
        return column.type == "string" or (column.kind is Kind.DATE and is_day(node.name))
    if column.kind is Kind.FLOAT:
        is_number = _FRACTION.fullmatch(node.name) is not None
        return is_number and (column.type == "double" or _is_float(float(node.name)))
    return column.kind in (Kind.INTEGER, Kind.DECIMAL) and _WHOLE.fullmatch(node.name) is not None
