"""Titles of causes: plain sentences, with as many digits as tell a value from what was expected."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from headgate.explain.wording import CauseKind, describe, write_title
from headgate.values.account import Account, MetricChange, ValueChange, ValueChangeKind
from headgate.values.expectation import Expectation, Judgement, Source, Status
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf, Predicate


def failure(metric: str, value: float | None, predicate: Predicate, **more: object) -> Judgement:
    expectation = Expectation(MetricKey.parse(metric), predicate, Source.HISTORY, rule=str(more.pop("rule", "")))
    return Judgement(expectation, Status.FAIL, f"{metric} is {value}", value, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("judgement", "words"),
    [
        (failure("completeness(price)", 0.4, Between(0.99)), "price is 60.0% empty; expected at most 1.0%"),
        (failure("finiteness(price)", 0.9985, OneOf((1.0,))), "0.1% of price is NaN or infinite; expected none"),
        (failure("finiteness(price)", 0.9995, Between(low=0.9999)), "0.05% of price is NaN or infinite; expected at"),
        (failure("completeness(price)", 0.9, Between(0.2, 0.5)), "price is 10.0% empty; expected at least 50.0% and"),
        (failure("approx_count_distinct(id)", 9.7, Between(3, 4)), "id has about 10 different values, expected within"),
        (failure("new_values(id)", 0.25, Between(high=0.01)), "25.0% of id are values that no run had before"),
        (
            failure("outside_period(ts)", 0.03, Between(high=0.001)),
            "3.0% of ts is outside of the period of the batch, expected at most 0.1%",
        ),
        (failure("unchanged(id)", 1.0, OneOf((0.0,))), "id holds exactly what it held in the run before"),
        (
            failure("compliance()", 0.9, Between(1), rule="is_positive(id)"),
            "is_positive(id): 10.0% of the rows break it",
        ),
        (failure("mean(price)", 7.0, Between(1, 2)), "mean(price) is 7.0"),
    ],
)
def test_a_failure_is_described_in_plain_words(judgement: Judgement, words: str) -> None:
    assert describe(judgement).startswith(words)


def test_a_share_gets_the_digits_that_tell_it_from_what_was_expected() -> None:
    assert describe(failure("completeness(price)", 0.9989, Between(0.999))) == (
        "price is 0.11% empty; expected at most 0.10%"
    )


def test_a_changed_schema_is_one_sentence() -> None:
    judgements = [
        failure("has_column(id)", 0.0, OneOf((1.0,))),
        failure("column_count()", 2.0, OneOf((3.0,))),
        failure('column_type(day, type="date")', 0.0, OneOf((1.0,))),
    ]
    title = write_title(CauseKind.SHAPE, "", judgements, Account())
    assert title.text == "id is gone; 2 columns, expected equal to 3; day changed type (it was date)"


def test_segments_are_counted() -> None:
    judgements = [
        failure("mean(price)", 7.0, Between(1, 2), segment=(("region", region),)) for region in ("EU", "US", "APAC")
    ]
    assert write_title(CauseKind.DECLARED, "", judgements, Account()).text.endswith(
        ", in the worst of 3 segments by region"
    )
    assert write_title(CauseKind.DECLARED, "", judgements[:1], Account()).text.endswith(", in 1 segment by region")


def test_a_distance_that_nobody_knows_is_told_by_how_its_column_changed() -> None:
    judgement = failure("ks_dist(price)", 0.9, Between(high=0.1))
    changes = {"price": ("mean 70 (6 to 7 in 30 runs)",)}
    metrics = {"median(price)": MetricChange(80, 8, 9, 30), "mean(price)": MetricChange(70, 6, 7, 30)}
    account = Account(column_changes=changes, metric_changes=metrics)
    title = write_title(CauseKind.COLUMN, "price", [judgement], account)
    assert (title.text, title.metric) == ("price: mean 70 (6 to 7 in 30 runs)", "mean(price)")
    title = write_title(CauseKind.COLUMN, "price", [judgement], Account())
    assert (title.text, title.metric) == ("ks_dist(price) is 0.9", "ks_dist(price)")


def test_a_title_tells_by_what_factor_a_column_changed() -> None:
    judgement = failure("ks_dist(price)", 0.9, Between(high=0.1))
    changes = {"price": ("mean 650 (6 to 7 in 30 runs)",)}
    account = Account(column_changes=changes, metric_changes={"mean(price)": MetricChange(650, 6, 7, 30, 6.5)})
    title = write_title(CauseKind.COLUMN, "price", [judgement], account)
    assert title.text == "price is about 100 times as large: mean 650 (6 to 7 in 30 runs)"
    assert title.factor == 100


MISSING = ValueChange(ValueChangeKind.MISSING, 1, 0.0, 0.329, 0.331, ("JFK",))


@pytest.mark.parametrize(
    ("metric", "change", "words"),
    [
        ("value_l1(origin)", MISSING, "origin: JFK is missing, it was 32.9%"),
        ("min_length(origin)", MISSING, "origin: JFK is missing, it was 32.9%"),
        ("approx_count_distinct(origin)", replace(MISSING, values=()), "origin: 1 value is missing, it was 32.9%"),
        ("min_length(origin)", replace(MISSING, values=()), "min_length(origin) is 2"),
        ("completeness(origin)", MISSING, "origin is 0.0% empty"),
    ],
)
def test_values_that_changed_are_the_title_unless_something_else_says_more(
    metric: str, change: ValueChange, words: str
) -> None:
    account = Account(value_changes={"origin": (change,)})
    judgement = failure(metric, 1.0 if metric.startswith("completeness") else 2, Between(low=9))
    title = write_title(CauseKind.COLUMN, "origin", [judgement], account)
    assert title.text.startswith(words)
    assert (title.value_change is None) == (not title.text.startswith("origin: "))
