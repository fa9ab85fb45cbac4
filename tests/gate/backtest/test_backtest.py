"""Backtests: what a gate would have held in the past, by what came before and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import headgate as hg
from headgate.engine.progress import Progress
from headgate.explain.cause import Cause
from headgate.gate.backtest.backtest import BUDGETS, ENOUGH, Backtest, backtest
from headgate.gate.backtest.injected_issues import SAMPLE_ROWS, InjectedIssue, inject_into
from headgate.gate.backtest.replay import LEARNED, BudgetPlan, KnownQuality, ReplayedBatch
from headgate.gate.gate import Gate
from headgate.gate.settings import Settings
from headgate.inject.increased_nulls import IncreasedNulls
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.program import Clause, Program
from headgate.learn.issue_effects import measure_effects
from headgate.learn.learned import Learned, Learner
from headgate.learn.novelty.model import NOVELTY, Novelty
from headgate.learn.past import Past
from headgate.learn.synthetic_column import synthesize
from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError
from headgate.values.expectation import Expectation, Source, Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured
from headgate.values.predicate import Between
from headgate.values.run import Decision, Run
from tests.gate.orders import gate_after, named
from tests.learn.histories import analysis, batch, commit, orders
from tests.pages import HOSTILE, Seen, assert_harmless, coloured, terminal

RUNS = 26
INCIDENT, REGIME, ODD = 14, 20, 12
QUICK = Settings(learners=(Learner.HISTORY,))
NULLS = str(IncreasedNulls(share=0.5, value="null"))
OWN = BudgetPlan(0.01, (Learner.HISTORY,))


def partition(day: int) -> str:
    return f"day {day}"


def dearer(table: pa.Table, factor: float) -> pa.Table:
    return table.set_column(1, "price", pc.multiply(table["price"], factor))


def emptied(table: pa.Table) -> pa.Table:
    half = table.num_rows // 2
    return table.set_column(1, "price", pa.array([None] * half + table["price"].to_pylist()[half:], pa.float64()))


def recorded(days: Iterable[int], store: HistoryStore | None = None) -> HistoryStore:
    """Good days, published."""
    made = store or hg.open_store("memory:", values="plain")
    for day in days:
        found = analysis(day)
        made.commit(
            Run(
                dataset="orders",
                partition=partition(day),
                fingerprint=str(day),
                schema=found.schema,
                outcomes=found.outcomes,
                states=found.states,
            )
        )
        made.decide("orders", partition(day), Decision.PUBLISHED)
    return made


@cache
def eventful() -> Backtest:
    """Prices are half empty on one day, which is held; later they are ten times as high, which is accepted."""
    store = recorded(day for day in range(REGIME) if day != INCIDENT)
    commit(store, partition(INCIDENT), emptied(batch(INCIDENT)), Decision.HELD)
    for day in range(REGIME, RUNS + 6):
        commit(store, partition(day), dearer(batch(day), 10), Decision.HELD if day < REGIME + 3 else Decision.PUBLISHED)
        if day < REGIME + 3:
            store.decide("orders", partition(day), Decision.ACCEPTED, who="ann")
    return backtest(store, "orders", spots=3)


def of_day(found: Backtest, day: int) -> ReplayedBatch:
    return next(each for each in found.runs if each.partition == partition(day))


# --- what would have been held


def test_an_incident_is_held_and_told_by_its_column() -> None:
    incident = of_day(eventful(), INCIDENT)
    assert incident.is_held
    assert incident.quality is KnownQuality.BAD
    assert incident.causes[0].startswith("price is 5")
    assert "history" in incident.by


def test_the_days_around_an_incident_are_not_held() -> None:
    assert not any(of_day(eventful(), day).is_held for day in (*range(INCIDENT), *range(INCIDENT + 1, REGIME)))


def test_an_accepted_change_of_regime_is_a_false_hold() -> None:
    changed = of_day(eventful(), REGIME)
    assert (changed.quality, changed.is_held) == (KnownQuality.GOOD, True)
    own = next(each for each in eventful().results if each.plan == eventful().plans[0])
    assert own.false_holds >= 1
    assert own.false_holds == sum(
        each.is_held for each in eventful().judged_batches if each.quality is KnownQuality.GOOD
    )


def test_an_accepted_run_teaches_the_next() -> None:
    assert not of_day(eventful(), RUNS + 5).is_held


def test_a_run_is_no_part_of_its_own_baseline() -> None:
    store = recorded(day for day in range(ODD + 2) if day != ODD)
    commit(store, partition(ODD), dearer(batch(ODD), 1e6), Decision.PUBLISHED)
    found = backtest(store, "orders", QUICK, budgets=(), spots=0)
    assert of_day(found, ODD).is_held
    # had it been in the baseline of its own judgement, its prices would be as normal as they are to the next gate
    after = Gate("orders", store=store, learn=["history"])
    lesson = after.learned(before=partition(ODD + 2))
    assert lesson.past is not None
    assert partition(ODD) in lesson.past.partitions


def test_no_later_run_changes_what_is_found() -> None:
    short = backtest(recorded(range(12)), "orders", QUICK, budgets=(), spots=0)
    long = backtest(recorded(range(14)), "orders", QUICK, budgets=(), spots=0)
    assert long.runs[:12] == short.runs


def test_rejected_runs_do_not_teach() -> None:
    plain = backtest(recorded(range(16)), "orders", QUICK, budgets=(), spots=2)
    store = recorded(range(16))
    for day in range(16):
        commit(store, f"{partition(day)} again", dearer(batch(day), 50), Decision.REJECTED)
    mixed = backtest(store, "orders", QUICK, budgets=(), spots=2)
    assert tuple(each for each in mixed.runs if each.quality is KnownQuality.GOOD) == plain.runs
    bad = [each for each in mixed.judged_batches if each.quality is KnownQuality.BAD]
    assert len(bad) == 16 - MIN_RUNS + 1
    assert all(each.is_held for each in bad)


def test_only_the_newest_revision_of_a_partition_is_replayed() -> None:
    store = recorded(range(10))
    commit(store, partition(9), emptied(batch(9)), Decision.HELD)
    last = backtest(store, "orders", QUICK, budgets=(), spots=0).runs[-1]
    assert (last.partition, last.number, last.quality, last.is_held) == (partition(9), 2, KnownQuality.BAD, True)


def test_the_trusted_revision_of_a_partition_teaches_though_a_newer_one_is_held() -> None:
    store = recorded(range(10))
    commit(store, partition(9), dearer(batch(9), 50), Decision.HELD)
    recorded([10], store)
    again = backtest(store, "orders", QUICK, budgets=(), spots=0).runs[-1]
    assert again == backtest(recorded(range(11)), "orders", QUICK, budgets=(), spots=0).runs[-1]


# --- as the gate would have


@cache
def guarded() -> tuple[HistoryStore, Gate]:
    store = hg.open_store("memory:")
    gate = Gate("orders", store=store, checks=hg.Check("orders").is_complete("id"))
    for day in range(15):
        gate.judge(emptied(batch(day)) if day == ODD else batch(day), partition(day))
    return store, gate


def test_the_replay_of_batches_that_came_in_order_holds_what_the_gate_held() -> None:
    store, gate = guarded()
    for each in backtest(store, "orders", gate.settings, budgets=(), spots=0).runs:
        run = store.run(store.revisions("orders", each.partition)[-1])
        learned = [found for found in run.verdict.judgements if found.expectation.source in LEARNED]
        assert each.alarms[0] == any(found.status in (Status.FAIL, Status.ERROR) for found in learned), each
        assert run.account is not None
        assert each.costs[0] == pytest.approx(run.account.spent)
        if each.is_held:
            # a replay looks for no faults, so its titles are those that causes have without one
            assert list(each.causes) == [_find_own_title(found) for found in gate.explain(each.partition).causes]


def _find_own_title(cause: Cause) -> str:
    return cause.title if cause.diagnosis is None else cause.found[0]


def test_what_was_accepted_is_remembered_and_drift_is_held_as_by_the_gate() -> None:
    """Prices are ten times as high on one day, which is accepted, and on another after it has left the window. Then
    they rise slowly."""
    store = hg.open_store("memory:")
    gate = Gate("orders", store=store, runs=8, drift=3)
    factors = [1.0] * 12 + [10.0] + [1.0] * 10 + [10.0] + [1.0] * 3 + [1.12**day for day in range(1, 16)]
    for day, factor in enumerate(factors):
        verdict = gate.judge(dearer(batch(day), factor), f"2026-{3 + day // 28:02}-{1 + day % 28:02}")
        if not verdict.passed:
            gate.accept(verdict.run.partition)
    found = backtest(store, "orders", gate.settings, budgets=(), spots=0)
    held = {each.partition for each in store.revisions("orders") if each.decision is Decision.ACCEPTED}
    assert {each.partition for each in found.held_batches} == held
    assert "2026-03-13" in held
    assert "2026-03-24" not in held  # as on the 13th
    assert any("slowly" in cause for each in found.runs for cause in each.causes)


def test_a_store_that_hides_values_tells_as_much_and_no_value() -> None:
    store, gate = guarded()
    assert store.secret is not None
    found = backtest(store, "orders", gate.settings, budgets=(), spots=2)
    assert of_day(found, ODD).is_held
    assert found.results[0].injected > 50
    said = json.dumps(found.to_dict()) + repr(found) + found._repr_html_()
    assert not any(value in said for value in ("DE", "FR", *batch(3)["code"].to_pylist()))


def test_batches_that_came_late_are_judged_as_if_in_time() -> None:
    def judged(days: Sequence[int]) -> Backtest:
        store = hg.open_store("memory:", values="plain")
        gate = Gate("orders", store=store, learn=["history", "novelty"])
        for day in days:
            gate.judge(batch(day), partition(day))
            gate.accept(partition(day))
        return backtest(store, "orders", gate.settings, budgets=(), spots=2)

    late = judged([*range(5), *range(9, 13), *range(5, 9)])
    assert late.runs == judged(range(13)).runs
    assert late.runs[-1].injected_issues


def test_a_distance_from_a_run_that_no_longer_teaches_is_forgotten() -> None:
    store, found = hg.open_store("memory:", values="plain"), analysis(0)
    far = {MetricKey(name, (column,)): Measured(1.0) for name in ("ks_dist", "value_l1") for column in ("id", "price")}
    run = Run(
        dataset="orders",
        partition=partition(0),
        fingerprint="0",
        schema=found.schema,
        outcomes={**found.outcomes, **far},
        states=found.states,
    )
    store.commit(run)
    store.decide("orders", partition(0), Decision.PUBLISHED)
    recorded(range(1, 12), store)
    told = backtest(store, "orders", QUICK, budgets=(0.05,), spots=3)
    assert told.runs == backtest(recorded(range(12)), "orders", QUICK, budgets=(0.05,), spots=3).runs


def test_a_backtest_records_nothing() -> None:
    store = recorded(range(9))
    head = store.head("orders")
    backtest(store, "orders", QUICK, budgets=(), spots=1)
    assert store.head("orders") == head


def test_a_rule_about_form_that_a_run_was_not_measured_for_holds_nothing() -> None:
    store = hg.open_store("memory:", values="plain")
    gate = Gate("orders", store=store, learn=["patterns"], false_alarms=0.3)
    for day in range(3):
        gate.judge(batch(day), partition(day))
    commit(store, partition(3), batch(3), Decision.PUBLISHED)  # by somebody who measured no pattern
    clauses = gate.learned(before=partition(3)).program.clauses
    assert any(each.expectation.source is Source.PATTERNS for each in clauses)
    assert not backtest(store, "orders", gate.settings, budgets=(), spots=0).held_batches


# --- decisions


def test_a_run_that_was_published_and_later_rejected_is_bad_and_missed() -> None:
    store = recorded(range(11))
    store.decide("orders", partition(10), Decision.REJECTED)
    found = backtest(store, "orders", QUICK, budgets=(), spots=0)
    assert [each.partition for each in found.missed_batches] == [partition(10)]
    assert "missed" in repr(found)


@pytest.mark.parametrize("decision", [None, Decision.RELEASED])
def test_a_run_that_nobody_vouches_for_counts_in_no_rate(decision: Decision | None) -> None:
    store = recorded(range(10))
    commit(store, partition(10), emptied(batch(10)), decision)
    found = backtest(store, "orders", QUICK, budgets=(), spots=0)
    assert of_day(found, 10).quality is KnownQuality.OPEN
    assert of_day(found, 10).is_held
    assert (found.results[0].good, found.results[0].false_holds, found.results[0].bad) == (10 - MIN_RUNS, 0, 0)


def test_a_declared_check_that_failed_holds_and_costs_no_budget() -> None:
    store = hg.open_store("memory:", values="plain")
    gate = Gate("orders", store=store, checks=hg.Check("orders").has_size(at_most=100), learn=["history"])
    for day in range(9):
        gate.judge(batch(day), partition(day))
        gate.accept(partition(day))
    found = backtest(store, "orders", gate.settings, budgets=(), spots=0)
    assert len(found.held_batches) == 9
    assert found.results[0].false_holds == 0
    assert found.runs[-1].by == ("declared",)


# --- short histories


def test_a_dataset_without_runs_says_so() -> None:
    found = backtest(hg.open_store("memory:"), "orders")
    assert repr(found) == "orders has no recorded run."
    assert found.recommended_budget is None
    assert "no recorded run" in found._repr_html_()
    assert found.to_dict()["runs"] == 0


def test_a_cold_start_is_not_judged() -> None:
    found = backtest(recorded(range(MIN_RUNS)), "orders", QUICK)
    assert (found.early_batches, len(found.judged_batches), found.recommended_budget) == (MIN_RUNS, 0, None)
    assert found.advice == f"Nothing can be told yet: no good batch has {MIN_RUNS} accepted runs before it."


def test_a_gate_that_learns_from_too_few_runs_is_always_early() -> None:
    found = backtest(recorded(range(10)), "orders", Settings(learners=(Learner.HISTORY,), runs=3))
    assert found.early_batches == 10


def test_a_short_history_says_that_its_interval_is_wide() -> None:
    found = backtest(recorded(range(MIN_RUNS + 4)), "orders", QUICK, budgets=(), spots=1)
    assert found.recommended_budget is None
    assert "of 4 good batches the interval is wide, as none held would still allow up to 49%" in found.advice


# --- budgets and the recommendation


def test_a_larger_budget_states_more_and_catches_more() -> None:
    trials = eventful().results
    assert [each.plan.budget for each in trials] == list(BUDGETS)
    assert all(each.cost <= each.plan.budget for each in trials)
    assert [each.cost for each in trials] == sorted(each.cost for each in trials)
    assert [each.caught for each in trials] == sorted(each.caught for each in trials)
    assert [each.false_holds for each in trials] == sorted(each.false_holds for each in trials)
    assert trials[0].caught < trials[-1].caught


def imagined(*caught: int, alarms: Sequence[int] = (), runs: int = 50) -> Backtest:
    """As many runs as told, of which each budget held so many and caught so many of 100 injected issues."""
    plans = (OWN, BudgetPlan(0.02, OWN.learners), BudgetPlan(0.1, OWN.learners))
    held = alarms or (0, 0, 0)
    made = [
        ReplayedBatch(str(at), 1, Decision.PUBLISHED, False, tuple(at < count for count in held), (0.01, 0.02, 0.1))
        for at in range(runs)
    ]
    struck = tuple(InjectedIssue("a", f"stale{at}", tuple(at < count for count in caught)) for at in range(100))
    return Backtest("orders", plans, (msgspec.structs.replace(made[0], injected_issues=struck), *made[1:]))


def test_the_budget_that_catches_most_is_recommended_if_it_kept_its_word() -> None:
    assert imagined(50, 60, 70).recommended_budget == 0.1
    assert imagined(50, 60, 70, alarms=(0, 1, 6)).recommended_budget == 0.02  # 6 of 50 are more than 10%
    assert "(60.0%)" in imagined(50, 60, 70, alarms=(0, 1, 6)).advice


def test_of_two_budgets_that_catch_as_much_the_smaller_is_recommended() -> None:
    assert imagined(60, 60, 60).recommended_budget == 0.01


def test_no_budget_is_recommended_where_none_kept_its_word() -> None:
    found = imagined(50, 60, 70, alarms=(1, 2, 6))
    assert found.recommended_budget is None
    assert "each held more good batches than it says: at 10.00% 6 of 50, at 1.00% 1." in found.advice


def test_no_budget_is_recommended_without_injected_issues_or_enough_runs() -> None:
    plain = imagined(1, 2, 3)
    bare = Backtest("orders", plain.plans, plain.runs[1:])
    assert (bare.recommended_budget, bare.results[0].recall) == (None, None)
    assert "no issue was injected" in bare.advice
    assert imagined(1, 2, 3, runs=ENOUGH).recommended_budget is not None
    assert imagined(1, 2, 3, runs=ENOUGH - 1).recommended_budget is None


def test_the_interval_is_wilsons() -> None:
    low, high = imagined(0, 0, 0, alarms=(5, 0, 0)).results[0].interval
    assert (round(low, 3), round(high, 3)) == (0.043, 0.214)


# --- injected issues


def test_issues_are_injected_into_as_many_batches_as_told_and_each_learner_is_tried_alone() -> None:
    found = eventful()
    struck = [each for each in found.runs if each.injected_issues]
    assert len(struck) == 3
    assert all(each.quality is KnownQuality.GOOD and not each.early for each in struck)
    assert set(found.learner_results) == {"history", "patterns", "novelty"}
    assert 0 < found.learner_results["novelty"].caught < found.learner_results["history"].caught
    assert found.learner_results["patterns"].caught == 0  # no rule about form was recorded with these runs
    assert found.issues()["increased_nulls"]["caught"] > 0
    assert sum(each["injected"] for each in found.issues().values()) == found.results[0].injected


def lesson(*clauses: tuple[str, Between]) -> Learned:
    made = (Clause(Expectation(MetricKey.parse(key), range_, Source.HISTORY)) for key, range_ in clauses)
    return Learned(None, Program(clauses=tuple(made)))


def struck(given: Learned) -> dict[tuple[str, str], bool]:
    store = recorded(range(1))
    run = store.run(store.revisions("orders")[0])
    return {(each.column, each.issue): each.caught[0] for each in inject_into(run, [given], None)}


def test_an_issue_is_caught_by_the_expectation_that_it_breaks() -> None:
    found = struck(lesson(("completeness(price)", Between(low=0.9))))
    assert found["price", NULLS]
    assert not found["country", NULLS]
    assert not found["price", "unit_change(factor=1000.0)"]


def test_an_issue_is_not_caught_by_an_expectation_that_the_batch_breaks_anyway() -> None:
    assert not any(struck(lesson(("completeness(price)", Between(high=0.2)))).values())


def test_a_change_of_volume_befalls_the_table() -> None:
    found = struck(lesson(("size()", Between(low=100, high=300))))
    assert found["", "volume_change(factor=10.0)"]
    assert sum(found.values()) == sum(found[key] for key in found if key[1].startswith("volume_change"))


def test_novelty_after_an_issue_is_that_of_the_changed_metrics() -> None:
    novelty = Novelty.learn(orders(10))
    assert isinstance(novelty, Novelty)
    outcomes = orders(10).outcomes(analysis(10))
    limit = Between(high=round(novelty.ratio(outcomes) + 0.2, 3))
    clause = Clause(Expectation(NOVELTY, limit, Source.NOVELTY))
    given = Learned(orders(10), Program(clauses=(clause,)), novelty)
    found = analysis(10)
    run = Run(
        dataset="orders",
        partition=partition(10),
        fingerprint="",
        schema=found.schema,
        outcomes={**outcomes, NOVELTY: novelty.outcome(outcomes)},
        states=found.states,
    )
    caught = {(each.column, each.issue): each.caught[0] for each in inject_into(run, [given], None)}
    rows = MetricKey("size")
    for factor in (0.1, 0.5, 2.0, 10.0):
        grown = {key: Measured(outcomes[key].value * factor) for key in outcomes if key == rows or key.name == "sum"}  # type: ignore[union-attr, operator]
        assert caught["", f"volume_change(factor={factor})"] == (not limit.holds(novelty.ratio(outcomes | grown)))
    assert 0 < sum(caught.values()) < len(caught)


def test_a_batch_that_is_struck_twice_is_hurt_in_the_same_way() -> None:
    store = recorded(range(1))
    run = store.run(store.revisions("orders")[0])
    now = Past.of_runs([run])
    made = {column.label: synthesize(column, run.states, SAMPLE_ROWS) for column in run.schema.columns}
    first, second = measure_effects(now, made), measure_effects(now, made)
    assert all(np.array_equal(one.broken, other.broken, True) for one, other in zip(first, second, strict=True))


def test_of_a_wide_table_some_columns_are_struck() -> None:
    table = pa.table({f"c{at}": [1.0 + at, 2.0, 3.5] * 20 for at in range(20)})
    store = hg.open_store("memory:", values="plain")
    commit(store, "day 1", table, None)
    run = store.run(store.revisions("orders")[0])
    assert len({each.column for each in inject_into(run, [lesson()], None)} - {""}) == 10


# --- for people and programs


def test_it_prints_what_was_held_and_what_to_do() -> None:
    said = str(eventful())
    assert said.startswith("orders: 32 batches replayed, 25 judged (24 good, 1 bad), 7 too early to judge")
    assert "this gate" in said
    assert "day 14  held" in said
    assert "a false hold" in said
    assert said.endswith(eventful().advice)


def test_it_is_plain_data_and_escapes_names() -> None:
    plain = json.loads(json.dumps(eventful().to_dict()))
    assert [each["budget"] for each in plain["budgets"]] == list(BUDGETS)
    assert plain["held"][0]["partition"] == partition(INCIDENT)
    assert plain["good"] + plain["bad"] + plain["open"] == plain["judged"]
    odd = ReplayedBatch("<b>", 1, Decision.HELD, False, (True,), (0.0,))
    shown = Backtest("orders", (OWN,), (odd,))._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_causes_are_only_text_wherever_they_are_shown(name: str) -> None:
    odd = ReplayedBatch(name, 1, Decision.HELD, False, (True,), (0.0,), causes=(name,))
    assert_harmless(Backtest(name, (OWN,), (odd,)))


def test_what_to_heed_is_coloured_in_a_terminal_and_said_in_words() -> None:
    assert any(code == "1;33" and words.startswith("a false hold") for code, words in coloured(eventful()))
    assert eventful().advice.split(",")[0] in terminal(eventful(), 150)
    store = recorded(range(11))
    store.decide("orders", partition(10), Decision.REJECTED)
    found = backtest(store, "orders", QUICK, budgets=(), spots=0)
    assert ("1;31", "missed") in coloured(found)
    assert "missed" in Seen(found._repr_html_()).said


@pytest.mark.parametrize("wrong", [{"budgets": [1.5]}, {"budgets": [-0.1]}, {"spots": -1}])
def test_what_cannot_be_tried_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(MisuseError, match="Write"):
        backtest(hg.open_store("memory:"), "orders", **wrong)  # type: ignore[arg-type]


def test_it_tells_how_far_it_is() -> None:
    gate, seen = gate_after(9), list[Progress]()
    gate.backtest(budgets=[0.05], spots=0, progress=seen.append)
    assert [(each.done, each.total, each.unit) for each in seen] == [(done, 9, "batches") for done in range(1, 10)]
    assert seen[-1].stage == named(8)
