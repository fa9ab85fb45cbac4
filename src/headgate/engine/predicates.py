"""Evaluates row predicates in SQL on Arrow columns, with SQL's three-valued logic.

On Spark, Spark evaluates predicates. Without Spark this subset of SQL is supported: comparisons, AND, OR, NOT, IN,
BETWEEN, IS NULL, LIKE, RLIKE, arithmetic, CAST, a few functions (`_FUNCTIONS`), literals and column names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import sqlglot
from sqlglot import expressions as sql

from headgate.engine import predicate_kernels as kernels
from headgate.engine.predicate_kernels import Evaluate, Rows
from headgate.metrics.base.arrow import to_plain
from headgate.values.errors import BadPredicate, did_you_mean

Node: TypeAlias = Any  # an expression of sqlglot's, which has changed its base class between versions


class RowPredicate:
    """A compiled predicate; `columns` are the columns that it reads, `places` those inside nested columns.

    >>> met = RowPredicate("price > 2 and region in ('EU', 'US')", ("price", "region"))
    >>> met({"price": pa.array([1, 3, None]), "region": pa.array(["EU", "EU", "US"])}, 3).to_pylist()
    [False, True, None]
    """

    def __init__(self, text: str, labels: tuple[str, ...], places: frozenset[str] = frozenset()) -> None:
        try:
            tree = sqlglot.parse_one(text, read="spark")
            self.evaluate = kernels.make_row_function(_Compiler(text, labels, places).compile_node(tree))
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
        return self.evaluate(rows, count)


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
        return (lambda rows: kernels.negate(evaluate(rows))) if node.args.get("negate") else evaluate

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
                return lambda rows: kernels.negate(inner(rows))
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
                return lambda rows: kernels.both(
                    kernels.at_least(value(rows), low(rows)), kernels.at_most(value(rows), high(rows))
                )
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
            return lambda rows: kernels.is_in_texts(value(rows), texts)

        def is_among(rows: Rows) -> Any:
            result = kernels.equal(value(rows), options[0](rows))
            for option in options[1:]:
                result = kernels.either(result, kernels.equal(value(rows), option(rows)))
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


# the arguments that a node may have: operands, negation, and flags that change nothing here
_ARGUMENTS = frozenset(
    {"this", "expression", "expressions", "low", "high", "to", "table", "negate"}
    | {"is_string", "typed", "safe", "is_nvl", "is_null", "db", "catalog"}
)
_BINARY: dict[type[Any], Callable[[Any, Any], Any]] = {
    sql.And: kernels.both,
    sql.Or: kernels.either,
    sql.EQ: kernels.equal,
    sql.NEQ: kernels.make_comparison(pc.not_equal),
    sql.LT: kernels.make_comparison(pc.less),
    sql.LTE: kernels.at_most,
    sql.GT: kernels.make_comparison(pc.greater),
    sql.GTE: kernels.at_least,
    sql.Add: pc.add_checked,
    sql.Sub: pc.subtract_checked,
    sql.Mul: pc.multiply_checked,
    sql.Div: kernels.divide,
}
_FUNCTIONS: dict[type[Any], Callable[..., Any]] = {
    sql.Length: lambda value: pc.binary_length(value) if kernels.is_bytes(value.type) else pc.utf8_length(value),
    sql.Lower: pc.utf8_lower,
    sql.Upper: pc.utf8_upper,
    sql.Trim: lambda text: pc.utf8_trim(text, characters=" "),
    sql.Abs: pc.abs,
    sql.Coalesce: pc.coalesce,
    sql.Concat: lambda *texts: pc.binary_join_element_wise(*texts, ""),
    sql.IsNan: kernels.is_nan,
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
