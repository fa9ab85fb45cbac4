"""From many failed expectations to the few things that went wrong."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headgate.checks.check import Check
from headgate.explain.cause import Cause
from headgate.explain.causes import find_causes
from headgate.explain.wording import CauseKind, describe
from headgate.gate.gate import Gate
from headgate.store.memory import MemoryStore
from headgate.values.account import Account, MetricChange, ValueChange, ValueChangeKind
from headgate.values.expectation import Expectation, Judgement, Level, Source
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed, Measured
from headgate.values.predicate import Between, OneOf, Predicate
from headgate.values.schema import Kind
from tests.gate.orders import dearer, elsewhere, emptied, gate_after, judged, month, orders, renamed, replaced

HISTORY = Source.HISTORY
FAR = Between(low=1e9)


def failed(
    metric: str,
    value: float,
    expected: Predicate = FAR,
    rate: float | None = 0.001,
    source: Source = HISTORY,
    **given: Any,
) -> Judgement:
    made = Expectation(MetricKey.parse(metric), expected, source, false_alarm=rate, **given)
    return made.judge(Measured(value))


def errored(metric: str, why: str = "the column is gone") -> Judgement:
    return Expectation(MetricKey.parse(metric), Between(low=0)).judge(Failed(why))


def causes(*judgements: Judgement, **account: Any) -> list[Cause]:
    return list(find_causes(judgements, Account(**account)))


def novel(rate: float = 0.001) -> Judgement:
    return failed("novelty()", 3.2, Between(high=1.5), rate, Source.NOVELTY)


# --- grouped


def test_nothing_wrong_has_no_cause() -> None:
    good = Expectation(MetricKey.parse("mean(price)"), Between(0, 9), HISTORY).judge(Measured(5.0))
    assert causes(good) == []


NINE = [
    *("mean(price)", "median(price)", "stddev(price)", "min(price)", "max(price)", "sum(price)"),
    *("approx_count_distinct(price)", "ks_dist(price)", "cohen_d(price)"),
]


def test_one_column_that_breaks_nine_expectations_is_one_cause() -> None:
    broken = [failed(metric, 7.0 + at, rate=0.001 * (9 - at)) for at, metric in enumerate(NINE)]
    (cause,) = causes(*broken)
    assert cause.columns == ("price",)
    assert len(cause.judgements) == 9
    assert str(cause.lead.expectation.metric) == "approx_count_distinct(price)"  # distances say less
    assert cause.false_alarm == 0.001


def test_two_columns_that_break_in_their_own_ways_are_two_causes() -> None:
    assert [each.columns for each in causes(failed("mean(a)", 5.0), failed("mean(b)", 7.0, rate=0.002))] == [
        ("a",),
        ("b",),
    ]


def test_two_columns_that_break_alike_are_one_cause() -> None:
    (cause,) = causes(*(failed(f"completeness({name})", 0.41, OneOf((1.0,))) for name in "ab"))
    assert cause.columns == ("a", "b")
    assert cause.title.startswith("a and b broke alike: a is 59.0% empty")


def test_many_columns_that_break_alike_are_named_by_the_first_few() -> None:
    (cause,) = causes(*(failed(f"completeness(c{at})", 0.41, OneOf((1.0,))) for at in range(6)))
    assert cause.title.startswith("c0, c1, c2 and 3 more columns broke alike")
    assert len(cause.columns) == 6


def test_fewer_rows_are_one_cause_with_all_that_counts_rows() -> None:
    (cause,) = causes(failed("size()", 20.0), failed("sum(price)", 30.0), failed("sum(quantity)", 40.0))
    assert cause.kind is CauseKind.VOLUME
    assert cause.title == "20 rows, expected at least 1,000,000,000"
    assert len(cause.judgements) == 3
    assert cause.columns == ()


def test_rows_that_the_account_calls_few_are_why_sums_are_small() -> None:
    found = {"": ("20 rows (110 to 130 in 30 runs)",)}
    (cause,) = causes(failed("sum(price)", 30.0), fewer_rows=True, column_changes=found)
    assert (cause.kind, cause.title) == (CauseKind.VOLUME, "20 rows (110 to 130 in 30 runs)")
    (other,) = causes(failed("sum(price)", 30.0), fewer_rows=False)
    assert (other.kind, other.columns) == (CauseKind.COLUMN, ("price",))


def changed(value: float, low: float, high: float) -> MetricChange:
    return MetricChange(value, low, high, 30, centre=(low + high) / 2)


def test_sums_that_moved_farther_than_the_rows_are_causes_of_their_own() -> None:
    changes = {
        "size()": changed(5_561, 4_445, 7_709),
        "sum(amount)": changed(42e6, 3.4e5, 5e5),
        "mean(amount)": changed(7_500, 70, 80),
        "sum(unit_price)": changed(14e6, 1.1e5, 1.7e5),
        "mean(unit_price)": changed(2_460, 23.9, 24.9),
    }
    broken = [failed("sum(amount)", 42e6, Between(1e5, 1e6), 0.002), failed("sum(unit_price)", 14e6, Between(0, 4e5))]
    rows = {"": ("5,561 rows (4,445 to 7,709 in 30 runs)",)}
    (cause,) = causes(*broken, fewer_rows=True, column_changes=rows, metric_changes=changes)
    assert cause.columns == ("unit_price", "amount")
    assert cause.title == (
        "unit_price and amount are about 100 times as large; "
        "unit_price: sum(unit_price) is 14,000,000 (110,000 to 170,000 in 30 runs; allowed 0 to 400,000)"
    )
    assert cause.title_metric == str(cause.lead.expectation.metric) == "sum(unit_price)"


def test_sums_that_moved_as_far_as_the_rows_are_explained_by_them() -> None:
    changes = {"size()": changed(1_050, 1_000, 10_000), "sum(price)": changed(20_000, 20_000, 200_000)}
    rows = {"": ("1,050 rows (1,000 to 10,000 in 30 runs)",)}
    account: dict[str, Any] = {"fewer_rows": True, "column_changes": rows, "metric_changes": changes}
    (cause,) = causes(failed("sum(price)", 20_000, Between(low=90_000)), **account)
    assert cause.kind is CauseKind.VOLUME
    assert cause.title == "1,050 rows (1,000 to 10,000 in 30 runs), about 5,500 expected"
    assert cause.title_metric == "size()"


MISSING = ValueChange(ValueChangeKind.MISSING, 1, 0.0, 0.329, 0.331, ("JFK",))


@pytest.mark.parametrize(
    ("rows", "titles"),
    [
        (20, ["20 rows (90 to 110 in 30 runs; allowed 80 to 120), about a fifth as many", "origin: JFK is missing"]),
        (66, ["origin: JFK is missing, it was 32.9%; 66 rows (90 to 110 in 30 runs; allowed 80 to 120)"]),
    ],
)
def test_a_missing_value_is_not_explained_by_fewer_rows_but_may_explain_them(rows: float, titles: list[str]) -> None:
    found = causes(
        failed("size()", rows, Between(80, 120)),
        failed("value_l1(origin)", 0.7, Between(high=0.2)),
        value_changes={"origin": (MISSING,)},
        metric_changes={"size()": changed(rows, 90, 110)},
    )
    assert len(found) == len(titles)
    assert all(cause.title.startswith(title) for cause, title in zip(found, titles, strict=True))
    assert found[-1].value_change == MISSING
    assert sum(len(cause.judgements) for cause in found) == 2


def test_of_numbers_new_values_say_less_than_where_they_lie() -> None:
    new = MetricChange(1.0, 0.0, 0.02, 28, 0.0, Kind.FLOAT)
    changes = {"mean(distance)": MetricChange(1_765, 908.5, 1_106, 30, 1_000, Kind.FLOAT), "new_values(distance)": new}
    sentences = {"distance": ("mean 1,765 (908.5 to 1,106 in 30 runs)",)}
    broken = failed("new_values(distance)", 1.0, Between(high=0.1))
    (cause,) = causes(broken, column_changes=sentences, metric_changes=changes)
    assert (cause.title, cause.title_metric) == (f"distance: {sentences['distance'][0]}", "mean(distance)")


def test_columns_that_changed_by_different_factors_are_different_causes() -> None:
    changes = {"mean(a)": changed(1_000, 9, 11), "mean(b)": changed(100, 9, 11)}
    broken = [failed(name, change.value, Between(0, 20)) for name, change in changes.items()]
    assert [each.title.partition(":")[0] for each in causes(*broken, metric_changes=changes)] == [
        "a is about 100 times as large",
        "b is about 10 times as large",
    ]


def test_a_single_large_value_does_not_make_a_column_larger() -> None:
    changes = {"max(a)": changed(9_000, 80, 100), "mean(a)": changed(12, 9, 11)}
    (cause,) = causes(failed("max(a)", 9_000, Between(0, 200)), metric_changes=changes)
    assert cause.title == "a: largest 9,000 (80 to 100 in 30 runs; allowed 0 to 200), about 100 times as large"
    assert cause.factor is None


def test_a_mean_is_not_small_because_rows_are_few() -> None:
    assert [each.kind for each in causes(failed("size()", 20.0), failed("mean(price)", 30.0))] == [
        CauseKind.VOLUME,
        CauseKind.COLUMN,
    ]


def test_an_empty_batch_is_one_cause() -> None:
    verdict = judged(gate_after(12), 12, orders(12).slice(0, 0))
    assert len(verdict.causes) == 1
    assert verdict.causes[0].title == "no rows came"


def test_columns_that_are_gone_and_new_and_of_another_type_are_one_cause() -> None:
    laws = {"has_column(a)": 0.0, "has_column(b)": 0.0, 'column_type(c, type="integer")': 0.0}
    broken = [failed(metric, value, OneOf((1.0,)), 0.0) for metric, value in laws.items()]
    (cause,) = causes(*broken, failed("column_count()", 9.0, Between(high=8), 0.0))
    assert cause.kind is CauseKind.SHAPE
    assert cause.title == "a and b are gone; 9 columns, expected at most 8; c changed type (it was integer)"
    assert cause.rarity == "no accepted run did this"


def test_a_declared_rule_is_a_cause_of_its_own_and_says_that_it_was_declared() -> None:
    declared = failed("mean(price)", 5.0, source=Source.DECLARED, rate=None, rule="has_mean(price)")
    found = causes(failed("median(id)", 4.0), declared)
    assert [each.kind for each in found] == [CauseKind.DECLARED, CauseKind.COLUMN]
    assert (found[0].rarity, found[0].false_alarm) == ("declared", None)


def test_what_was_learned_of_a_column_that_breaks_a_check_is_the_same_cause() -> None:
    first, second = (
        failed(f"{name}(price)", 5.0, source=Source.DECLARED, rate=None, rule=f"has_{name}(price)")
        for name in ("mean", "max")
    )
    learned = [failed("median(price)", 4.0), failed("min(price)", 4.0)]
    found = causes(*learned, first, second, failed("median(id)", 4.0))
    assert [(each.kind, len(each.judgements)) for each in found] == [
        (CauseKind.DECLARED, 3),
        (CauseKind.DECLARED, 1),
        (CauseKind.COLUMN, 1),
    ]
    assert sum(len(each.judgements) for each in found) == 5
    assert found[0].rarity == "declared"


@pytest.mark.parametrize(
    ("metric", "value", "rule", "said"),
    [
        ("approx_count_distinct(origin)", 4.0000000298, "", "origin has about 4 different values, expected at most 1"),
        ("uniqueness(id)", 0.963, "is_unique(id)", "is_unique(id): 3.7% of the rows break it, expected none"),
        (
            "uniqueness(ids[])",
            0.963,
            "is_unique(ids[])",
            "is_unique(ids[]): 3.7% of the values break it, expected none",
        ),
        ("uniqueness(id)", 0.99999, "is_unique(id)", "is_unique(id): 0.001% of the rows break it, expected none"),
    ],
)
def test_shares_and_counts_are_told_as_people_say_them(metric: str, value: float, rule: str, said: str) -> None:
    predicate = Between(low=1) if rule else Between(high=1)
    expectation = Expectation(MetricKey.parse(metric), predicate, Source.DECLARED, rule=rule)
    assert describe(expectation.judge(Measured(value))) == said


def test_a_check_by_segment_says_that_it_speaks_of_segments() -> None:
    checks = Check("orders", by="country").has_mean("price", at_most=1)
    (cause,) = judged(gate_after(0, checks=checks), 0).causes
    assert cause.title.endswith(", in the worst of 3 segments by country")
    assert cause.lead.value == max(each.value or 0 for each in cause.judgements)


def test_a_declared_rule_that_segments_break_is_one_cause() -> None:
    checks = Check("orders", by="country").has_mean("price", at_most=1)
    verdict = judged(gate_after(0, checks=checks), 0)
    (cause,) = verdict.causes
    assert len(cause.judgements) == 3


def test_what_could_not_be_evaluated_is_one_cause_for_each_column() -> None:
    found = causes(errored("mean(price)"), errored("max(price)"), errored("mean(id)"))
    assert {each.columns: len(each.judgements) for each in found} == {("price",): 2, ("id",): 1}
    assert {each.kind for each in found} == {CauseKind.UNREAD}
    assert {each.rarity for each in found} == {""}
    assert any("(and 1 more of it)" in each.title for each in found)


# --- novelty


def test_a_novelty_that_blames_a_known_column_is_no_second_cause() -> None:
    blamed = (("mean(price)", 0.7), ("size()", 0.2))
    found = causes(failed("median(price)", 5.0), novel(), contributions=blamed)
    assert [each.kind for each in found] == [CauseKind.COLUMN]


def test_a_novelty_that_blames_another_column_is_a_cause_that_names_it() -> None:
    found = causes(failed("median(price)", 5.0), novel(), contributions=(("mean(weight)", 0.7), ("mean(price)", 0.2)))
    assert [each.kind for each in found] == [CauseKind.COLUMN, CauseKind.WHOLE]
    assert found[1].columns[0] == "weight"


def test_a_novelty_alone_names_the_columns_that_it_blames_the_most() -> None:
    blamed = (
        ("mean(a)", 0.3),
        ("mean(b)", 0.25),
        ("max(b)", 0.25),
        ("mean(c)", 0.1),
        ("mean(d)", 0.06),
        ("size()", 0.04),
    )
    (cause,) = causes(novel(), contributions=blamed)
    assert cause.columns == ("b", "a", "c")
    assert cause.title.startswith("the batch as a whole is unlike those before it")
    assert cause.title.endswith("most in b (50%), a (30%), c (10%)")


@pytest.mark.parametrize("other", [failed("size()", 20.0), failed("has_column(a)", 0.0, OneOf((1.0,)), 0.0)])
def test_a_novelty_beside_fewer_rows_or_other_columns_is_no_second_cause(other: Judgement) -> None:
    assert len(causes(other, novel(), contributions=(("mean(b)", 0.9),))) == 1


def test_a_novelty_that_blames_nothing_still_is_a_cause() -> None:
    (cause,) = causes(novel())
    assert (cause.kind, cause.columns) == (CauseKind.WHOLE, ())


# --- ranked


def test_the_most_telling_comes_first() -> None:
    found = causes(
        novel(),
        failed("mean(weight)", 5.0),
        failed("size()", 20.0),
        failed("max(id)", 5.0, source=Source.DECLARED, rate=None),
        failed("has_column(a)", 0.0, OneOf((1.0,)), 0.0),
        errored("mean(b)"),
    )
    assert [each.kind for each in found] == [
        CauseKind.UNREAD,
        CauseKind.SHAPE,
        CauseKind.DECLARED,
        CauseKind.VOLUME,
        CauseKind.COLUMN,
    ]


def test_of_two_columns_the_rarer_comes_first_and_then_the_one_that_breaks_more() -> None:
    rare, often = failed("mean(rare)", 5.0, rate=1e-5), failed("mean(often)", 6.0, rate=1e-2)
    assert [each.columns for each in causes(often, rare)] == [("rare",), ("often",)]
    more = [failed("max(more)", 7.0, rate=1e-2), failed("min(more)", 8.0, rate=1e-2)]
    assert [each.columns for each in causes(often, *more)] == [("more",), ("often",)]


def test_warnings_are_told_apart_from_what_holds() -> None:
    warned = failed("mean(price)", 5.0, source=Source.DECLARED, rate=None, level=Level.WARN)
    assert causes(warned) == []
    (cause,) = find_causes([warned], level=Level.WARN)
    assert cause.columns == ("price",)


# --- in words


WORDS = [
    ("completeness(price)", 0.4, OneOf((1.0,)), "price is 60.0% empty; expected at most 0.0%"),
    ("completeness(price)", 0.4, Between(low=0.9), "price is 60.0% empty; expected at most 10.0%"),
    ("completeness(price)", 0.9, Between(0.1, 0.3), "price is 10.0% empty; expected at least 70.0% and at most 90.0%"),
    (
        "new_values(country)",
        0.336,
        Between(high=0.1),
        "33.6% of country are values that no run had before, expected at most 10.0%",
    ),
    (
        "new_patterns(code)",
        1.0,
        Between(high=0.1),
        "100.0% of code are written in a way that no run had before, expected at most 10.0%",
    ),
    (
        "unchanged(code)",
        1.0,
        OneOf((0.0,)),
        "code holds exactly what it held in the run before; it changed in every run until now",
    ),
    ("mean(price)", 5.0, Between(6, 7), "mean(price) is 5, expected within 6..7"),
]


@pytest.mark.parametrize(("metric", "value", "expected", "words"), WORDS)
def test_a_failed_expectation_is_told_as_people_say_it(
    metric: str, value: float, expected: Predicate, words: str
) -> None:
    judgement = failed(metric, value, expected)
    assert describe(judgement) == words
    assert causes(judgement)[0].title == words


def test_a_distance_is_told_by_what_moved_in_the_column() -> None:
    found = {"price": ("mean 2,343.93 (19.5 to 25.5 in 30 runs)", "median 2,050 (17.4 to 22.5 in 30 runs)")}
    (cause,) = causes(failed("ks_dist(price)", 1.0, Between(high=0.2)), column_changes=found)
    assert cause.title == "price: mean 2,343.93 (19.5 to 25.5 in 30 runs)"
    assert cause.found == found["price"]


def test_a_cause_is_plain_data() -> None:
    (cause,) = causes(failed("mean(price)", 5.0, rate=0.0005), failed("max(price)", 5.0, rate=0.002))
    assert cause.to_dict() == {
        "kind": "column",
        "title": "mean(price) is 5, expected at least 1,000,000,000",
        "columns": ["price"],
        "found": [],
        "rarity": "1 in 2,000 runs",
        "false_alarm": 0.0005,
        "expectations": ["mean(price)", "max(price)"],
        "held_before": [],
        "diagnosis": None,
    }


# --- batches that broke


BROKEN: dict[str, tuple[pa.Table, CauseKind, tuple[str, ...], str, str]] = {
    "prices in cents": (
        dearer(orders(30)),
        CauseKind.COLUMN,
        ("price",),
        "price looks multiplied by 100",
        "price is about 100 times as large: ",
    ),
    "an empty column": (
        emptied(orders(30), "price", 2),
        CauseKind.COLUMN,
        ("price",),
        "price is empty",
        "price is 100.0% empty",
    ),
    "two columns half empty": (
        emptied(emptied(orders(30), "price"), "quantity"),
        CauseKind.COLUMN,
        ("price", "quantity"),
        "price and quantity lost 60.7% of their values",
        "price and quantity broke alike",
    ),
    "a column of another name": (
        renamed(orders(30), "country", "land"),
        CauseKind.SHAPE,
        ("country",),
        "country is now named land",
        "country is gone",
    ),
    "fewer rows": (
        orders(30).slice(0, 20),
        CauseKind.VOLUME,
        (),
        "83.3% of the rows are missing",
        "20 rows (110 to 130 in 30 runs; allowed ",
    ),
    "a tenth of the rows": (
        orders(30).slice(0, 12),
        CauseKind.VOLUME,
        (),
        "90.0% of the rows are missing",
        "), about a tenth as many",
    ),
    "another type": (
        replaced(orders(30), "quantity", orders(30)["quantity"].cast(pa.string())),
        CauseKind.SHAPE,
        ("quantity",),
        "quantity is text, it was whole numbers",
        "quantity changed type (it was integer)",
    ),
    "a country that never was": (
        elsewhere(orders(30)),
        CauseKind.COLUMN,
        ("country",),
        "country: 1 value is new (33",
        "",
    ),
}


@pytest.mark.parametrize(("table", "sort", "columns", "title", "evidence"), BROKEN.values(), ids=BROKEN.keys())
def test_one_thing_that_went_wrong_is_one_cause(
    table: pa.Table, sort: CauseKind, columns: tuple[str, ...], title: str, evidence: str
) -> None:
    verdict = judged(month(), 30, table)
    (cause,) = verdict.causes
    assert (cause.kind, cause.columns) == (sort, columns)
    assert title in cause.title
    assert evidence in "; ".join(cause.found)
    named = cause.diagnosis is not None
    assert verdict.headline.endswith(f" failed and was held: {cause.title if named else 'one thing is wrong'}.")


def test_two_things_that_went_wrong_are_two_causes() -> None:
    verdict = judged(month(), 30, dearer(emptied(orders(30), "quantity")))
    assert sorted(each.columns for each in verdict.causes) == [("price",), ("quantity",)]
    assert verdict.headline.endswith("; one more thing is wrong.")


def test_a_predicate_over_rows_is_about_the_column_that_its_rule_names_first() -> None:
    checks = Check("orders").is_contained_in("country", ["DE", "FR", "US"]).satisfies("price < quantity")
    verdict = judged(gate_after(12, checks=checks), 12, elsewhere(orders(12)))
    first, second = verdict.causes[:2]
    assert first.columns == ("country",)
    assert len(first.judgements) > 1  # with what was learned of it
    assert second.columns == ()
    assert len(verdict.causes) == 2


@pytest.mark.parametrize(
    ("value", "expected", "words"),
    [
        (0.9999, OneOf((1.0,)), "price is 0.01% empty; expected at most 0.0%"),
        (0.9489, Between(low=0.9491), "price is 5.11% empty; expected at most 5.09%"),
        (0.2, Between(0.5, 0.9), "price is 80.0% empty; expected at least 10.0% and at most 50.0%"),
        (0.0, OneOf((1.0,)), "price is 100.0% empty; expected at most 0.0%"),
    ],
)
def test_a_share_never_looks_like_one_that_was_allowed(value: float, expected: Predicate, words: str) -> None:
    assert describe(failed("completeness(price)", value, expected)) == words


def test_a_column_that_hardly_counts_is_not_named_as_one_that_is_unlike() -> None:
    (cause,) = causes(novel(), contributions=(("mean(price)", 0.8), ("mean(id)", 0.1), ("mean(code)", 0.02)))
    assert cause.columns == ("price", "id")
    assert cause.title.endswith("most in price (80%), id (10%)")


def weekday(day: int) -> pa.Table:
    """A day of a table that has fewer rows at weekends."""
    random = np.random.default_rng([7, day])
    prices = random.lognormal(3.2, 0.15, int(random.normal(450 if day % 7 > 4 else 750, 5)))
    return pa.table({"unit_price": prices, "amount": prices * random.integers(1, 6, len(prices))})


def test_two_columns_times_100_are_not_told_by_a_row_count_inside_its_range() -> None:
    gate = Gate("orders", store=MemoryStore(), learn=["history"], metrics=["size", "sum"])
    dates = [str(date(2026, 9, 7) + timedelta(day)) for day in range(36)]
    for day, partition in enumerate(dates[:-1]):
        if not gate.judge(weekday(day), partition=partition).passed:
            gate.accept(partition)
    table = weekday(35).slice(0, 556)
    for column in table.column_names:
        table = replaced(table, column, pc.multiply(table[column], 100.0))
    rows, columns = gate.judge(table, partition=dates[-1]).causes
    assert re.match(r"556 rows \(4\d\d to 7\d\d in 30 runs; allowed [67]\d\d to [78]\d\d\)", rows.title)
    assert set(columns.columns) == {"amount", "unit_price"}
    assert re.match(r"\w+ and \w+ look multiplied by 100 ", columns.title)
    assert re.match(r"\w+ and \w+ are about 100 times as large; ", columns.found[0])
