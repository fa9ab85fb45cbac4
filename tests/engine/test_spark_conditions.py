"""Which conditions of a plan tasks may evaluate in place of Spark, and what they give."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from headgate.engine.spark_conditions import compile_condition

CATALYST = "org.apache.spark.sql.catalyst.expressions."
NAMES = {1: "id", 2: "price", 3: "word", 4: "day", 5: "flag", 6: "amount"}
TYPES = {"id": "long", "price": "double", "word": "string", "day": "date", "flag": "boolean", "amount": "decimal(10,2)"}
ROWS = {
    "id": pa.array([1, 2, 3, None]),
    "price": pa.array([0.5, float("nan"), None, -0.0]),
    "word": pa.array(["a", "it's", None, "b"]).dictionary_encode(),
    "day": pa.array([date(2026, 1, 1), None, date(2026, 3, 1), date(1999, 1, 1)]),
    "flag": pa.array([True, False, None, True]),
    "amount": pa.array([Decimal("1.50"), None, Decimal("2.00"), Decimal("-1.00")], pa.decimal128(10, 2)),
}

Tree = list[dict[str, Any]]


class Condition:
    """An expression in the JVM, as its tree is written."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def toJSON(self) -> str:  # noqa: N802 - as Spark names it
        return json.dumps(self.tree)


def node(kind: str, *operands: Tree, **fields: Any) -> Tree:
    own = {"class": CATALYST + kind, "num-children": len(operands), **fields}
    return [own, *(each for operand in operands for each in operand)]


def column(name: str, number: int | None = None) -> Tree:
    numbers = {own: at for at, own in NAMES.items()}
    found = numbers.get(name, 99) if number is None else number
    return node("AttributeReference", name=name, dataType=TYPES[name], exprId={"id": found}, qualifier="[q]")


def literal(value: str | None, kind: str) -> Tree:
    return node("Literal", value=value, dataType=kind)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (column("flag"), [True, False, None, True]),
        (node("Not", column("flag")), [False, True, None, False]),
        (node("GreaterThan", column("id"), literal("1", "long")), [False, True, True, None]),
        (node("LessThan", literal("1", "long"), column("id")), [False, True, True, None]),
        (node("GreaterThanOrEqual", column("price"), literal("0.0", "double")), [True, True, None, True]),
        (node("EqualTo", column("word"), literal("it's", "string")), [False, True, None, False]),
        (node("In", column("word"), literal("a", "string"), literal("b", "string")), [True, False, None, True]),
        (node("LessThanOrEqual", column("day"), literal("2026-01-01", "date")), [True, None, False, True]),
        (node("EqualTo", column("amount"), literal("1.50", "decimal(10,2)")), [True, None, False, False]),
        (node("IsNull", column("word")), [False, False, True, False]),
        (node("Or", node("IsNotNull", column("id")), column("flag")), [True, True, True, True]),
        (node("And", column("flag"), node("IsNotNull", column("price"))), [True, False, False, True]),
    ],
)
def test_rows_are_selected_as_spark_does(tree: Tree, expected: list[bool | None]) -> None:
    test = compile_condition(Condition(tree), NAMES)
    assert test is not None
    rows = {name: ROWS[name] for name in test.columns}
    assert test.of(rows, 4).to_pylist() == expected
    assert cloudpickle.loads(cloudpickle.dumps(test)).of(rows, 4).to_pylist() == expected
    assert test.error == ""


@pytest.mark.parametrize(
    "tree",
    [
        node("EqualTo", node("GetStructField", column("id"), ordinal=0, name="price"), literal("1", "long")),
        node("EqualTo", column("id", number=7), literal("1", "long")),
        node("EqualTo", column("id"), literal("1", "integer")),
        node("EqualTo", column("id"), literal(None, "long")),
        node("EqualTo", column("id"), column("id")),
        node("EqualTo", column("day"), literal("20026-01-01", "date")),
        node("EqualNullSafe", column("id"), literal("1", "long")),
        node("InSet", column("id"), hset=None),
        node("In", column("price"), *(literal(f"{at}.0", "double") for at in range(11))),
        node("In", column("id"), literal(None, "long")),
        node("StartsWith", column("word"), literal("a", "string")),
        node("Literal", value="true", dataType="boolean"),
        node("IsNull", node("GetStructField", column("id"), ordinal=0, name="price")),
        column("id"),
    ],
)
def test_what_only_spark_evaluates_is_left_to_it(tree: Tree) -> None:
    assert compile_condition(Condition(tree), NAMES) is None
