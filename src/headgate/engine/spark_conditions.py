"""The condition of a physical plan as a test of rows that tasks evaluate themselves, with Arrow.

It is read from the tree of the plan, where columns have numbers and constants have types, not from its SQL text.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import reduce
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from headgate.engine import predicate_kernels as kernels
from headgate.engine.local import RowTest
from headgate.engine.nested import TypeTree
from headgate.engine.parquet_types import UnlikeSpark, make_arrow_type
from headgate.engine.predicate_kernels import Evaluate
from headgate.metrics.base.arrow import to_plain
from headgate.values.schema import Kind

_MOST_OPTIONS = 10  # of IN; Spark compares floating point numbers with more in another way
_CONSTANTS: dict[str, Callable[[str], Any]] = {
    "boolean": lambda text: text == "true",
    "byte": int,
    "short": int,
    "integer": int,
    "long": int,
    "double": float,
    "string": str,
    "date": datetime.date.fromisoformat,
}
"""How Spark writes constants of the types that compare alike in Spark and in Arrow, whatever the settings."""
_NAMES = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_COMPARISONS = {
    "EqualTo": kernels.equal,
    "LessThan": kernels.make_comparison(pc.less),
    "LessThanOrEqual": kernels.at_most,
    "GreaterThan": kernels.make_comparison(pc.greater),
    "GreaterThanOrEqual": kernels.at_least,
}
_LINKS = {"And": kernels.both, "Or": kernels.either}


class _Unknown(Exception):
    """What only Spark can evaluate."""


class _Node(NamedTuple):
    """An expression of Spark: the name of its class, its fields, and its operands."""

    kind: str
    fields: Mapping[str, Any]
    children: list[_Node]


def compile_condition(condition: Any, names: Mapping[int, str]) -> RowTest | None:
    """The test of rows; None if only Spark knows what the condition means.

    Args:
        condition: The expression of a plan, in the JVM.
        names: The name of each column that it may read, by the number that the plan gives the column.
    """
    try:
        tree = _read_tree(iter(json.loads(condition.toJSON())))
        columns = frozenset(names[number] for number in _list_numbers(tree))
        evaluate = _compile(tree, names)
    except (_Unknown, KeyError, RecursionError):
        return None
    return RowTest("the condition of the rows", kernels.make_row_function(evaluate), columns)


def _read_tree(nodes: Iterator[Mapping[str, Any]]) -> _Node:
    """The tree whose nodes these are, each before its operands."""
    fields = next(nodes)
    children = [_read_tree(nodes) for _ in range(fields["num-children"])]
    return _Node(fields["class"].rpartition(".")[2], fields, children)


def _list_numbers(node: _Node) -> Iterator[int]:
    if node.kind == "AttributeReference":
        yield node.fields["exprId"]["id"]
    for child in node.children:
        yield from _list_numbers(child)


def _compile(node: _Node, names: Mapping[int, str]) -> Evaluate:
    if node.kind in _LINKS:
        link = _LINKS[node.kind]
        left, right = (_compile(child, names) for child in node.children)
        return lambda rows: link(left(rows), right(rows))
    if node.kind in _COMPARISONS:
        return _compile_comparison(node, names)
    match node.kind:
        case "Not":
            inner = _compile(node.children[0], names)
            return lambda rows: kernels.negate(inner(rows))
        case "IsNull":
            column = _compile_column(node.children[0], names)
            return lambda rows: pc.is_null(column(rows))
        case "IsNotNull":
            column = _compile_column(node.children[0], names)
            return lambda rows: pc.is_valid(column(rows))
        case "In":
            return _compile_options(node, names)
        case "AttributeReference" if node.fields["dataType"] == "boolean":
            return _compile_column(node, names)
    raise _Unknown(node.kind)


def _compile_column(node: _Node, names: Mapping[int, str]) -> Evaluate:
    if node.kind != "AttributeReference":
        raise _Unknown(node.kind)
    name = names[node.fields["exprId"]["id"]]
    return lambda rows: to_plain(rows[name])


def _compile_comparison(node: _Node, names: Mapping[int, str]) -> Evaluate:
    """A column compared with a constant of its type, on either side."""
    compare, (left, right) = _COMPARISONS[node.kind], node.children
    if left.kind == "Literal":
        column, constant = _compile_column(right, names), _read_constant(left, right)
        return lambda rows: compare(constant, column(rows))
    column, constant = _compile_column(left, names), _read_constant(right, left)
    return lambda rows: compare(column(rows), constant)


def _compile_options(node: _Node, names: Mapping[int, str]) -> Evaluate:
    tested, *options = node.children
    if not options or len(options) > _MOST_OPTIONS:
        raise _Unknown("IN with so many values")
    column, constants = _compile_column(tested, names), [_read_constant(option, tested) for option in options]
    return lambda rows: reduce(kernels.either, (kernels.equal(column(rows), constant) for constant in constants))


def _read_constant(node: _Node, column: _Node) -> pa.Scalar:
    kind, value = str(node.fields.get("dataType")), node.fields.get("value")
    is_known = kind in _CONSTANTS or kind.startswith("decimal(")
    if node.kind != "Literal" or value is None or not is_known or column.fields.get("dataType") != kind:
        raise _Unknown(f"a comparison with {node.kind} {kind}")
    try:
        arrow_type = make_arrow_type(TypeTree(Kind.OTHER, _NAMES.get(kind, kind)))
        return pa.scalar(_CONSTANTS.get(kind, Decimal)(value), arrow_type)
    except (UnlikeSpark, ValueError, ArithmeticError, pa.ArrowException) as error:
        raise _Unknown(f"the constant {value!r}") from error
