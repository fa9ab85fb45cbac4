"""Evaluates row predicates in SQL on Arrow columns, with SQL's three-valued logic.

On Spark, Spark evaluates predicates. Without Spark this subset of SQL is supported: comparisons, AND, OR, NOT, IN,
BETWEEN, IS NULL, LIKE, RLIKE, arithmetic, CAST, a few functions (`_FUNCTIONS`), literals and column names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import expressions as sql

from headgate.metrics.base.arrow import to_plain
from headgate.values.errors import BadPredicate, did_you_mean

Node: TypeAlias = Any  # an expression of sqlglot's, which has changed its base class between versions
Column: TypeAlias = pa.Array | pa.ChunkedArray | pa.Scalar
Rows: TypeAlias = Mapping[str, Any]
Evaluate: TypeAlias = Callable[[Rows], Column]


class RowPredicate:
    """A compiled predicate; `columns` are the columns that it reads, `places` those inside nested columns.

    >>> met = RowPredicate("price > 2 and region in ('EU', 'US')", ("price", "region"))
    >>> met({"price": pa.array([1, 3, None]), "region": pa.array(["EU", "EU", "US"])}, 3).to_pylist()
    [False, True, None]
    """

    def __init__(self, text: str, labels: tuple[str, ...], places: frozenset[str] = frozenset()) -> None:
        try:
            tree = sqlglot.parse_one(text, read="spark")
            self._evaluate = _Compiler(text, labels, places).compile_node(tree)
            self.columns = frozenset(map(_name_of, tree.find_all(sql.Column)))
        except BadPredicate:
            raise
        except RecursionError:
            raise BadPredicate(f"a predicate of {len(text):,} characters is nested too deeply.") from None
        except Exception as error:  # for malformed text the parser raises many kinds of errors
            why = (str(error) or type(error).__name__).splitlines()[0]
            raise BadPredicate(f"{text!r} is not a SQL predicate: {why}") from None

    def __call__(self, rows: Rows, count: int) -> pa.Array:
        """One boolean or null for each of the `count` rows."""
        result = self._evaluate(rows)
        if isinstance(result, pa.Scalar):
            result = pa.repeat(result, count)
        if not (pa.types.is_boolean(result.type) or pa.types.is_null(result.type)):
            raise TypeError(f"it gives {result.type}, not boolean")
        return result.cast(pa.bool_())


class _Compiler:
    def __init__(self, text: str, labels: tuple[str, ...], places: frozenset[str]) -> None:
        self.text = text
        self.labels = labels
        self.places = places

    def compile_node(self, node: Node) -> Evaluate:
        """The function that evaluates a node. Nodes and arguments that are not listed are refused."""
        if type(node) not in _NODES or any(value and name not in _ARGUMENTS for name, value in node.args.items()):
            raise self.refusal_of(node)
        evaluate = self.compile_by_kind(node)
        # newer parsers put NOT LIKE in one node
        return (lambda rows: _not(evaluate(rows))) if node.args.get("negate") else evaluate

    def compile_by_kind(self, node: Node) -> Evaluate:
        if type(node) in _BINARY:
            return self.compile_binary(_BINARY[type(node)], node)
        match node:
            case sql.Paren() | sql.Boolean() | sql.Literal() | sql.Null():
                return self.compile_node(node.this) if isinstance(node, sql.Paren) else self.compile_literal(node)
            case sql.Column():
                return self.compile_column(node)
            case sql.Not():
                inner = self.compile_node(node.this)
                return lambda rows: _not(inner(rows))
            case sql.Neg():
                inner = self.compile_node(node.this)
                return lambda rows: pc.negate_checked(inner(rows))
            case sql.Is():
                return self.compile_is(node)
            case sql.In():
                return self.compile_in(node)
            case sql.Between():
                value, low, high = (
                    self.compile_node(node.this),
                    self.compile_node(node.args["low"]),
                    self.compile_node(node.args["high"]),
                )
                return lambda rows: _and(_at_least(value(rows), low(rows)), _at_most(value(rows), high(rows)))
            case sql.Like() | sql.RegexpLike():
                return self.compile_like(node)
            case sql.Cast():
                return self.compile_cast(node)
        return self.compile_function(node)

    def compile_binary(self, operate: Callable[[Any, Any], Any], node: Node) -> Evaluate:
        left, right = self.compile_node(node.this), self.compile_node(node.expression)
        return lambda rows: operate(left(rows), right(rows))

    def compile_column(self, node: sql.Column) -> Evaluate:
        name = _name_of(node)
        if name not in (self.places if len(node.parts) > 1 else self.labels):
            raise BadPredicate(f"{self.text!r} names the column {node.sql()};", hint=did_you_mean(name, self.labels))
        return lambda rows: to_plain(rows[name])

    def compile_literal(self, node: Node) -> Evaluate:
        if isinstance(node, sql.Null):
            scalar = pa.scalar(None)
        elif isinstance(node, sql.Boolean):
            scalar = pa.scalar(bool(node.this))
        elif node.is_string:
            scalar = pa.scalar(node.name)
        else:
            whole = node.name.isdecimal() and int(node.name) < 1 << 63
            scalar = pa.scalar(int(node.name) if whole else float(node.name))
        return lambda rows: scalar

    def compile_is(self, node: sql.Is) -> Evaluate:
        inner, wanted = self.compile_node(node.this), node.expression
        if isinstance(wanted, sql.Null):
            return lambda rows: pc.is_null(inner(rows))
        if isinstance(wanted, sql.Boolean):
            truth = bool(wanted.this)
            return lambda rows: pc.fill_null(pc.equal(inner(rows), truth), False)
        raise self.refusal_of(node)

    def compile_in(self, node: sql.In) -> Evaluate:
        if not node.expressions:
            raise self.refusal_of(node)
        value, options = self.compile_node(node.this), [self.compile_node(option) for option in node.expressions]
        if all(isinstance(option, sql.Literal) and option.is_string for option in node.expressions):
            texts = [option.name for option in node.expressions]
            return lambda rows: _is_in_texts(value(rows), texts)

        def is_among(rows: Rows) -> Any:
            result = _equal(value(rows), options[0](rows))
            for option in options[1:]:
                result = _or(result, _equal(value(rows), option(rows)))
            return result

        return is_among

    def compile_like(self, node: Node) -> Evaluate:
        value, pattern = self.compile_node(node.this), node.expression
        if not (isinstance(pattern, sql.Literal) and pattern.is_string):
            raise self.refusal_of(node)
        if isinstance(node, sql.RegexpLike):
            return lambda rows: pc.match_substring_regex(value(rows), pattern.name)
        return lambda rows: pc.match_like(value(rows), pattern.name)

    def compile_cast(self, node: sql.Cast) -> Evaluate:
        inner, kind = self.compile_node(node.this), _CASTS.get(node.to.this)
        if kind is None:
            raise self.refusal_of(node)
        return lambda rows: pc.cast(inner(rows), kind)

    def compile_function(self, node: Node) -> Evaluate:
        operate = _FUNCTIONS[type(node)]
        if node.args.get("expression"):
            raise self.refusal_of(node)
        given = [each for each in (node.this, *node.expressions) if each is not None]
        arguments = [self.compile_node(argument) for argument in given]
        return lambda rows: operate(*(argument(rows) for argument in arguments))

    def refusal_of(self, node: Node) -> BadPredicate:
        return BadPredicate(
            f"{self.text!r}: {node.sql(dialect='spark')!r} cannot be evaluated without Spark.",
            hint="Use comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, LIKE, RLIKE, arithmetic, or a Spark DataFrame.",
        )


def _name_of(node: Node) -> str:
    """The name of a column; that of a place inside a struct has dots."""
    return ".".join(part.name for part in node.parts)


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


def _is_in_texts(value: Any, texts: list[str]) -> Any:
    """IN with texts, as one look-up instead of one comparison for each text."""
    if pa.types.is_string(value.type) or pa.types.is_large_string(value.type):
        result = pc.is_in(value, value_set=pa.array(texts, value.type))
        return pc.if_else(pc.is_valid(value), result, pa.scalar(None, pa.bool_()))
    result = _equal(value, pa.scalar(texts[0]))
    for text in texts[1:]:
        result = _or(result, _equal(value, pa.scalar(text)))
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


def _make_comparison(kernel: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A comparison in which, as in Spark, NaN equals NaN and is greater than every number."""

    def compare(left: Any, right: Any) -> Any:
        left, right = _unify_types(left, right)
        met = kernel(left, right)
        if not (pa.types.is_floating(left.type) or pa.types.is_floating(right.type)):
            return met
        sides = _is_nan(left), _is_nan(right)
        return pc.if_else(pc.and_(pc.is_valid(met), pc.or_(*sides)), kernel(*sides), met)

    return compare


def _is_nan(value: Any) -> Any:
    """Whether a value is NaN; false for null, as in Spark."""
    return pc.fill_null(pc.is_nan(value), False) if pa.types.is_floating(value.type) else pa.scalar(False)


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _as_boolean(value: Any) -> Any:
    return value.cast(pa.bool_()) if pa.types.is_null(value.type) else value


def _not(value: Any) -> Any:
    return pc.invert(_as_boolean(value))


def _make_kleene(kernel: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: kernel(_as_boolean(left), _as_boolean(right))


_and, _or = _make_kleene(pc.and_kleene), _make_kleene(pc.or_kleene)
_equal, _at_least, _at_most = (
    _make_comparison(pc.equal),
    _make_comparison(pc.greater_equal),
    _make_comparison(pc.less_equal),
)


def _divide(left: Any, right: Any) -> Any:
    """SQL's `/`, which is never integer division. A zero divisor gives null, as in Spark without ANSI mode."""
    divisor = pc.cast(right, pa.float64())
    return pc.divide(
        pc.cast(left, pa.float64()), pc.if_else(pc.equal(divisor, 0.0), pa.scalar(None, pa.float64()), divisor)
    )


# the arguments that a node may have: operands, negation, and flags that change nothing here
_ARGUMENTS = frozenset(
    {"this", "expression", "expressions", "low", "high", "to", "table", "negate"}
    | {"is_string", "typed", "safe", "is_nvl", "is_null", "db", "catalog"}
)
_BINARY: dict[type[Any], Callable[[Any, Any], Any]] = {
    sql.And: _and,
    sql.Or: _or,
    sql.EQ: _equal,
    sql.NEQ: _make_comparison(pc.not_equal),
    sql.LT: _make_comparison(pc.less),
    sql.LTE: _at_most,
    sql.GT: _make_comparison(pc.greater),
    sql.GTE: _at_least,
    sql.Add: pc.add_checked,
    sql.Sub: pc.subtract_checked,
    sql.Mul: pc.multiply_checked,
    sql.Div: _divide,
}
_FUNCTIONS: dict[type[Any], Callable[..., Any]] = {
    sql.Length: lambda value: pc.binary_length(value) if _is_bytes(value.type) else pc.utf8_length(value),
    sql.Lower: pc.utf8_lower,
    sql.Upper: pc.utf8_upper,
    sql.Trim: lambda text: pc.utf8_trim(text, characters=" "),
    sql.Abs: pc.abs,
    sql.Coalesce: pc.coalesce,
    sql.Concat: lambda *texts: pc.binary_join_element_wise(*texts, ""),
    sql.IsNan: _is_nan,
}
# the nodes that a predicate may have; a class that derives from one of these is another node
_NODES = frozenset(
    {sql.Paren, sql.Boolean, sql.Literal, sql.Null, sql.Column, sql.Not, sql.Neg, sql.Is, sql.In, sql.Between}
    | {sql.Like, sql.RegexpLike, sql.Cast, sql.TryCast, *_BINARY, *_FUNCTIONS}
)
_CASTS = {
    sql.DataType.Type.INT: pa.int32(),
    sql.DataType.Type.BIGINT: pa.int64(),
    sql.DataType.Type.DOUBLE: pa.float64(),
    sql.DataType.Type.TEXT: pa.string(),
    sql.DataType.Type.DATE: pa.date32(),
    sql.DataType.Type.TIMESTAMP: pa.timestamp("us"),
    sql.DataType.Type.TIMESTAMPTZ: pa.timestamp("us"),
    sql.DataType.Type.BOOLEAN: pa.bool_(),
}
