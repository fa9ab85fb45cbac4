"""Predicates that the guard has written anew mean to Spark what they meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from headgate.checks.guard import guard_predicate
from tests.checks.hostile import HONEST

_ROWS = """
    VALUES (1, 1.5D, 'ab', true, DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00', 1, 1, 1),
           (2, double('NaN'), 'x', false, DATE '2021-06-05', TIMESTAMP '2021-01-01 05:00:00', 2, 2, 2),
           (5, -2.25D, '1,2', null, DATE '2020-02-29', TIMESTAMP '2020-02-01 00:00:00', 3, 3, 3),
           (null, null, null, true, null, null, null, null, null)
    AS t(n, f, s, b, d, t, `unit price`, `a.b`, `c``d`)
"""


@pytest.fixture
def lenient(spark: Any) -> Iterator[Any]:
    """A session in which a text that is no number is null, so that all predicates can be asked at once."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield spark
    spark.conf.set("spark.sql.ansi.enabled", before)


def test_honest_predicates_mean_the_same_to_spark(lenient: Any) -> None:
    asked = [f"(\n{each}\n)" for text in HONEST for each in (text, guard_predicate(text))]
    rows = lenient.sql(f"SELECT {', '.join(asked)} FROM {_ROWS}").collect()
    columns = list(zip(*rows, strict=True))
    changed = [text for at, text in enumerate(HONEST) if columns[2 * at] != columns[2 * at + 1]]
    assert not changed
    assert len(rows) == 4


def test_spark_puts_settings_into_texts_which_is_why_they_are_refused(spark: Any) -> None:
    spark.conf.set("spark.headgate.canary", "seen")
    assert spark.sql("SELECT '${spark.headgate.canary}'").collect()[0][0] == "seen"
