"""The verdict over a batch on the local engine: every constraint, wrong checks refused, verdicts read by people."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.checks.constraint import constraints
from headgate.values.errors import HeadgateError, MisuseError
from headgate.values.expectation import Judgement, Status
from tests.checks.cases import DATASET, NOW, Case, past, segmented_cases, table, tables, whole_cases
from tests.pages import HOSTILE as HOSTILE_TEXTS
from tests.pages import Seen, assert_harmless, coloured, terminal


def checks_of(cases: tuple[Case, ...]) -> list[hg.Check]:
    """A check for each case, named by its place."""
    return [case.added_to(hg.Check(str(at))) for at, case in enumerate(cases)]


@cache
def whole() -> hg.Verification:
    checks = checks_of(whole_cases())
    return hg.verify(table(), checks, tables=tables(), store=past(), dataset=DATASET, partition="2026-02-28", now=NOW)


@cache
def segmented() -> hg.Verification:
    return hg.verify(table(), checks_of(tuple(case for case, _ in segmented_cases())))


def judged(verdict: hg.Verification, check: hg.Check | str) -> tuple[Judgement, ...]:
    return verdict.checks[check if isinstance(check, str) else check.name].judgements


# --- every constraint


def test_every_constraint_has_a_case_that_passes_and_one_that_fails() -> None:
    seen = {(case.name, status) for case in whole_cases() for status in case.status}
    assert sorted({(name, status) for name in constraints() for status in ("pass", "fail")} - seen) == []


@pytest.mark.parametrize(
    "at",
    range(len(whole_cases())),
    ids=[re.sub(r" at 0x[0-9a-f]+", "", f"{at} {case}") for at, case in enumerate(whole_cases())],
)
def test_a_rule_is_judged_as_the_reference_says(at: int) -> None:
    case, found = whole_cases()[at], judged(whole(), str(at))
    assert [(each.status.value, each.reason) for each in found] == [
        (status, each.reason) for status, each in zip(case.status, found, strict=True)
    ]
    for each, value in zip(found, case.values, strict=True):
        assert each.value == (value if value is None else pytest.approx(value, abs=case.within, rel=1e-9))


@pytest.mark.parametrize("at", range(len(segmented_cases())))
def test_each_segment_is_judged_by_its_own_rows(at: int) -> None:
    (case, segments), found = segmented_cases()[at], judged(segmented(), str(at))
    assert [each.segment for each in found] == list(segments)
    assert [each.value for each in found] == pytest.approx(case.values)
    assert tuple(each.status.value for each in found) == case.status


def test_segments_with_a_null_key_come_first_and_are_named_null() -> None:
    segments = [each.segment for each in judged(segmented(), "0")]
    assert segments[0] == (("region", None),)
    assert "region=null" in segmented().explain()


def test_whole_checks_beside_segments_give_what_they_give_alone() -> None:
    both = hg.verify(
        table(), [hg.Check("whole").is_complete("price"), hg.Check("by", by="region").is_complete("price")]
    )
    alone = hg.verify(table(), hg.Check("whole").is_complete("price"))
    assert both.checks["whole"] == alone.checks["whole"]
    assert len(both.checks["by"].judgements) == 4


def test_an_age_may_be_any_length_of_time() -> None:
    batch = pa.table({"at": pa.array([datetime(2026, 1, 1)], pa.timestamp("us"))})
    for age in (timedelta(days=14), timedelta(days=365, microseconds=1), timedelta(hours=36.5), "14d", "2w"):
        found = hg.verify(batch, hg.Check("x").is_fresh("at", age), now=datetime(2026, 1, 2, tzinfo=UTC))
        assert found.status is Status.PASS, age


# --- what data may lack


ODD = pa.table(
    {
        "text": pa.array(["a", None, "b"]),
        "nothing": pa.nulls(3, pa.string()),
        "blank": pa.nulls(3, pa.float64()),
        "number": [1.0, None, 3.0],
    }
)


def only(data: Any, check: hg.Check, **given: Any) -> Judgement:
    (found,) = hg.verify(data, check, **given).judgements
    return found


def test_nulls_do_not_fail_a_pattern_or_a_range() -> None:
    check = hg.Check("x").has_pattern("text", "^[ab]$").is_in_range("number", 0, 5).is_contained_in("text", ["a", "b"])
    assert hg.verify(ODD, check).status is Status.PASS


def test_a_column_of_nulls_is_a_skip() -> None:
    check = hg.Check("x").has_pattern("nothing", "a").has_mean("blank", at_least=1).is_unique("nothing")
    check = check.is_in_range("blank", 0).has_email("nothing").has_min_length("nothing", at_least=1)
    verdict = hg.verify(ODD, check)
    assert {each.status for each in verdict.judgements} == {Status.SKIP}
    assert verdict.status is Status.SKIP
    assert not verdict.passed


def test_a_column_of_nulls_is_not_complete() -> None:
    assert only(ODD, hg.Check("x").is_complete("nothing")).status is Status.FAIL


def test_an_empty_table_has_a_size_and_columns_and_nothing_else_to_judge() -> None:
    check = hg.Check("x").has_size(equals=0).has_column("text").is_complete("text").has_mean("number", at_least=0)
    found = [each.status.value for each in hg.verify(ODD.slice(0, 0), check).judgements]
    assert found == ["pass", "pass", "skip", "skip"]


def test_an_empty_table_has_no_segments_so_nothing_passed() -> None:
    found = only(ODD.slice(0, 0), hg.Check("x").is_complete("number", by="text"))
    assert found.status is Status.SKIP
    assert "there is no segment" in found.reason


def test_a_check_without_rules_is_a_skip() -> None:
    assert hg.verify(ODD, hg.Check("x")).status is Status.SKIP
    assert hg.verify(ODD, []).status is Status.SKIP


WRONG_COLUMN = {
    "is_complete": ("nmber",),
    "is_unique": ("nmber",),
    "is_in_range": ("nmber", 0),
    "has_pattern": ("nmber", "a"),
    "satisfies": ("nmber > 1",),
    "are_complete": ("nmber",),
    "is_approx_unique": ("nmber",),
}


@pytest.mark.parametrize("name", WRONG_COLUMN)
def test_an_unknown_column_is_an_error_with_a_hint_and_costs_no_other_rule(name: str) -> None:
    check = getattr(hg.Check("x"), name)(*WRONG_COLUMN[name]).has_size(equals=3).is_complete("number")
    verdict = hg.verify(ODD, check)
    assert [each.status.value for each in verdict.judgements] == ["error", "pass", "fail"]
    assert "'number'" in verdict.judgements[0].reason
    assert verdict.status is Status.ERROR
    assert len(verdict.errors) == 1


def test_a_column_of_the_wrong_type_is_an_error() -> None:
    assert only(ODD, hg.Check("x").has_mean("text", at_least=1)).status is Status.ERROR


def test_a_filter_that_cannot_be_understood_is_an_error_of_its_rule_alone() -> None:
    check = (
        hg.Check("x").has_size(equals=1, where="nmber > 1").has_size(equals=1, where="number > (").has_size(equals=3)
    )
    assert [each.status.value for each in hg.verify(ODD, check).judgements] == ["error", "error", "pass"]


def test_a_function_that_breaks_is_an_error() -> None:
    found = only(ODD, hg.Check("x").has_mean("number", lambda mean: mean / 0))
    assert found.status is Status.ERROR
    assert "ZeroDivisionError" in found.reason


def test_a_table_that_was_not_given_is_an_error_of_its_rule_or_is_misuse_with_a_hint() -> None:
    found = only(ODD, hg.Check("x").is_contained_in_table("text", table="regions"), tables={"region": ODD})
    assert found.status is Status.ERROR
    assert "Did you mean 'region'?" in found.reason
    with pytest.raises(MisuseError, match="tables="):
        hg.verify(ODD, hg.Check("x").has_row_count_match("regions"))


def test_a_segmentation_by_an_unknown_column_is_an_error_of_its_rule_alone() -> None:
    verdict = hg.verify(ODD, hg.Check("x").is_complete("number", by="txt").has_size(equals=3))
    assert [each.status.value for each in verdict.judgements] == ["error", "pass"]
    assert "Did you mean 'text'?" in verdict.judgements[0].reason


# --- the past


def test_a_short_past_is_a_skip() -> None:
    check = hg.Check("x").has_no_anomalies("size()", "online_normal(deviations=3.0)")
    found = only(ODD, check, store=hg.open_store("memory:"), dataset="new", partition="1")
    assert found.status is Status.SKIP


def test_only_runs_before_the_partition_count() -> None:
    check = hg.Check("x").has_no_anomalies("size()", "online_normal(deviations=3.0)")
    found = only(table(), check, store=past(), dataset=DATASET, partition="2026-02-03")
    assert found.status is Status.SKIP


def test_a_run_that_was_rejected_teaches_nothing() -> None:
    store = past()
    for at in range(1, 9):
        store.decide(DATASET, f"2026-02-{at:02}", hg.Decision.REJECTED, who="ann")
    check = hg.Check("x").has_no_anomalies("size()", "online_normal(deviations=3.0)")
    assert only(table(), check, store=store, dataset=DATASET, partition="2026-02-28").status is Status.SKIP


def test_anomalies_without_a_store_say_what_to_pass() -> None:
    with pytest.raises(MisuseError, match="store="):
        hg.verify(ODD, hg.Check("x").has_no_anomalies("size()", "online_normal()"))


def test_an_unknown_detector_says_which_one_was_meant() -> None:
    with pytest.raises(MisuseError, match="Did you mean 'online_normal'"):
        only(
            ODD,
            hg.Check("x").has_no_anomalies("size()", "onlin_normal()"),
            store=past(),
            dataset=DATASET,
            partition="2026-02-28",
        )


def test_a_detector_may_be_given_as_a_value() -> None:
    from headgate.learn.anomaly.online_normal import OnlineNormal

    said = hg.Check("x").has_no_anomalies("size()", "online_normal(deviations=3.0)")
    assert hg.Check("x").has_no_anomalies(hg.Size(), OnlineNormal(deviations=3.0)) == said


# --- misuse


def check() -> hg.Check:
    return hg.Check("x")


MISUSE = {
    "a check without a name": lambda: hg.Check(""),
    "an unknown level of a check": lambda: hg.Check("x", level="fatal"),
    "no threshold": lambda: check().has_mean("a"),
    "no threshold of a metric": lambda: check().metric("mean(a)"),
    "two thresholds": lambda: check().has_mean("a", between=(1, 2), equals=1),
    "a function and a threshold": lambda: check().has_mean("a", lambda mean: True, at_least=1),
    "a threshold and warn": lambda: check().has_mean("a", at_least=1, warn={"at_least": 2}),
    "level and error": lambda: check().has_mean("a", error={"at_least": 2}, level="warn"),
    "an unknown level": lambda: check().is_complete("a", level="fatal"),
    "an unknown word in a threshold": lambda: check().has_mean("a", error={"atleast": 2}),
    "an empty threshold": lambda: check().has_mean("a", error={}),
    "a threshold of None": lambda: check().has_mean("a", at_least=None),
    "a number as a threshold": lambda: check().has_mean("a", error=5),
    "an empty range": lambda: check().has_mean("a", between=(2, 1)),
    "a range of one end": lambda: check().has_mean("a", between=5),
    "a range of three ends": lambda: check().has_mean("a", between=(1, 2, 3)),
    "a range of text": lambda: check().has_mean("a", between=("1", "2")),
    "a range of NaN": lambda: check().has_mean("a", at_least=float("nan")),
    "a range without ends": lambda: check().has_mean("a", between=(None, None)),
    "text to equal": lambda: check().has_mean("a", equals="five"),
    "one of nothing": lambda: check().has_mean("a", one_of=[]),
    "dates and numbers": lambda: check().has_min("a", between=(date(2026, 1, 1), 5)),
    "a distribution with a number": lambda: check().has_value_distribution("a", at_least=1),
    "a histogram with a number": lambda: check().has_histogram_values("a", at_least=1),
    "values as a bare string": lambda: check().is_contained_in("a", "EU"),
    "no values": lambda: check().is_contained_in("a", []),
    "a range without low or high": lambda: check().is_in_range("a"),
    "no column": lambda: check().is_complete(),
    "no columns": lambda: check().is_unique(),
    "the same column twice": lambda: check().is_unique("a", "a"),
    "one argument too many": lambda: check().is_positive("a", "b"),
    "one argument too few": lambda: check().has_pattern("a"),
    "an unknown argument": lambda: check().has_mean("a", at_least=1, colour="red"),
    "an unknown metric": lambda: check().metric("meen(a)", at_least=1),
    "a metric that is no key": lambda: check().metric("mean(", at_least=1),
    "an unknown type": lambda: check().has_data_type("a", "integer-ish"),
    "an unknown score": lambda: check().has_predictability("a", ["b"], score="auc", at_least=1),
    "a bad regular expression": lambda: check().has_pattern("a", "("),
    "a threshold of what finds out itself": lambda: check().is_fresh("a", "2d", at_least=1),
    "an unknown constraint by name": lambda: check().with_rule("is_complet", "a"),
    "a schema's rule with a filter": lambda: check().has_column("a", where="b > 1"),
    "no length of time": lambda: check().is_fresh("a", "soon"),
    "anomalies of no metric": lambda: check().has_no_anomalies("siez()", "online_normal()"),
    "an empty by": lambda: check().is_complete("a", by=[]),
    "a value that SQL has no word for": lambda: check().is_contained_in("a", [object()]),
    "a filter that is no text": lambda: check().is_complete("a", where=5),
    "a column that is no text": lambda: check().is_complete(5),
}


@pytest.mark.parametrize("name", MISUSE)
def test_a_wrong_check_is_refused_when_it_is_written(name: str) -> None:
    with pytest.raises(MisuseError) as refused:
        MISUSE[name]()
    assert str(refused.value)[-1] in ".?)'"


def test_a_wrong_rule_says_what_to_write() -> None:
    with pytest.raises(MisuseError, match=r"Add between=, at_least=") as refused:
        check().has_mean("a")
    assert refused.value.hint
    with pytest.raises(MisuseError, match=r"Write has_pattern\(column, pattern\)"):
        check().has_pattern("a")


def test_an_unknown_method_says_which_one_was_meant() -> None:
    with pytest.raises(AttributeError, match="Did you mean 'is_complete'"):
        check().is_complet("a")  # type: ignore[attr-defined]
    assert not hasattr(check(), "_private")
    assert "is_complete" in dir(check())


def test_what_is_not_a_check_or_not_a_batch_is_refused() -> None:
    with pytest.raises(MisuseError, match="is not a check"):
        hg.verify(ODD, ["is_complete(a)"])  # type: ignore[list-item]
    with pytest.raises(HeadgateError, match="is not a batch"):
        hg.verify([1, 2, 3], check().has_size(equals=3))


# --- a check


def test_a_check_is_not_changed_by_its_methods() -> None:
    one = check().is_complete("a")
    two = one.is_unique("a")
    assert (len(check()), len(one), len(two)) == (0, 1, 2)
    assert two.rules[:1] == one.rules
    assert one == check().is_complete("a")
    assert hash(one) == hash(check().is_complete("a"))
    assert one != two


def test_the_same_rule_twice_is_one_rule() -> None:
    assert len(check().is_complete("a").is_complete("a")) == 1
    assert len(check().is_complete("a").is_complete("a", level="warn")) == 2


def test_two_functions_are_two_rules() -> None:
    both = check().has_mean("number", lambda mean: mean > 0).has_mean("number", lambda mean: mean > 9)
    assert [each.status.value for each in hg.verify(ODD, both).judgements] == ["pass", "fail"]


def test_a_check_with_a_function_cannot_be_stored() -> None:
    assert check().is_complete("a").has_mean("a", at_least=1).storable
    assert not check().has_mean("a", lambda mean: True).storable
    assert not check().has_mean("a", error={"at_least": 1}, warn=lambda mean: True).storable


def test_the_level_of_a_check_is_that_of_its_rules() -> None:
    found = hg.verify(ODD, hg.Check("x", level="warn").is_complete("number").is_complete("text", level="error"))
    assert [each.expectation.level.value for each in found.failures] == ["warn", "error"]


def test_warnings_do_not_fail_a_verdict() -> None:
    verdict = hg.verify(ODD, hg.Check("x").is_complete("number", level="warn"))
    assert verdict.status is Status.PASS
    assert verdict.passed
    assert len(verdict.failures) == 1


def test_a_check_prints_its_rules() -> None:
    said = hg.Check("orders").has_mean("price", between=(5, 500), level="warn", where="day > 3", by=["region"])
    assert repr(said) == "orders: 1 rule\n  has_mean(price) within 5..500 where day > 3 by region, warn"


# --- reading a verdict


def test_a_verdict_as_data_is_json() -> None:
    data = json.loads(json.dumps(whole().to_dict(), allow_nan=False))
    assert data["status"] == "fail"
    assert data["passed"] is False
    assert len(data["judgements"]) == len(whole().judgements)
    assert data["judgements"][0].keys() >= {"check", "rule", "metric", "expected", "level", "status", "value", "reason"}
    json.dumps(segmented().to_dict(), allow_nan=False)


def test_a_verdict_explains_itself_in_lines() -> None:
    batch = pa.table(
        {"id": [1, 2, 2], "price": [9.5, 3.0, None], "day": [date(2026, 1, 1)] * 3, "r": ["EU", "EU", None]}
    )
    rules = hg.Check("orders").is_unique("id").is_complete("price", level="warn").has_mean("cost", at_least=1)
    rules = rules.has_min("day", at_least=date(2026, 2, 1)).is_in_range("price", 5, by="r")
    assert hg.verify(batch, rules).explain().splitlines() == [
        "ERROR: of 6 expectations 1 not evaluated, 4 not met, 1 skipped",
        "✗ error  is_unique(id): uniqueness(id) is 0.333333, expected 1 (2 of 3 rows)",
        "✗ warn   is_complete(price): completeness(price) is 0.666667, expected 1 (1 of 3 rows)",
        "! error  mean(cost) could not be computed: mean(cost) names the column 'cost'; there are id, price, day, r.",
        "✗ error  min(day) is 2026-01-01, expected at least 2026-02-01",
        "✗ error  is_in_range(price, low=5): compliance is 0.5, expected 1 in r=EU (1 of 2 rows)",
    ]


def test_a_verdict_shows_what_is_not_met_first() -> None:
    shown = repr(whole())
    assert shown.startswith("FAIL: of ")
    assert shown.index("✗") < shown.index("more; verdict.to_dict() has them all")


HOSTILE = ["<script>alert(1)</script>", "a&b", '"quoted"', "it's", "new\nline", "dot.ted", "`tick`", "émoji 🙂", "a b"]


def test_html_escapes_names_and_values() -> None:
    batch = pa.table({name: pa.array(["<img src=x>", None]) for name in HOSTILE})
    rules = hg.Check("<b>bold</b>").is_complete(*HOSTILE).is_contained_in(HOSTILE[0], ["<i>"], by=HOSTILE[1])
    page = hg.verify(batch, rules)._repr_html_()
    assert "&lt;script&gt;" in page
    assert "&lt;img src=x&gt;" in page
    for tag in ("<script", "<img", "<b>", "<i>"):
        assert tag not in page


SCREEN = """\
 ERROR  of 3 expectations 1 not evaluated, 1 not met, 1 met

         check   level  what was found
! error  orders  error  mean(cost) could not be computed:
                        mean(cost) names the column 'cost';
                        there are id.
✗ fail   orders  warn   mean(id) is 2, expected at most 1
✓ pass   orders  error  is_unique(id): uniqueness(id) is 1,
                        expected 1
"""


def test_a_verdict_in_a_terminal_says_in_words_what_colours_stress() -> None:
    batch = pa.table({"id": [1, 2, 3]})
    rules = hg.Check("orders").is_unique("id").has_mean("cost", at_most=1).has_mean("id", at_most=1, level="warn")
    found = hg.verify(batch, rules)
    lines = [line.rstrip() for line in terminal(found, 60).split("\n") if set(line) != {"─"}]
    assert "\n".join(lines) == SCREEN
    stressed = {("1;30;43", "ERROR"), ("1;33", "! error"), ("1;31", "✗ fail"), ("1;32", "✓ pass")}
    assert stressed <= coloured(found, 60)
    assert {"ERROR", "! error", "✗ fail", "✓ pass"} <= set(Seen(found._repr_html_()).said)


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_names_and_values_are_only_text_wherever_they_are_shown(name: str) -> None:
    batch = pa.table({name: [name, None], "r": [name, "EU"]})
    rules = hg.Check(name).is_complete(name).is_contained_in("r", ["US"], by=name)
    assert_harmless(hg.verify(batch, rules))
    assert_harmless(rules)


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_of_a_column_can_be_judged(name: str) -> None:
    batch = pa.table({name: ["a", "a", None], "other": ["a", "b", "c"]})
    rules = check().is_complete(name).is_unique(name).are_complete(name, "other").has_pattern(name, "^a$")
    rules = rules.is_contained_in(name, ["a"]).is_less_than(name, "other").is_contained_in_table(name, table="t")
    rules = rules.has_max_length(name, at_most=1).is_complete("other", by=name)
    verdict = hg.verify(batch, rules, tables={"t": batch})
    wanted = ["fail", "fail", "fail", "pass", "pass", "fail", "pass", "pass", "pass", "pass"]
    assert [each.status.value for each in verdict.judgements] == wanted, verdict.explain()


def test_a_column_whose_name_sql_cannot_hold_is_judged_and_explained() -> None:
    batch = pa.table({"${x}": ["a", None]})
    verdict = hg.verify(batch, check().is_complete("${x}").has_max_length("${x}", at_most=0))
    assert [each.status.value for each in verdict.judgements] == ["fail", "fail"]
    assert "completeness" in verdict.explain()
    assert verdict.rows(batch).num_rows <= 2


def test_two_checks_with_different_segments_are_judged_apart() -> None:
    one = hg.Check("one", by="text").has_size(equals=1)
    two = hg.Check("two", by="nothing").has_size(equals=3)
    verdict = hg.verify(ODD, [one, two])
    assert [each.segment for each in judged(verdict, "one")] == [(("text", each),) for each in (None, "a", "b")]
    assert [each.segment for each in judged(verdict, "two")] == [(("nothing", None),)]
    assert verdict.passed


def test_a_timestamp_without_a_zone_is_in_utc() -> None:
    batch = pa.table({"at": pa.array([datetime(2026, 1, 1, 12)], pa.timestamp("us"))})
    for bound in (datetime(2026, 1, 1, 12), datetime(2026, 1, 1, 12, tzinfo=UTC)):
        found = hg.verify(batch, check().has_max("at", equals=bound).is_in_range("at", low=bound, high=bound))
        assert found.status is Status.PASS, found.explain()


def test_a_timestamp_with_a_zone_is_held_against_either_kind_of_bound() -> None:
    batch = pa.table({"at": pa.array([datetime(2026, 1, 1, 12, tzinfo=UTC)], pa.timestamp("us", "UTC"))})
    for bound in (datetime(2026, 1, 1, 12), datetime(2026, 1, 1, 12, tzinfo=UTC)):
        found = hg.verify(batch, check().has_max("at", equals=bound).is_in_range("at", low=bound, high=bound))
        assert found.status is Status.PASS, found.explain()


def test_hundreds_of_columns_can_be_asked_of_in_one_rule() -> None:
    names = [f"c{at}" for at in range(600)]
    batch = pa.table({name: [1, 2] for name in names})
    verdict = hg.verify(batch, check().are_complete(*names).are_any_complete(*names).is_contained_in("c0", range(3000)))
    assert verdict.status is Status.PASS, verdict.explain()[:500]
