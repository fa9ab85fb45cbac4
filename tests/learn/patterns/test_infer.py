"""From values and an index to a rule: what each method finds, and that the dynamic programme finds the cheapest cut."""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from headgate.learn.patterns.align import align_groups, group_values
from headgate.learn.patterns.infer import infer
from headgate.learn.patterns.lexer import lex
from headgate.learn.patterns.rule import PatternRule
from headgate.learn.patterns.scoring import ByBacktest, ByImpurity, critical_share
from headgate.learn.patterns.segments import Cutter
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


def test_a_stricter_limit_never_gives_a_costlier_rule() -> None:
    values = lakes.column(lakes.number, size=40)
    rules = [inferred(values, limit=limit) for limit in (0.5, 0.2, 0.1, 0.05, 0.01)]
    costs = [rule.alarm for rule in rules if rule is not None]
    assert costs
    assert all(rule.alarm <= limit for rule, limit in zip(rules, (0.5, 0.2, 0.1, 0.05, 0.01), strict=True) if rule)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"method": "fmdv-x"}, "fmdv-v"),
        ({"method": "fmdv", "limit": 1.5}, "limit is 1.5"),
        ({"method": "fmdv", "coverage": 0}, "at least 1"),
        ({"method": "fmdv", "tolerance": -0.1}, "tolerance"),
    ],
)
def test_settings_that_make_no_sense_are_refused(given: dict[str, float], words: str) -> None:
    with pytest.raises(MisuseError, match=words):
        InferenceSettings.of(**given)


def test_of_all_patterns_of_a_column_fmdv_takes_the_one_of_least_impurity() -> None:
    values = lakes.column(lakes.code, size=30)
    rule = inferred(values, "fmdv", limit=0.9, coverage=1)
    assert rule is not None
    tokens = lex(values)
    grid = group_values(tokens, np.ones(len(values), dtype=np.int64))[0]
    cutter = Cutter(tokens, align_groups(tokens, [grid]), np.ones(30, dtype=np.int64), lake(), 0.0, 13, False)
    (span,) = cutter.list_spans()
    rows = cutter.span_entries[1]
    assert len(rows) == len(span.sums)
    rates = rows["impurity"] / 2**32 / np.maximum(rows["columns"], 1)
    assert rule.fpr == pytest.approx(rates[rows["columns"] > 0].min())


@pytest.mark.parametrize("seed", range(8))
def test_the_dynamic_programme_finds_the_cheapest_of_all_segmentations(seed: int) -> None:
    """Equation 11 against trying every way to cut."""
    rng = np.random.default_rng(seed)
    parts = [lakes.DOMAINS[at] for at in rng.integers(0, 6, size=3)]
    columns = [lakes.column(draw, size=30, seed=seed + at) for at, draw in enumerate(parts)]
    values = ["|".join(row) for row in zip(*columns, strict=True)]
    tokens, weights = lex(values), np.ones(len(values), dtype=np.int64)
    group = group_values(tokens, weights)[0]
    cutter = Cutter(tokens, align_groups(tokens, [group]), weights, lake(), 0.0, 13, True)
    weigher = ByImpurity(0.99, 1)
    spans, rows = cutter.span_entries
    found, at = {}, 0
    for span in spans:
        own = rows[at : at + len(span.sums)]
        if (best := cutter.choose_pattern(span, own, weigher(own), weigher)) is not None:
            found[span.start, span.stop] = best
        at += len(span.sums)
    costs = [
        sum(found[pair].segment.cost for pair in cut)
        for cut in every_cut(len(cutter.places))
        if all(pair in found for pair in cut)
    ]
    made = cutter.find_cheapest(found, weigher)
    assert (made is None) == (not costs or min(costs) > 0.99)
    if made is not None:
        assert made.cost == pytest.approx(min(costs))


def every_cut(width: int) -> list[list[tuple[int, int]]]:
    inner = range(1, width)
    ends = [(0, *cut, width) for size in range(width) for cut in combinations(inner, size)] if width <= 16 else []
    return [list(pairwise(cut)) for cut in ends]


def test_alignment_puts_equal_symbols_over_one_another() -> None:
    values = ["1-2-3", "1-2", "a:1-2-3"]
    tokens, weights = lex(values), np.array([5, 3, 1])
    grid = align_groups(tokens, group_values(tokens, weights))
    rows = [[tokens.text(at) if at >= 0 else "" for at in row] for row in grid.tokens.tolist()]
    widths = {len(row) for row in rows}
    assert widths == {7}
    assert sorted("".join(row) for row in rows) == sorted(values)
    for first, second in product(rows, rows):
        for one, other in zip(first, second, strict=True):
            assert not one or not other or one.isalnum() == other.isalnum()


def test_the_backtest_counts_how_often_later_values_broke_what_the_first_ones_had() -> None:
    steady = [f"{at % 9}a" for at in range(100)]
    broken = [f"{at % 9}a" for at in range(10)] + ["zz"] * 90
    slipping = [f"{at % 9}a" for at in range(97)] + ["zz"] * 3
    found = lakes.entries([steady, broken, slipping])
    pattern = inferred_pattern(found)
    row = found.rows[found.rows["key"] == np.uint64(pattern)][0]
    assert [int(row[name]) for name in ("columns", "led", "slipped", "strayed", "failed", "most")] == [3, 3, 2, 1, 1, 2]


def inferred_pattern(found: object) -> int:
    from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern

    return Pattern((Atom(AtomKind.DIGIT, 1), Atom(AtomKind.CONST, text="a"))).key


def test_between_known_shares_the_backtest_is_interpolated() -> None:
    row = np.zeros(1, lakes.ENTRY)
    row["columns"], row["led"], row["slipped"], row["strayed"], row["failed"] = 100, 98, 80, 40, 10
    costs = [float(ByBacktest(0.9, 1, share, 1_000)(row).cost[0]) for share in (0.5, 0.4, 0.2, 0.05, 0.01, 0.0001)]
    assert costs == sorted(costs)
    assert costs[0] == costs[1] == pytest.approx((10 + 1) / 100)
    assert costs[3] == pytest.approx((40 + 1) / 100)
    assert costs[-1] == pytest.approx((80 + 1) / 100)


def test_the_more_values_trained_a_rule_the_smaller_the_share_that_breaks_it() -> None:
    shares = [critical_share(seen, 0.01) for seen in (5, 10, 100, 1_000, 10_000)]
    assert shares == sorted(shares, reverse=True)
