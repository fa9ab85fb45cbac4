"""Rules about the form of texts: learned from a sample, carried from run to run, cheaper the longer they hold."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace

import headgate as hg
from headgate.gate.settings import FALSE_ALARMS
from headgate.learn.history.learn import OTHERS_SHARE
from headgate.learn.past import Past
from headgate.learn.patterns.alarm_rates import load_alarm_rates
from headgate.learn.patterns.index import PatternIndex
from headgate.learn.patterns.rule import PatternRule
from headgate.learn.text_rules import (
    BREAK_RATE_LIMITS,
    applicable,
    expand_sample,
    learn_rules,
    reprice,
    sample_metrics,
)
from headgate.metrics.states.sample import Sample, SampledValue
from headgate.metrics.value_sample import ValueSample
from headgate.values.account import Action
from headgate.values.errors import BadPredicate
from headgate.values.proposal import Proposal
from tests.gate.orders import Speller, gate_after, judged, orders, replaced


def codes(text: str = "{:03}-{:02}", rows: int = 60) -> pa.Table:
    return pa.table({"code": [text.format(at * 7 % 1_000, at % 100) for at in range(rows)]})


def rules_of(table: pa.Table, known: tuple[Proposal, ...] = ()) -> tuple[Proposal, ...]:
    schema = hg.analyze(table, ["size()"]).schema
    keys = [*sample_metrics(schema), *applicable(known, schema)]
    found = hg.analyze(table, keys)
    return learn_rules(found.states, found.outcomes, known, PatternIndex.public())


@cache
def of_codes() -> tuple[Proposal, ...]:
    return rules_of(codes())


def test_a_scan_brings_along_samples_of_columns_of_text_and_of_no_others() -> None:
    schema = hg.analyze(orders(0), ["size()"]).schema
    assert sample_metrics(schema) == [ValueSample("country"), ValueSample("code")]


def test_a_rule_is_learned_from_a_column_of_codes() -> None:
    rules = of_codes()
    assert rules
    assert {each.column for each in rules} == {"code"}
    assert all(
        each.expectation.judge(_share(each, codes("{:03}-{:02}", 90))).status is hg.Status.PASS for each in rules
    )
    assert all(each.expectation.judge(_share(each, codes("{:03}/{:02}"))).status is hg.Status.FAIL for each in rules)


def _share(rule: Proposal, table: pa.Table) -> hg.Measured:
    found = hg.analyze(table, [rule.expectation.metric]).outcomes[rule.expectation.metric]
    assert isinstance(found, hg.Measured)
    return found


def test_nothing_is_learned_from_a_few_values() -> None:
    assert rules_of(codes(rows=19)) == ()
    assert rules_of(codes(rows=20))


def test_a_rule_that_the_batch_meets_is_kept_and_has_held_in_a_run_more() -> None:
    kept = rules_of(codes(rows=90), of_codes())
    assert kept == tuple(replace(each, runs_held=1) for each in of_codes())
    assert rules_of(codes(rows=90)) != of_codes()


def test_a_rule_that_the_batch_breaks_gives_way_to_one_that_it_meets() -> None:
    other = codes("{:03}/{:02}")
    new = rules_of(other, of_codes())
    assert not {each.expectation.metric for each in new} & {each.expectation.metric for each in of_codes()}
    assert all(each.expectation.judge(_share(each, other)).status is hg.Status.PASS for each in new)


def test_rules_of_a_column_that_is_not_text_today_are_not_asked_for() -> None:
    schema = hg.analyze(pa.table({"code": [1, 2]}), ["size()"]).schema
    assert applicable(of_codes(), schema) == []
    assert applicable(of_codes(), hg.analyze(pa.table({"other": ["a"]}), ["size()"]).schema) == []


def test_no_rule_contains_text_of_the_data() -> None:
    found = hg.analyze(codes(), [ValueSample("code")])
    assert learn_rules(found.states, found.outcomes, (), Speller()) == ()


def test_a_pattern_that_may_be_slow_to_match_is_no_rule() -> None:
    padded = pa.table({"code": ["    Unknown    ", "    Known    "] * 200})
    inferred = PatternIndex.public().infer(padded["code"], limit=BREAK_RATE_LIMITS[0])
    assert inferred is not None
    assert not inferred.literal_text
    with pytest.raises(BadPredicate, match="can begin at many places"):
        inferred.expectation("code")
    assert rules_of(padded) == ()
    verdict = hg.Gate("orders", store=hg.open_store("memory:")).judge(padded, "2025-01-01")
    assert verdict.status is hg.Status.PASS


def follow(rules: tuple[Proposal, ...], *texts: str) -> tuple[Proposal, ...]:
    """The rules after good batches with codes that are written so."""
    for text in texts:
        rules = rules_of(codes(text), rules)
    return rules


@pytest.mark.parametrize("runs", [0, 1, 3, 40])
def test_a_rule_that_has_held_for_runs_is_as_many_times_less_likely_to_break_in_the_next(runs: int) -> None:
    first, (now, *_) = of_codes()[0], reprice(follow(of_codes(), *["{:03}-{:02}"] * runs))
    assert first.expectation.false_alarm is not None
    assert now.expectation.false_alarm == pytest.approx(first.expectation.false_alarm / (runs + 1))
    assert (f"held in {runs} run" in now.note) == bool(runs)


def test_runs_of_the_past_are_counted_anew() -> None:
    """A batch that came late is not among the runs that a rule has counted."""
    first = of_codes()[0]
    days = [hg.analyze(codes(text), [first.expectation.metric]) for text in ("{:03}-{:02}", "{:03}/{:02}")]
    (now, *_) = reprice([replace(first, runs_held=9)], Past.of(days))
    assert now.note.endswith("; held in 9 runs; broken in 1")
    (now, *_) = reprice([first], Past.of(days))
    assert now.note.endswith("; held in 1 run; broken in 1")


class OneRule(PatternIndex):
    """An index that gives every column the rule of the codes."""

    def __init__(self) -> None:
        pass

    def infer(self, *_: Any, **given: Any) -> PatternRule | None:
        return PatternIndex.public().infer(codes()["code"], **given)


def test_a_rule_that_a_good_batch_broke_costs_more_and_its_counts_stay() -> None:
    first = of_codes()[0]
    rules = of_codes()
    for text in ("{:03}-{:02}", "{:03}/{:02}", "{:03}-{:02}"):
        found = hg.analyze(codes(text), [ValueSample("code"), *(each.expectation.metric for each in rules)])
        rules = learn_rules(found.states, found.outcomes, rules, OneRule())
    assert (rules[0].runs_held, rules[0].runs_broken) == (2, 1)
    (now, *_) = reprice(rules)
    assert now.expectation.false_alarm == pytest.approx(((first.expectation.false_alarm or 0.0) + 1) / 4)
    assert now.note.endswith("; held in 2 runs; broken in 1")


def test_a_sample_is_drawn_out_to_what_the_column_holds() -> None:
    sample = Sample((SampledValue(1, "a", 3), SampledValue(2, "b", 1)), most=200)
    assert expand_sample(sample).to_pylist() == ["a", "a", "a", "b"]
    assert len(expand_sample(Sample())) == 0


def test_a_large_sample_is_drawn_out_in_proportion_and_leaves_no_value_out() -> None:
    sample = Sample((SampledValue(1, "often", 999_000), SampledValue(2, "once", 1)), most=200)
    values = expand_sample(sample).to_pylist()
    assert 999 <= values.count("often") <= 1_000
    assert values.count("once") == 1


def test_a_small_budget_pays_for_a_rule_once_it_has_held_for_many_runs() -> None:
    lowest = load_alarm_rates().seen[0]
    rules = [replace(each, expectation=replace(each.expectation, false_alarm=lowest)) for each in of_codes()[:1]]
    budget = OTHERS_SHARE * FALSE_ALARMS
    costs = {runs: reprice([replace(rules[0], runs_held=runs)])[0].cost for runs in (7, 30)}
    assert costs[7] > budget >= costs[30]


def test_the_second_batch_is_judged_by_the_form_of_the_first() -> None:
    gate = gate_after(1, learn=["patterns"], false_alarms=0.5)
    broken = replaced(orders(1), "code", [code.replace("-", " ?! ") for code in orders(1)["code"].to_pylist()])
    verdict = judged(gate, 1, broken)
    assert verdict.action is Action.HOLD
    assert verdict.causes[0].columns == ("code",)


@pytest.mark.parametrize("change", ["gone", "numbers"])
def test_a_rule_of_a_column_that_is_no_text_any_more_is_not_judged_once_that_is_accepted(change: str) -> None:
    def without(day: int) -> pa.Table:
        return (
            orders(day).drop_columns("code") if change == "gone" else replaced(orders(day), "code", orders(day)["id"])
        )

    gate = gate_after(12, learn=["patterns"], false_alarms=0.5)
    verdict = judged(gate, 12, without(12))
    assert verdict.action is Action.HOLD
    gate.accept(verdict.partition)
    assert judged(gate, 13, without(13)).action is Action.PUBLISH


def test_a_new_form_that_a_person_accepts_is_what_the_next_batch_is_judged_by() -> None:
    gate = gate_after(1, learn=["patterns"], false_alarms=0.5)
    days = [
        replaced(orders(at), "code", [code.replace("-", ":") for code in orders(at)["code"].to_pylist()])
        for at in (1, 2)
    ]
    assert judged(gate, 1, days[0]).action is Action.HOLD
    gate.accept("2026-01-02")
    assert judged(gate, 2, days[1]).action is Action.PUBLISH
    assert judged(gate, 3).action is Action.HOLD


@pytest.mark.parametrize("length", [100, 300, 2_000])
def test_long_texts_are_judged_by_what_they_are(length: int) -> None:
    """Not by what is shown of them."""
    gate = gate_after(0, learn=["patterns"], false_alarms=0.3)
    days = [pa.table({"blob": [str(day + 10 * at) * length for at in range(40)]}) for day in range(2)]
    assert [judged(gate, day, table).action for day, table in enumerate(days)] == [Action.PUBLISH] * 2


def test_a_column_of_which_half_is_too_long_to_be_learned_from_is_not_judged_by_the_other_half() -> None:
    gate = gate_after(0, learn=["patterns"], false_alarms=0.3)
    long = "lorem ipsum " * 30
    days = [
        pa.table({"blob": [f"{day}{at:03}-{at}" if at % 2 else f"{at} {long}" for at in range(80)]}) for day in (1, 2)
    ]
    assert [judged(gate, day, table).action for day, table in enumerate(days)] == [Action.PUBLISH] * 2
