"""From the first run to the thirtieth: who judges when, what it may cost, and that the verdict says so."""

from __future__ import annotations

from functools import cache

import pytest

from headgate.checks.check import Check
from headgate.gate.batch_verdict import BatchVerdict
from headgate.values.account import Action
from headgate.values.expectation import Source, Status
from tests.gate.orders import (
    BUDGET,
    dearer,
    elsewhere,
    emptied,
    gate_after,
    judged,
    month,
    named,
    orders,
    renamed,
    replaced,
)

SCHEMA = {"has_column", "column_count", "column_type", "copies"}
COARSE = {"size", "completeness", "approx_count_distinct", "mean", "unique_ratio"}
RUNS = (0, 1, 2, 3, 6, 7, 8, 30)


@cache
def after(runs: int, false_alarms: float = BUDGET) -> BatchVerdict:
    return judged(gate_after(runs, false_alarms=false_alarms), runs)


def of(verdict: BatchVerdict, source: Source) -> list[str]:
    return [each.expectation.metric.name for each in verdict.judgements if each.expectation.source is source]


def test_the_first_run_is_judged_by_what_is_declared_and_by_having_rows() -> None:
    verdict = judged(gate_after(0, checks=Check("orders").is_complete("id")), 0)
    assert [each.expectation.source for each in verdict.judgements] == [Source.DECLARED, Source.RULES]
    assert set(verdict.account.learners.values()) == {"not yet: no accepted run"}
    assert "history: not yet: no accepted run" in verdict.explain()


def test_the_second_run_is_judged_by_the_columns_the_form_of_texts_and_coarse_limits() -> None:
    verdict = after(1)
    assert set(of(verdict, Source.HISTORY)) == {"has_column", "column_count", "copies"} | COARSE
    assert verdict.learning == "learning, 1 of 7 runs"
    assert verdict.to_dict()["learning"] == verdict.learning
    assert of(verdict, Source.PATTERNS) == ["pattern_match"]
    told = verdict.account.learners
    assert told["history"] == "20 expectations; learning, 1 of 7 runs that ranges take"
    assert told["patterns"].startswith("1 expectation from 1 run")
    assert told["novelty"].startswith("not yet: 1 accepted run")


def test_types_are_expected_once_three_runs_agree() -> None:
    assert "column_type" not in of(after(2), Source.HISTORY)
    assert of(after(3), Source.HISTORY).count("column_type") == 5


def test_ranges_are_learned_from_the_seventh_run_on() -> None:
    assert set(of(after(6), Source.HISTORY)) <= SCHEMA | COARSE
    assert "learning, 6 of 7 runs that ranges take" in after(6).explain()
    assert set(of(after(7), Source.HISTORY)) - SCHEMA - COARSE
    assert after(7).learning == ""
    assert "expectations from 7 runs" in after(7).account.learners["history"]


def test_novelty_is_learned_from_the_eighth_run_on() -> None:
    assert after(7).account.learners["novelty"] == "not yet: 7 accepted runs of 8 that it takes"
    assert after(8).account.learners["novelty"] in ("nothing within the budget", "1 expectation from 8 runs")
    alone = judged(gate_after(8, learn=["novelty"], false_alarms=0.3), 8)
    assert alone.account.learners == {"novelty": "1 expectation from 8 runs"}
    assert of(alone, Source.NOVELTY) == ["novelty"]


def test_after_thirty_runs_all_of_them_may_judge() -> None:
    verdict = judged(gate_after(30, false_alarms=0.2), 30)
    assert {each.expectation.source for each in verdict.judgements} >= {Source.HISTORY, Source.NOVELTY}
    assert "from 30 runs" in verdict.account.learners["history"]
    assert verdict.account.learners["novelty"] == "1 expectation from 30 runs"


def test_a_learner_that_is_not_asked_is_not_told_of() -> None:
    verdict = judged(gate_after(8, learn=["history"]), 8)
    assert verdict.account.learners.keys() == {"history"}
    assert {each.expectation.source for each in verdict.judgements} == {Source.HISTORY, Source.RULES}


@pytest.mark.parametrize("runs", RUNS)
def test_good_days_pass_from_the_first_on(runs: int) -> None:
    assert after(runs).action is Action.PUBLISH


@pytest.mark.parametrize("runs", [1, 2, 8])
def test_a_column_that_goes_is_noticed_from_the_second_run_on(runs: int) -> None:
    verdict = judged(gate_after(runs), runs, renamed(orders(runs), "code", "Code"))
    assert (verdict.status, verdict.action) == (Status.FAIL, Action.HOLD)


# --- the budget


@pytest.mark.parametrize("budget", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("runs", [1, 7, 30])
def test_all_learners_together_cost_no_more_than_the_budget(runs: int, budget: float) -> None:
    gate = gate_after(runs, false_alarms=budget)
    program = gate.learned(before=named(runs)).program
    verdict = judged(gate, runs)
    assert verdict.account.spent == program.cost <= budget * (1 + 1e-9)
    assert verdict.account.budget == budget


def test_a_larger_budget_buys_more() -> None:
    spent = [after(12, budget).account.spent for budget in (0.002, 0.05)]
    assert spent == sorted(spent)
    assert spent[0] < spent[-1]


def test_declared_checks_cost_nothing() -> None:
    checks = Check("orders").is_complete("id").has_mean("price", between=(5, 500))
    with_checks = judged(gate_after(12, checks=checks), 12)
    assert with_checks.account.spent == after(12).account.spent


def test_the_verdict_says_what_is_spent_and_what_each_alarm_costs() -> None:
    verdict = judged(gate_after(12), 12, dearer(orders(12)))
    told = verdict.explain()
    assert f"Budget: 5.00% of good batches may be held, what was learned spends {verdict.account.spent:.2%}" in told
    for cause in verdict.causes:
        assert cause.false_alarm is not None
        assert cause.rarity in told
        assert 0 < cause.false_alarm < 1
    records = [each for each in verdict.to_dict()["judgements"] if each["status"] == "fail"]
    assert records
    assert all(0 < each["false_alarm"] < 1 for each in records)


def test_before_anything_is_learned_nothing_is_spent() -> None:
    assert "nothing of that is spent yet" in after(0).explain()
    assert after(0).account.spent == 0


TROUBLE = {
    "prices in cents": dearer(orders(30)),
    "a column half empty": emptied(orders(30), "quantity", 0.5),
    "a country that never was": elsewhere(orders(30)),
    "a tenth of the rows": orders(30).slice(0, 12),
    "another type": replaced(orders(30), "quantity", orders(30)["quantity"].cast("string")),
    "the day before once more": orders(29),
}


@pytest.mark.parametrize("table", TROUBLE.values(), ids=TROUBLE.keys())
def test_trouble_is_held_after_thirty_runs(table: object) -> None:
    assert judged(month(), 30, table).action is Action.HOLD  # type: ignore[arg-type]
