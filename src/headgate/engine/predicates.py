"""Row predicates in SQL, evaluated on Arrow columns with SQL's three-valued logic.

On Spark a predicate is Spark's to evaluate. Without Spark this small part of SQL is: comparisons, AND, OR, NOT, IN, BETWEEN,
IS NULL, LIKE, RLIKE, arithmetic, CASE-free functions (see `_FUNCTIONS`), CAST, literals and column names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import expressions as sql
from sqlglot.errors import SqlglotError

from headgate.values.errors import BadPredicate, did_you_mean

Column: TypeAlias = pa.Array | pa.ChunkedArray | pa.Scalar
Rows: TypeAlias = Mapping[str, Any]
Evaluate: TypeAlias = Callable[[Rows], Column]


def compile_predicate(text: str, labels: tuple[str, ...]) -> Callable[[Rows, int], pa.Array]:
    """A function from the columns of a batch and its number of rows to one boolean (or null) for each row.

    >>> met = compile_predicate("price > 2 and region in ('EU', 'US')", ("price", "region"))
    >>> met({"price": pa.array([1, 3, None]), "region": pa.array(["EU", "EU", "US"])}, 3).to_pylist()
    [False, True, None]
    """
    try:
        tree = sqlglot.parse_one(text, read="spark")
    except SqlglotError as trouble:
        raise BadPredicate(f"{text!r} is not a SQL predicate: {str(trouble).splitlines()[0]}") from None
    evaluate = _Compiler(text, labels).of(tree)

    def met(rows: Rows, count: int) -> pa.Array:
        result = evaluate(rows)
        if isinstance(result, pa.Scalar):
            result = pa.repeat(result, count)
        if isinstance(result, pa.ChunkedArray):
            result = result.combine_chunks()
        return result.cast(pa.bool_())

    return met


def columns_of(text: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that a predicate reads, in the order of the batch."""
    named = {column.name for column in sqlglot.parse_one(text, read="spark").find_all(sql.Column)}
    return tuple(label for label in labels if label in named)


class _Compiler:
    def __init__(self, text: str, labels: tuple[str, ...]) -> None:
        self.text = text
        self.labels = labels

    def of(self, node: sql.Expression) -> Evaluate:
        """What evaluates a node; anything not listed is refused, whatever it might mean elsewhere."""
        if type(node) in _BINARY:
            return self.binary(_BINARY[type(node)], node)
        match node:
            case sql.Paren() | sql.Boolean() | sql.Literal() | sql.Null():
                return self.of(node.this) if isinstance(node, sql.Paren) else self.literal(node)
            case sql.Column():
                return self.column(node)
            case sql.Not():
                inner = self.of(node.this)
                return lambda rows: pc.invert(inner(rows))
            case sql.Neg():
                inner = self.of(node.this)
                return lambda rows: pc.negate_checked(inner(rows))
            case sql.Is():
                return self.is_(node)
            case sql.In():
                return self.in_(node)
            case sql.Between():
                value, low, high = self.of(node.this), self.of(node.args["low"]), self.of(node.args["high"])
                return lambda rows: pc.and_kleene(
                    pc.greater_equal(*_alike(value(rows), low(rows))), pc.less_equal(*_alike(value(rows), high(rows)))
                )
            case sql.Like() | sql.RegexpLike():
                return self.like(node)
            case sql.Cast():
                return self.cast(node)
            case sql.Func():
                return self.function(node)
        raise self.refused(node)

    def binary(self, operate: Callable[[Any, Any], Any], node: sql.Expression) -> Evaluate:
        left, right = self.of(node.this), self.of(node.expression)
        return lambda rows: operate(left(rows), right(rows))

    def column(self, node: sql.Column) -> Evaluate:
        name = node.name
        if node.table or name not in self.labels:
            raise BadPredicate(f"{self.text!r} names the column {node.sql()};", hint=did_you_mean(name, self.labels))
        return lambda rows: rows[name]

    def literal(self, node: sql.Expression) -> Evaluate:
        if isinstance(node, sql.Null):
            scalar = pa.scalar(None)
        elif isinstance(node, sql.Boolean):
            scalar = pa.scalar(bool(node.this))
        elif node.is_string:
            scalar = pa.scalar(node.name)
        else:
            whole = re.fullmatch(r"\d{1,18}", node.name)
            scalar = pa.scalar(int(node.name) if whole else float(node.name))
        return lambda rows: scalar

    def is_(self, node: sql.Is) -> Evaluate:
        inner, wanted = self.of(node.this), node.expression
        if isinstance(wanted, sql.Null):
            return lambda rows: pc.is_null(inner(rows))
        if isinstance(wanted, sql.Boolean):
            truth = bool(wanted.this)
            return lambda rows: pc.fill_null(pc.equal(inner(rows), truth), False)
        raise self.refused(node)

    def in_(self, node: sql.In) -> Evaluate:
        if node.args.get("query") or not node.expressions:
            raise self.refused(node)
        value, options = self.of(node.this), [self.of(option) for option in node.expressions]

        def met(rows: Rows) -> Any:
            found = _equal(value(rows), options[0](rows))
            for option in options[1:]:
                found = pc.or_kleene(found, _equal(value(rows), option(rows)))
            return found

        return met

    def like(self, node: sql.Expression) -> Evaluate:
        value, pattern = self.of(node.this), node.expression
        if not (isinstance(pattern, sql.Literal) and pattern.is_string):
            raise self.refused(node)
        if isinstance(node, sql.RegexpLike):
            return lambda rows: pc.match_substring_regex(value(rows), pattern.name)
        return lambda rows: pc.match_like(value(rows), pattern.name)

    def cast(self, node: sql.Cast) -> Evaluate:
        inner, kind = self.of(node.this), _CASTS.get(node.to.this)
        if kind is None:
            raise self.refused(node)
        return lambda rows: pc.cast(inner(rows), kind)

    def function(self, node: sql.Func) -> Evaluate:
        operate = _FUNCTIONS.get(type(node))
        if operate is None:
            raise self.refused(node)
        given = [node.this, *node.expressions] if node.expressions else [node.this]
        arguments = [self.of(argument) for argument in given]
        return lambda rows: operate(*(argument(rows) for argument in arguments))

    def refused(self, node: sql.Expression) -> BadPredicate:
        return BadPredicate(
            f"{self.text!r}: {node.sql(dialect='spark')!r} cannot be evaluated without Spark.",
            hint="Use comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, LIKE, RLIKE and arithmetic, or a Spark DataFrame.",
        )


def _alike(left: Column, right: Column) -> tuple[Column, Column]:
    """Both sides in one type where one is a text literal and the other a date or a timestamp, as SQL has it."""
    for one, two, swap in ((left, right, False), (right, left, True)):
        if pa.types.is_temporal(one.type) and isinstance(two, pa.Scalar) and pa.types.is_string(two.type):
            cast = pa.scalar(two.as_py()).cast(one.type)
            return (cast, one) if swap else (one, cast)
    return left, right


def _compare(kernel: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: kernel(*_alike(left, right))


_equal = _compare(pc.equal)


def _divide(left: Any, right: Any) -> Any:
    """SQL's `/` is never integer division; a zero divisor gives null, as Spark without ANSI and try_divide have it."""
    divisor = pc.cast(right, pa.float64())
    return pc.divide(pc.cast(left, pa.float64()), pc.if_else(pc.equal(divisor, 0.0), pa.scalar(None, pa.float64()), divisor))


_BINARY: dict[type[sql.Expression], Callable[[Any, Any], Any]] = {
    sql.And: pc.and_kleene,
    sql.Or: pc.or_kleene,
    sql.EQ: _equal,
    sql.NEQ: _compare(pc.not_equal),
    sql.LT: _compare(pc.less),
    sql.LTE: _compare(pc.less_equal),
    sql.GT: _compare(pc.greater),
    sql.GTE: _compare(pc.greater_equal),
    sql.Add: pc.add,
    sql.Sub: pc.subtract,
    sql.Mul: pc.multiply,
    sql.Div: _divide,
}
_FUNCTIONS: dict[type[sql.Expression], Callable[..., Any]] = {
    sql.Length: pc.utf8_length,
    sql.Lower: pc.utf8_lower,
    sql.Upper: pc.utf8_upper,
    sql.Trim: pc.utf8_trim_whitespace,
    sql.Abs: pc.abs,
    sql.Coalesce: pc.coalesce,
    sql.IsNan: pc.is_nan,
}
_CASTS = {
    sql.DataType.Type.INT: pa.int32(),
    sql.DataType.Type.BIGINT: pa.int64(),
    sql.DataType.Type.DOUBLE: pa.float64(),
    sql.DataType.Type.TEXT: pa.string(),
    sql.DataType.Type.DATE: pa.date32(),
    sql.DataType.Type.TIMESTAMP: pa.timestamp("us"),
    sql.DataType.Type.BOOLEAN: pa.bool_(),
}
