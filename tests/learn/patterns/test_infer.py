"""From values and an index to a rule: what each method finds, and that the dynamic programme finds the cheapest cut."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from headgate.learn.patterns.infer import infer
from headgate.learn.patterns.rule import PatternRule
from headgate.learn.patterns.settings import InferenceSettings
from headgate.values.errors import MisuseError
from tests.learn.patterns import lakes
from tests.learn.patterns.lakes import Lake

PAPER = ("fmdv", "fmdv-v", "fmdv-h", "fmdv-vh")


@cache
def lake() -> Lake:
    return lakes.lake()


def inferred(values: list[str], method: str = "headgate", **given: float) -> PatternRule | None:
    return infer(values, lake(), lake().total, InferenceSettings.of(method, **given))


@pytest.mark.parametrize("method", [*PAPER, "headgate"])
def test_dates_of_one_month_become_dates_of_every_month(method: str) -> None:
    """The example that the paper opens with: Mar <digit>{2} 2019 describes the values and would alarm in April."""
    rule = inferred([f"Mar {at:02d} 2019" for at in range(1, 29)], method)
    assert rule is not None
    assert rule.matches(["Apr 01 2019", "Dec 31 2020"]).all()
    assert not rule.matches(["2019-04-01", "April", "12:00:00"]).any()


@pytest.mark.parametrize("draw", lakes.DOMAINS)
def test_a_rule_holds_for_later_values_of_its_domain_and_for_no_other_domain(draw: lakes.Draw) -> None:
    rule = inferred(lakes.column(draw, size=200))
    assert rule is not None
    assert rule.holds(lakes.column(draw, size=500, seed=5))
    others = [other for other in lakes.DOMAINS if other is not draw]
    passed = [other.__name__ for other in others if rule.holds(lakes.column(other, size=500, seed=5))]
    assert passed == (["status"] if draw is lakes.phrase else [])  # a word is a short phrase


def test_a_column_of_an_unknown_shape_has_no_rule() -> None:
    assert inferred([f"#{at}~{at}^{at}@@{at}" for at in range(50)], "fmdv") is None


def test_only_vertical_cuts_find_the_pattern_of_a_composite() -> None:
    dates, times = lakes.column(lakes.iso), lakes.column(lakes.clock)
    values = [f"{date}|{time}|{date}" for date, time in zip(dates, times, strict=True)]
    assert inferred(values, "fmdv") is None
    rule = inferred(values, "fmdv-v")
    date, time = "<digit>{4}-<digit>{2}-<digit>{2}", "<digit>{2}:<digit>{2}:<digit>{2}"
    assert str(rule) == f"{date}|{time}|{date}"
    assert [segment.columns > 0 for segment in rule.branches[0].segments] == [True, False, True, False, True]


def test_only_horizontal_cuts_forgive_a_few_strange_values() -> None:
    values = [*lakes.column(lakes.iso, size=96), "-", "-", "unknown", "?"]
    assert inferred(values, "fmdv-v") is None
    rule = inferred(values, "fmdv-h")
    assert rule is not None
    assert (rule.outside, rule.seen, str(rule)) == (4, 100, "<digit>{4}-<digit>{2}-<digit>{2}")
    assert inferred([*values, *["-"] * 20], "fmdv-h") is None


def test_a_later_batch_may_have_as_many_strange_values_but_not_many_more() -> None:
    rule = inferred([*lakes.column(lakes.iso, size=96), "-", "-", "unknown", "?"], "fmdv-vh")
    assert rule is not None
    dates = lakes.column(lakes.iso, size=94, seed=3)
    assert rule.holds([*dates, *["-"] * 6])
    assert not rule.holds([*dates, *["-"] * 30])


def test_a_test_of_any_value_forgives_nothing() -> None:
    rule = inferred(lakes.column(lakes.iso), "fmdv")
    assert rule is not None
    assert rule.most_outside(1_000_000) == 0
    assert not rule.holds([*lakes.column(lakes.iso, seed=3), "-"])


def test_what_some_values_are_without_is_optional() -> None:
    values = [*lakes.column(lakes.iso, size=50), *(f"{date} {lakes.clock(np.random.default_rng(at))}" for at, date in
              enumerate(lakes.column(lakes.iso, size=50, seed=2)))]  # fmt: skip
    rule = inferred(values)
    assert str(rule) == "<digit>{4}-<digit>{2}-<digit>{2}( <digit>{2}:<digit>{2}:<digit>{2})?"
    assert rule.matches(["2020-01-01", "2020-01-01 10:00:00"]).all()
    assert not rule.matches(["2020-01-01 ", "10:00:00", " 10:00:00"]).any()


def test_a_union_of_distinct_patterns_is_found() -> None:
    values = [*lakes.column(lakes.iso, size=90), *lakes.column(lakes.day, size=60)]
    rule = inferred(values)
    assert rule is not None
    assert len(rule.branches) == 2
    assert rule.matches(["2020-01-01", "Mar 01 2020"]).all()
    assert [branch.share for branch in rule.branches] == [0.6, 0.4]
    assert not rule.holds(lakes.column(lakes.clock))


def test_a_special_value_is_a_branch_of_its_own() -> None:
    rule = inferred([*lakes.column(lakes.iso, size=150), *["n/k?"] * 50])
    assert str(rule) == "<digit>{4}-<digit>{2}-<digit>{2} | n/k?"
    assert rule.outside == 0


def test_empty_values_are_a_branch_of_their_own() -> None:
    rule = inferred([*lakes.column(lakes.iso, size=150), *[""] * 50])
    assert rule is not None
    assert rule.matches(["", "2020-01-01"]).all()


def test_flexible_addresses_have_one_pattern() -> None:
    rule = inferred(lakes.column(lakes.url))
    assert str(rule) == "<url>"
    assert rule.matches(["https://a.b.org/x/y?q=1#z", "http://localhost:80"]).all()
    assert not rule.matches(["a.org", "http://a.org/ b", "Mar 01 2020"]).any()


def test_nulls_are_no_values() -> None:
    values: list[str | None] = [*lakes.column(lakes.iso), *[None] * 900]
    rule = infer(values, lake(), lake().total, InferenceSettings.of("headgate"))
    assert rule is not None
    assert rule.seen == 100


@pytest.mark.parametrize("marks", [500, 2_000, 9_000])
@pytest.mark.parametrize("mark", ["N/A", "NA73"])
def test_a_frequent_value_among_thousands_of_others_is_not_lost_in_the_sample(mark: str, marks: int) -> None:
    days = [f"{1990 + at // 300}-{at % 12 + 1:02d}-{at % 28 + 1:02d}x{at}"[:10] for at in range(9_000)]
    values = [*days, *[mark] * marks]
    rule = inferred(values)
    assert rule is not None
    assert rule.outside == int((~rule.matches(values)).sum()) <= 0.1 * len(values)
    assert not rule.holds([*days[:500], *["?!"] * 500])
    strict = inferred(values, "fmdv")
    assert strict is None or strict.holds(values)


@pytest.mark.parametrize(
    "values",
    [["AB-12:x", "CD/34:y"] * 10, ["abc", "---"] * 10, ["a-b C1", "a/b C1", "ab C1"] * 10],
)
def test_optional_parts_never_stand_side_by_side_nor_alone(values: list[str]) -> None:
    rule = inferred(values, limit=0.9)
    assert rule is None or not (")?(" in str(rule) or rule.matches([""])[0])


def test_a_long_value_that_repeats_is_no_branch() -> None:
    rule = inferred([*lakes.column(lakes.iso, size=150), *["x" * 50_000] * 40])
    assert rule is None or len(rule.regex) < 5_000


@pytest.mark.parametrize("values", [[], [None, None], [""], ["x" * 10_000], ["\n"], ["🙂"] * 20])
def test_odd_columns_end_in_a_rule_or_in_none(values: list[str | None]) -> None:
    rule = infer(values, lake(), lake().total, InferenceSettings.of("headgate"))
    assert rule is None or rule.holds(values)


def test_an_empty_index_knows_no_rule() -> None:
    empty = Lake(lakes.entries([]), 0)
    assert infer(lakes.column(lakes.iso), empty, 0, InferenceSettings.of("headgate")) is None


LIMITS = (0.5, 0.2, 0.1, 0.05, 0.02)


def test_a_limit_below_every_rate_is_refused() -> None:
    with pytest.raises(MisuseError, match=r"a limit of 0\.0129 or more"):
        InferenceSettings.of("headgate", limit=0.01)


def test_a_stricter_limit_never_gives_a_costlier_rule() -> None:
    values = lakes.column(lakes.number, size=40)
    rules = [inferred(values, limit=limit) for limit in LIMITS]
    costs = [rule.alarm for rule in rules if rule is not None]
    assert costs
    assert all(rule.alarm <= limit for rule, limit in zip(rules, LIMITS, strict=True) if rule)
