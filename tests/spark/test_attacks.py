"""What hostile predicates, names and patterns can do on Spark. The attacks that need no Spark are in `tests/attack`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import headgate as hg
from headgate.checks.guard import guard_predicate
from headgate.engine.spark_sources import select_rows
from headgate.values.errors import BadPredicate, EngineError
from headgate.values.outcome import Failed

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
