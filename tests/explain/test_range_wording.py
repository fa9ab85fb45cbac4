"""What accepting does to the ranges, in words: known metrics first, few of them, and honest where nothing changes."""

from __future__ import annotations

from headgate.explain.range_wording import NOTHING_LEFT, UNCHANGED, describe_range_changes
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.range_change import RangeChange
from headgate.values.schema import Kind

MEAN = MetricKey("mean", ("price",))


def describe_row(
    metric: MetricKey, before: Predicate | None, after: Predicate | None, *values: float, kind: Kind | None = None
) -> list[str]:
    [table] = describe_range_changes([RangeChange(metric, before, after, values, kind)])
    assert not isinstance(table, str)
    return list(table.rows[0])


def test_values_are_said_as_those_of_the_metric() -> None:
    nulls = describe_row(MetricKey("completeness", ("price",)), Between(0.99, None), Between(0.9, None), 0.5)
    assert nulls == ["price: empty", "at most 1.0%", "at most 10.0%", "about 50.0%"]
    rows = describe_row(MetricKey("size"), Between(900, 1100), Between(800, 1200), 1150.0)
    assert rows == ["rows", "900 to 1,100", "800 to 1,200", ""]


def test_a_range_that_stays_or_is_missing_is_named_so() -> None:
    assert describe_row(MEAN, Between(1, 2), Between(1, 2), 9.0)[1:] == ["1 to 2", "as now", "about 9"]
    assert describe_row(MEAN, None, Between(1, 2), 9.0)[1:] == ["anything", "1 to 2", "about 9"]
    assert describe_row(MEAN, Between(1, 2), None, 9.0)[1:] == ["1 to 2", "anything", ""]


def test_a_value_looks_different_from_the_end_that_it_is_beyond() -> None:
    assert describe_row(MEAN, Between(1, 2), Between(1, 33.61), 33.6101)[2:] == ["1 to 33.61", "about 33.6101"]


def test_few_accepted_values_are_listed_and_many_are_a_span() -> None:
    assert describe_row(MEAN, Between(1, 2), Between(1, 3), 9.0, 8.0, 9.0)[3] == "about 8 or 9"
    assert describe_row(MEAN, Between(1, 2), Between(1, 3), 9.0, 8.0, 7.0, 6.0)[3] == "about 6 to 9"


def test_the_timestamp_of_a_batch_is_not_that_of_the_next() -> None:
    before, after = Between(0, 86_400, moments=True), Between(0, 90_000, moments=True)
    assert describe_row(MetricKey("max", ("at",)), before, after, 9e9, kind=Kind.TIMESTAMP)[3] == ""


def test_flags_and_unknown_metrics_are_plain_numbers() -> None:
    assert describe_row(MetricKey("unchanged", ("city",)), Between(None, 0.1), Between(None, 0.2), 1.0) == [
        "unchanged(city)",
        "at most 0.1",
        "at most 0.2",
        "about 1",
    ]
    assert describe_row(MetricKey("of_tomorrow", ("city",)), OneOf((1,)), OneOf((1, 2)), 3.0)[0] == "of_tomorrow(city)"


def test_known_metrics_come_first_and_the_rest_is_counted() -> None:
    distances = [
        RangeChange(MetricKey("ks_dist", (f"c{at}",)), Between(high=0.1), Between(high=0.2)) for at in range(10)
    ]
    table, more = describe_range_changes([*distances, RangeChange(MEAN, Between(1, 2), Between(1, 3))])
    assert not isinstance(table, str)
    assert [row[0] for row in table.rows[:2]] == ["price: mean", "ks_dist(c0)"]
    assert len(table.rows) == 8
    assert more == "and 3 more"


def test_that_nothing_changes_is_said() -> None:
    assert describe_range_changes([]) == [NOTHING_LEFT]
    assert describe_range_changes([RangeChange(MEAN, Between(1, 9), Between(1, 9), (5.0,))]) == [UNCHANGED]
    assert describe_range_changes([RangeChange(MEAN, None, None, (5.0,))]) == [UNCHANGED]
