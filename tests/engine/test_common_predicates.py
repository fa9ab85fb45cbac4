"""Which predicates tasks may evaluate in place of Spark."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pyspark import cloudpickle

from headgate.engine.common_predicates import compile_common
from headgate.values.schema import Column, Kind

COLUMNS = {
    column.label: column
    for column in (
        Column("whole", Kind.INTEGER, "int"),
        Column("price", Kind.FLOAT, "double"),
        Column("narrow", Kind.FLOAT, "float"),
        Column("amount", Kind.DECIMAL, "decimal(10,2)"),
        Column("word", Kind.STRING, "string"),
        Column("folded", Kind.STRING, "string collate UTF8_LCASE"),
        Column("day", Kind.DATE, "date"),
        Column("at", Kind.TIMESTAMP, "timestamp"),
        Column("flag", Kind.BOOLEAN, "boolean"),
        Column("a b", Kind.INTEGER, "bigint"),
        Column("cost", Kind.FLOAT, "double"),
        Column("until", Kind.TIMESTAMP, "timestamp"),
        Column("local", Kind.TIMESTAMP, "timestamp_ntz"),
        Column("other_folded", Kind.STRING, "string collate UTF8_LCASE"),
    )
}


@pytest.mark.parametrize(
    "text",
    [
        "true",
        "flag",
        "NOT flag OR whole = 5",
        "whole > -5L",
        "5 < whole",
        "`a b` <> 3",
        "price >= 0.01 AND price < 5.0D",
        "amount > 100",
        "word = 'EU' OR word IN ('a', 'b')",
        "day >= '2026-11-14'",
        "day BETWEEN DATE '2026-11-14' AND '2026-11-15'",
        "at IS NOT NULL",
        "(whole IS NULL)",
        "narrow > 0.5",
        f"whole IN ({', '.join(map(str, range(11)))})",
        f"price IN ({', '.join(map(str, range(10)))})",
    ],
)
def test_a_comparison_with_a_constant_is_common(text: str) -> None:
    assert compile_common(text, COLUMNS) is not None


@pytest.mark.parametrize(
    "text",
    [
        "price >= 0 AND NOT isnan(price)",
        "isnan(narrow)",
        "cost <= price AND NOT isnan(cost) AND NOT isnan(price)",
        "at < until",
        "ISNAN(`price`) OR word = 'a + b'",
        "at >= '2026-11-14 06:00:00+00:00'",
        "local BETWEEN '2026-11-14 06:00:00+00:00' AND '2026-11-15 06:00:00.250000+00:00'",
    ],
)
def test_what_our_own_rules_ask_is_common(text: str) -> None:
    assert compile_common(text, COLUMNS) is not None


@pytest.mark.parametrize(
    "text",
    [
        "whole > 2.5",
        "whole = '5'",
        "whole > 99999999999999999999",
        "whole + 1 > 5",
        "whole = price",
        "amount > 100.5",
        "price > 1e3",
        "price > '5'",
        "word LIKE 'a%'",
        "word RLIKE 'a'",
        "word > 5",
        r"word = 'a\\b'",
        r"word = 'a\tb'",
        'word = "EU"',
        "narrow = 0.1",
        "narrow = 16777217",
        f"price IN ({', '.join(map(str, range(11)))})",
        "folded = 'EU'",
        "length(word) > 2",
        "day > '2026-11'",
        "day > at",
        "at > local",
        "narrow < price",
        "folded = other_folded",
        "isnan(whole)",
        "isnan(price + 1)",
        "is_nan(price)",
        "IS_NAN(price)",
        "+word < 'b'",
        "word = +'5'",
        "word = '${spark.app.name}'",
        "at IN ('2026-11-14 06:00:00+00:00')",
        "at > '2026-13-14 06:00:00+00:00'",
        "at > '2026-11-14 06:00:00+01:00'",
        "at > '2026-11-14'",
        "at > TIMESTAMP '2026-11-14 00:00:00'",
        "CAST(whole AS BIGINT) > 5",
        "flag = 1",
        "whole IN (1, NULL)",
        "whole IN (SELECT 1)",
        "whole <=> 5",
        "whole",
        "Whole = 5",
        "other = 5",
        "input_file_name() = 'x'",
        "rand() > 0.5",
        "not sql at all (",
    ],
)
def test_what_settings_of_spark_may_change_is_not_common(text: str) -> None:
    assert compile_common(text, COLUMNS) is None


def test_a_test_travels_without_the_parser() -> None:
    test = compile_common("price BETWEEN 1 AND 2 OR word IN ('a')", COLUMNS)
    assert test is not None
    packed = cloudpickle.dumps(test).hex()
    program = f"""
import pickle, sys
sys.modules["sqlglot"] = None
import pyarrow as pa
test = pickle.loads(bytes.fromhex("{packed}"))
rows = {{"price": pa.array([0.5, 1.5, None, None]), "word": pa.array(["b", "b", "a", None])}}
print(test.of(rows, 4).to_pylist())
"""
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[False, True, True, None]"
