"""Programs that are learned: what they let through, what they stop, and what they may cost."""

from __future__ import annotations

import dataclasses
import itertools
import math
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headgate as hg
from headgate.inject.issue import standard
from headgate.learn.history.coarse_bands import COARSE_NOTE
from headgate.learn.history.learn import learn_program
from headgate.learn.history.program import Clause, Program
from headgate.learn.history.rarity import is_rarity
from headgate.learn.issue_effects import apply_to_latest
from headgate.learn.past import Past
from headgate.metrics.base.registry import default_metrics
from headgate.values.errors import MisuseError
from headgate.values.expectation import Expectation, Source, Status
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, OneOf
from headgate.values.proposal import Proposal
from headgate.values.run import Decision
from headgate.values.schema import Kind
from tests.learn.histories import RUNS, analysis, batch, commit, orders, orders_effects

BUDGETS = (0.0, 0.001, 0.01, 0.05, 0.3, 1.0)
ISSUES = (
    ("increased_nulls", "price", {"share": 0.5, "value": "null"}),
    ("increased_nulls", "country", {"share": 0.5}),
    ("unit_change", "price", {"factor": 1000}),
    ("volume_change", None, {"factor": 0.1}),
    ("volume_change", None, {"factor": 10}),
    ("casing_change", "country", {"share": 1.0}),
    ("schema_change", "country", {"share": 1.0}),
    ("whitespace_padding", "code", {"share": 0.5}),
    ("character_deletion", "code", {"share": 0.5}),
    ("distribution_change", "country", {"share": 0.1, "end": "first"}),
)


@cache
def program(false_alarms: float = 0.01, bounds: str = "rarity", budget: str = "table") -> Program:
    return learn_program(orders(), false_alarms=false_alarms, bounds=bounds, budget=budget)  # type: ignore[arg-type]


# --- what it lets through and what it stops


@pytest.mark.parametrize("day", range(RUNS, RUNS + 12))
def test_a_batch_of_the_same_kind_passes(day: int) -> None:
    verdict = program().judge(analysis(day), orders())
    assert verdict.status is Status.PASS, verdict.failures


@pytest.mark.parametrize(("issue", "column", "parameters"), ISSUES)
@pytest.mark.parametrize("day", [RUNS, RUNS + 5])
def test_a_batch_in_which_something_went_wrong_fails(
    issue: str, column: str | None, parameters: dict[str, object], day: int
) -> None:
    wrong = hg.inject_issue(batch(day), issue, column, **parameters)
    verdict = program(0.05).judge(hg.analyze(wrong), orders())
    assert verdict.status is Status.FAIL
    if column is not None:
        assert any(column in each.expectation.metric.columns for each in verdict.failures)


def test_most_of_them_fail_with_the_budget_that_is_usual() -> None:
    wrong = [hg.inject_issue(batch(RUNS), issue, column, **given) for issue, column, given in ISSUES]
    found = [program().judge(hg.analyze(each), orders()).status for each in wrong]
    assert found.count(Status.FAIL) >= 0.8 * len(ISSUES)
    assert Status.ERROR not in found


@pytest.mark.parametrize(("issue", "column", "parameters"), ISSUES)
def test_so_does_the_form_of_the_paper(issue: str, column: str | None, parameters: dict[str, object]) -> None:
    wrong = hg.inject_issue(batch(RUNS), issue, column, **parameters)
    verdict = program(bounds="paper", budget="column").judge(hg.analyze(wrong), orders())
    assert verdict.status is Status.FAIL


def test_a_program_of_the_paper_says_how_many_injected_issues_it_catches() -> None:
    found = program(bounds="paper", budget="column")
    effects = apply_to_latest(orders_effects(), orders())
    assert found.issues == sum(len(issue_ids) for each in effects for issue_ids in each.issue_ids)
    of_volume = next(each for each in effects if not each.column)
    changes, columns = 4, 4
    assert [len(issue_ids) for issue_ids in of_volume.issue_ids] == [columns] * changes
    assert 0 < found.caught <= found.issues


def test_a_trend_is_judged_by_where_it_goes() -> None:
    tables = [pa.table({"id": np.arange(200 + 50 * day)}) for day in range(26)]
    past = Past.of([hg.analyze(each) for each in tables[:25]])
    found = learn_program(past)
    assert found.judge(hg.analyze(tables[25]), past).status is Status.PASS
    assert found.judge(hg.analyze(tables[2]), past).status is Status.FAIL


# --- what it may cost


@pytest.mark.parametrize("false_alarms", BUDGETS)
def test_the_stated_rates_add_up_to_the_budget_at_most(false_alarms: float) -> None:
    assert program(false_alarms).cost <= false_alarms


def test_a_larger_budget_never_has_a_higher_limit() -> None:
    limits = [
        {each.metric: each.expectation.predicate.ceiling for each in program(budget).clauses if is_rarity(each.metric)}
        for budget in BUDGETS
    ]
    for lower, higher in itertools.pairwise(each for each in limits if each):
        assert all(lower[metric] >= higher[metric] for metric in lower)
    assert limits[-1]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(7, 40),
    st.sampled_from([0.0, 1e-3, 0.1, 1.0, 30.0]),
    st.floats(0.0, 1.0),
)
def test_no_history_and_no_budget_makes_a_program_that_costs_more(
    seed: int, runs: int, noise: float, false_alarms: float
) -> None:
    found = learn_program(shaken(seed, runs, noise), false_alarms=false_alarms)
    assert found.cost <= false_alarms
    assert len({each.metric for each in found.clauses}) == len(found.clauses)
    for each in found.clauses:
        ends = [
            end for end in (each.expectation.predicate.floor, each.expectation.predicate.ceiling) if end is not None
        ]
        assert all(map(math.isfinite, ends))


def shaken(seed: int, runs: int, noise: float) -> Past:
    """The orders with noise relative to each value, some of it missing, so many runs long."""
    random = np.random.default_rng(seed)
    values = orders().values[random.integers(1, RUNS, runs)]
    values = values * (1 + noise * random.normal(size=values.shape))
    values[random.random(values.shape) < random.choice([0.0, 0.2])] = np.nan
    names = tuple(map(str, range(runs)))
    schemas = orders().schemas[:1] * runs
    return dataclasses.replace(orders(), partitions=names, values=values, schemas=schemas, calendar=None)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_no_column_of_the_paper_has_more_clauses_than_allowed(most: int) -> None:
    found = learn_program(orders(), bounds="paper", clauses=most, issue_effects=orders_effects())
    learned = [each for each in found.clauses if each.expectation.false_alarm]
    for column in orders().schema.labels:
        assert sum(each.metric.columns[:1] == (column,) for each in learned) <= most


def test_with_a_budget_for_each_column_each_stays_within_it() -> None:
    found = program(0.01, bounds="paper", budget="column")
    for column in orders().schema.labels:
        assert sum(each.cost for each in found.clauses_of(column)) <= 0.01


@pytest.mark.parametrize("wrong", [-0.1, 1.5, math.nan])
def test_a_budget_that_is_no_share_is_misuse(wrong: float) -> None:
    with pytest.raises(MisuseError, match="share of runs"):
        learn_program(orders(), false_alarms=wrong, issue_effects=orders_effects())


def test_bounds_and_budgets_that_do_not_exist_are_misuse() -> None:
    with pytest.raises(MisuseError, match="rarity"):
        learn_program(orders(), bounds="papers")  # type: ignore[arg-type]
    with pytest.raises(MisuseError, match="budget"):
        learn_program(orders(), bounds="paper", budget="row", issue_effects=orders_effects())  # type: ignore[arg-type]
    for wrong in ({"budget": "column"}, {"clauses": 2}):
        with pytest.raises(MisuseError, match="paper"):
            learn_program(orders(), **wrong)  # type: ignore[arg-type]


# --- short histories, pins, the tested run


@pytest.mark.parametrize("runs", [1, 3, 6])
def test_below_seven_runs_a_program_has_coarse_limits_only_and_says_why(runs: int) -> None:
    found = learn_program(orders(runs), schema=False)
    assert all(COARSE_NOTE in each.note for each in found.clauses)
    assert found.why == f"{runs} accepted runs of 7 that it takes"
    limits = f"clauses: {len(found.clauses)} coarse limits"
    assert str(found).startswith(f"no ranges yet, {limits}: {runs} accepted runs of 7 that it takes")
    assert found.judge(analysis(RUNS), orders(runs)).status is Status.PASS


def test_without_a_budget_there_are_no_limits() -> None:
    found = learn_program(orders(3), schema=False, false_alarms=0.0)
    assert str(found) == "no program: 3 accepted runs of 7 that it takes"
    assert found.judge(analysis(RUNS), orders(3)).status is Status.SKIP


@pytest.mark.parametrize("runs", [1, 3, 6])
def test_from_the_first_run_on_columns_are_expected_and_from_the_third_their_types(runs: int) -> None:
    found = learn_program(orders(runs), false_alarms=0.0)
    names = {each.metric.name for each in found.clauses}
    assert names == {"column_count", "has_column"} | ({"column_type"} if runs >= 3 else set())
    assert str(found).startswith(f"no ranges yet, clauses: {len(found.clauses)} about columns")
    assert found.judge(analysis(RUNS), orders(runs)).status is Status.PASS
    fewer = hg.analyze(batch(RUNS).drop_columns(["country"]))
    assert found.judge(fewer, orders(runs)).status is Status.FAIL


def test_seven_runs_are_enough() -> None:
    assert learn_program(orders(7)).clauses


def test_what_a_person_pinned_is_kept_and_not_learned_again() -> None:
    pins = program().pin("mean(price)", Between(5, 500)).pin("has_column(id)").pins
    again = learn_program(orders(20), pins=pins)
    kept = {str(each.metric): each for each in again.clauses if each.pinned}
    assert set(kept) == {"mean(price)", "has_column(id)"}
    assert kept["mean(price)"].expectation.predicate == Between(5, 500)
    assert kept["has_column(id)"].expectation.predicate == OneOf((1.0,))
    assert len({each.metric for each in again.clauses}) == len(again.clauses)
    assert again.cost <= again.budget


def test_a_pin_is_kept_even_where_nothing_may_be_spent() -> None:
    pins = Program().pin("mean(price)", Between(5, 500)).pins
    again = learn_program(orders(), false_alarms=0.0, pins=pins)
    assert [str(each.metric) for each in again.pins] == ["mean(price)"]


@pytest.mark.parametrize("budget", ["table", "column"])
def test_the_form_of_the_paper_keeps_pins(budget: str) -> None:
    pins = Program().pin("mean(price)", Between(5, 500)).pins
    again = learn_program(orders(), bounds="paper", budget=budget, pins=pins)  # type: ignore[arg-type]
    assert [str(each.metric) for each in again.pins] == ["mean(price)"]


def test_a_short_history_keeps_pins() -> None:
    pins = Program().pin("mean(price)", Between(5, 500)).pins
    assert learn_program(orders(3), pins=pins).pins == pins


def test_learning_again_leaves_a_pinned_clause_as_it_was() -> None:
    metric = MetricKey("size")
    pins = program().pin(metric).pins
    assert learn_program(orders(), pins=pins).pins == pins


def test_the_tested_run_is_never_part_of_its_own_baseline() -> None:
    store = hg.open_store("memory:")
    for day in range(9):
        commit(store, f"day {day}", batch(day), Decision.PUBLISHED)
    before = Past.read(store, "orders", before="day 9")
    wrong = hg.inject_issue(batch(9), "unit_change", "price", factor=1000)
    commit(store, "day 9", wrong, Decision.PUBLISHED)
    after = Past.read(store, "orders", before="day 9")
    assert after.partitions == before.partitions == tuple(f"day {day}" for day in range(9))
    np.testing.assert_array_equal(after.values, before.values)
    assert learn_program(after) == learn_program(before)


def test_judging_a_batch_changes_neither_the_past_nor_the_program() -> None:
    values, text = orders().values.copy(), program().to_json()
    program().judge(hg.analyze(hg.inject_issue(batch(RUNS), "unit_change", "price", factor=10)), orders())
    np.testing.assert_array_equal(orders().values, values)
    assert program().to_json() == text


def test_a_distance_is_judged_against_the_newest_accepted_run() -> None:
    past = Past.of([hg.analyze(pa.table({"c": ["a", "b"] * 50})) for _ in range(8)])
    found = learn_program(past).pin("value_l1(c)", Between(high=0.5))
    other = hg.analyze(pa.table({"c": ["x", "y"] * 50}))
    assert found.judge(other, past).status is Status.FAIL
    moved = Past.of([hg.analyze(pa.table({"c": ["a", "b"] * 50})), other])
    assert found.judge(other, moved).status is Status.PASS


def test_a_column_that_the_newest_run_has_not_is_asked_nothing() -> None:
    def run(day: int) -> hg.Analysis:
        columns = {"id": list(range(100 + day % 3)), "amount": [float(value) for value in range(100 + day % 3)]}
        return hg.analyze(pa.table(columns if day < 20 else {"id": columns["id"]}))

    past = hg.Past.of([run(day) for day in range(21)])
    program = hg.learn_program(past, false_alarms=0.05)
    assert not program.clauses_of("amount")
    assert program.judge(run(21), past).passed


def test_metrics_of_several_columns_of_some_rows_or_with_parameters_break_nothing() -> None:
    asked = [
        *("size()", "mean(a)", "stddev(a)", "completeness(c)", "entropy(c)", "has_column(a)", "histogram(a, bins=5)"),
        *("approx_quantile(a, q=0.9)", "uniqueness(a, b)", "correlation(a, b)", 'compliance(predicate="a > 0")'),
        *('mean(a) where "b > 0"', 'stddev(a) where "b > 0"'),
    ]

    def run(day: int) -> hg.Analysis:
        rng = np.random.default_rng(day)
        columns = {"a": rng.normal(size=180), "b": rng.normal(size=180), "c": rng.choice(["x", "y"], 180)}
        return hg.analyze(pa.table(columns), asked)

    past = hg.Past.of([run(day) for day in range(12)])
    program = hg.learn_program(past, false_alarms=0.05)
    assert any(is_rarity(clause.metric) and clause.metric.columns == ("a",) for clause in program.clauses)
    assert all(len(clause.metric.columns) < 2 and clause.metric.where is None for clause in program.clauses)
    assert program.judge(run(12), past).status is Status.PASS


# --- what other learners propose


def _pattern_of_code(cost: float) -> Proposal:
    metric = hg.PatternMatch("code", r"^[0-9]{3}-[0-9]{2}$").key
    expectation = Expectation(metric, Between(low=0.99), Source.PATTERNS, false_alarm=cost)
    every = frozenset(("code", str(issue)) for issue in standard(Kind.STRING))
    return Proposal(expectation, every, "40 columns of the lake are built like it")


def test_a_proposal_of_another_learner_shares_the_budget() -> None:
    cheap, expensive = _pattern_of_code(0.0001), _pattern_of_code(0.02)
    learned = learn_program(orders(), proposals=[cheap])
    assert cheap.expectation in learned.expectations
    assert learned.cost <= 0.01
    learned = learn_program(orders(), proposals=[expensive])
    assert expensive.expectation not in learned.expectations


def _is_coarse(clause: Clause) -> bool:
    return COARSE_NOTE in clause.note


def test_a_past_too_short_to_learn_from_leaves_the_budget_to_others() -> None:
    short = learn_program(orders(3), proposals=[_pattern_of_code(0.001)], schema=False)
    assert [clause.metric.name for clause in short.clauses if not _is_coarse(clause)] == ["pattern_match"]
    assert "coarse limits, 1 of other learners: 3 accepted runs of 7 that it takes" in str(short)
    code = hg.PatternMatch("code", r"^[0-9]{3}-[0-9]{2}$")
    right = hg.analyze(batch(5), [*default_metrics(analysis(5).schema), code])
    assert short.judge(right, orders(3)).status is Status.PASS
    wrong = hg.inject_issue(batch(5), "character_deletion", "code", share=0.5)
    spoiled = hg.analyze(wrong, [*default_metrics(analysis(5).schema), code])
    assert short.judge(spoiled, orders(3)).status is Status.FAIL
