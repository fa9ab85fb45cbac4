"""What hostile predicates, names and patterns can do on Spark. The attacks that need no Spark are in `tests/attack`."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

import headgate as hg
from headgate.checks.guard import guard_predicate
from headgate.engine.java_regex import java_regex
from headgate.engine.spark_sources import select_rows
from headgate.metrics.base.regex_cost import refuse_slow_regex
from headgate.values.errors import BadPredicate, EngineError
from headgate.values.outcome import Failed
from tests.attack.fuzz import hostile_values, random_pattern
from tests.attack.patterns import ORDINARY

NAMES = ("user", "USER", "`user`", "current_user", "session_user", "current_catalog", "current_database", "secret",
         "current_schema", "current_timezone", "localtimestamp", "current_time", "grouping__id")  # fmt: skip


@pytest.fixture
def orders(spark: Any) -> Iterator[Any]:
    """A frame in a session with a variable."""
    spark.sql("DECLARE OR REPLACE VARIABLE secret STRING DEFAULT 'seen'")
    yield spark.createDataFrame([(1, "Ada"), (2, "Alan")], "price INT, User STRING")
    spark.sql("DROP TEMPORARY VARIABLE secret")


@pytest.fixture
def case_sensitive(spark: Any) -> Iterator[None]:
    spark.conf.set("spark.sql.caseSensitive", "true")
    yield
    spark.conf.unset("spark.sql.caseSensitive")


def test_spark_reads_such_names_itself(spark: Any, orders: Any) -> None:
    """Why they are refused: without a column of that name they are the user's name, and a variable."""
    assert orders.drop("User").selectExpr("user", "secret").first()[1] == "seen"


def passes_the_guard(predicate: str) -> bool:
    try:
        return bool(guard_predicate(predicate))
    except BadPredicate:
        return False


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_no_column_is_not_read_from_the_session(orders: Any, name: str) -> None:
    batch = orders.drop("User")
    for predicate in filter(passes_the_guard, (f"{name} IS NOT NULL", f"price = 1 OR {name} <> ''")):
        for metric in (hg.Compliance(predicate), hg.Size(where=predicate)):
            assert isinstance(hg.analyze(batch, [metric])[metric], Failed)
        with pytest.raises(EngineError, match="names the column"):
            select_rows(batch, predicate)


def test_a_column_of_such_a_name_is_read(orders: Any) -> None:
    assert hg.verify(orders, hg.Check.from_yaml("checks:\n  - satisfies: user in ('Ada', 'Alan')")).status == "pass"


@pytest.mark.usefixtures("case_sensitive")
def test_a_column_in_another_case_does_not_hide_the_session(orders: Any) -> None:
    metric = hg.Compliance("user IS NOT NULL")
    assert isinstance(hg.analyze(orders, [metric])[metric], Failed)


def test_rows_are_not_found_by_a_name_that_is_no_column(orders: Any) -> None:
    verification = hg.verify(orders, hg.Check("orders").satisfies("user = 'Ada'").has_size(equals=2, where="price > 0"))
    assert verification.rows(orders).count() == 1
    with pytest.raises(BadPredicate, match="names the column 'user'"):
        verification.rows(orders.drop("User"))


def test_no_function_is_called_by_its_bare_name(spark: Any) -> None:
    batch = spark.createDataFrame([(1,)], "price INT")
    names = [row[0] for row in spark.sql("SHOW FUNCTIONS").collect() if row[0].isidentifier()]
    names = [name for name in names if passes_the_guard(f"{name} IS NOT NULL")]
    metrics = [hg.Compliance(f"{name} IS NOT NULL") for name in names]
    outcomes = hg.analyze(batch, metrics)
    allowed = {"current_date", "current_timestamp"}  # the same for every row of a batch, and documented
    read = {name for name, metric in zip(names, metrics, strict=True) if not isinstance(outcomes[metric], Failed)}
    assert len(names) > 300
    assert read <= allowed


def java_seconds(spark: Any, pattern: str, values: list[str]) -> float:
    """The seconds that Java takes to search a value for a pattern, in the mean of the values."""
    compiled = spark._jvm.java.util.regex.Pattern.compile(pattern)
    began = time.perf_counter()
    for value in values:
        with suppress(Py4JJavaError):  # Java searches loops by recursion, and what its stack cannot hold ends soon
            compiled.matcher(value).find()
    return (time.perf_counter() - began) / len(values)


def is_fast(pattern: str) -> bool:
    try:
        refuse_slow_regex(pattern, java=True)
    except BadPredicate:
        return False
    return True


@pytest.mark.parametrize("share", [0.2, pytest.param(1.0, marks=pytest.mark.slow)])
def test_accepted_patterns_are_fast_in_java(share: float, spark: Any) -> None:
    chance = random.Random(11)
    drawn = [pattern for pattern in (random_pattern(chance) for _ in range(120)) if is_fast(pattern)][:40]
    ordinary = [java_regex(pattern) for patterns in ORDINARY.values() for pattern in patterns]
    every = [*drawn, *ordinary]
    for pattern in chance.sample(every, int(share * len(every))):
        values = hostile_values(pattern, chance)
        # Other work on the machine only adds to the time, so one fast run of three is enough.
        assert any(java_seconds(spark, pattern, values) < 3 for _ in range(3)), pattern


def test_rows_are_found_by_accepted_patterns_in_bounded_time(spark: Any) -> None:
    values = [value for pattern in ("a@a.", "1-", "a b") for value in hostile_values(pattern, random.Random(3))]
    batch = spark.createDataFrame([(value,) for value in values], "code STRING")
    check = hg.Check("orders")
    for pattern in (r"^[^@]+@[^@]+\.[^@]+$", r".*@.*\..*", r"\d+-\d+", r"^[A-Z][a-z]+(?: [A-Z][a-z]+)*$", r"foo.*bar"):
        check = check.has_pattern("code", pattern)
    began = time.perf_counter()
    assert hg.verify(batch, check).rows(batch).count() == len(values)
    assert time.perf_counter() - began < 300  # seconds on an idle machine
