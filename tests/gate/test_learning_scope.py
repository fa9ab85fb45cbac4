"""What a gate ignores, learns from and pins: the program, the verdict, the history and the backtest follow it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.gate.gate import Gate
from headgate.learn.history.program import SCHEMA_METRICS
from headgate.learn.history.usual_ranges import UsualRanges
from headgate.values.errors import MisuseError
from headgate.values.expectation import Source, Status
from headgate.values.key import MetricKey
from tests.gate.orders import dearer, gate_after, judged, named, new_gate, orders, renamed, replaced

DAYS = 12


def with_column(day: int, name: str) -> pa.Table:
    table = orders(day)
    return table.append_column(name, pa.array([day] * len(table)))


def metrics_of(gate: Gate) -> list[MetricKey]:
    return [each.metric for each in gate.learned().program.clauses]


def columns_of(gate: Gate) -> set[str]:
    return {column for key in metrics_of(gate) for column in key.columns}


# --- ignore


def test_nothing_is_learned_of_an_ignored_column_and_everything_of_the_others() -> None:
    gate = gate_after(DAYS, ignore=["price", "co*"])
    assert columns_of(gate) == {"id", "quantity"}
    learned = gate.learned()
    assert learned.novelty is not None
    assert {column for key in learned.novelty.keys for column in key.columns} == {"id", "quantity"}


def test_an_ignored_column_may_break_and_holds_nothing() -> None:
    assert judged(gate_after(DAYS), DAYS, dearer(orders(DAYS))).action == "hold"
    verdict = judged(gate_after(DAYS, ignore=["price"]), DAYS, dearer(orders(DAYS)))
    assert verdict.passed, verdict
    assert "price" not in " ".join(verdict.changes)


@pytest.mark.parametrize("batch", [orders(DAYS).drop_columns(["price"]), with_column(DAYS, "etl_id")])
def test_an_ignored_column_may_come_and_go(batch: pa.Table) -> None:
    assert judged(gate_after(DAYS), DAYS, batch).action == "hold"
    assert judged(gate_after(DAYS, ignore=["price", "etl_*"]), DAYS, batch).passed


def test_another_new_column_is_still_noticed() -> None:
    verdict = judged(gate_after(DAYS, ignore=["price"]), DAYS, with_column(DAYS, "extra"))
    assert verdict.causes[0].title == "extra is new"
    assert "columns, expected at most 4" in verdict.explain()


def test_the_type_of_an_ignored_column_may_change() -> None:
    text = replaced(orders(DAYS), "quantity", [str(each) for each in orders(DAYS)["quantity"].to_pylist()])
    assert not judged(gate_after(DAYS), DAYS, text).passed
    assert judged(gate_after(DAYS, ignore=["quantity"]), DAYS, text).passed


def test_checks_of_an_ignored_column_apply() -> None:
    gate = gate_after(DAYS, ignore=["price"], checks=hg.Check("orders").has_max("price", at_most=500))
    assert judged(gate, DAYS, dearer(orders(DAYS))).causes[0].is_declared


def test_an_ignored_column_is_recorded_so_that_it_has_a_history_later() -> None:
    ignoring = new_gate(ignore=["price"])
    for day in range(DAYS):
        judged(ignoring, day)
    recorded = ignoring.store.run(ignoring.store.last("orders", 1)[0])
    assert {"mean", "ks_dist"} <= {key.name for key in recorded.outcomes if key.columns == ("price",)}
    assert columns_of(new_gate(ignoring.store)) == columns_of(gate_after(DAYS))


def test_a_rule_about_texts_of_an_ignored_column_is_kept_and_not_measured() -> None:
    gate = gate_after(2, ignore=["code"], false_alarms=0.5)
    rules = gate.learned().text_rules
    assert any(each.column == "code" for each in rules)
    verdict = judged(gate, 2)
    judged_texts = [
        each.expectation.metric for each in verdict.judgements if each.expectation.source is Source.PATTERNS
    ]
    assert {column for key in judged_texts for column in key.columns} == {"country"}
    assert [each for each in verdict.account.text_rules if each.column == "code"] == [
        each for each in rules if each.column == "code"
    ]


# --- learn: columns and metrics


def test_only_the_chosen_columns_are_learned_from_and_the_table() -> None:
    gate = gate_after(DAYS, columns=["price", "q*"])
    assert columns_of(gate) == {"price", "quantity"}
    assert MetricKey("size") in metrics_of(gate)


def test_only_the_chosen_metrics_are_learned_from_and_the_schema() -> None:
    gate = gate_after(DAYS, metrics=["completeness", "mean"])
    names = {key.name for key in metrics_of(gate)}
    assert names - SCHEMA_METRICS - {"copies", "novelty"} == {"completeness", "rarity"}
    rarities = gate.learned().rarities
    assert rarities is not None
    scored = (rarities.past.metrics[at] for indices in rarities.columns.values() for at in indices)
    assert {each.key.name for each in scored} == {"completeness", "mean"}
    assert names >= SCHEMA_METRICS
    novelty = gate.learned().novelty
    assert novelty is not None
    assert {key.name for key in novelty.keys} == {"completeness", "mean"}


def test_the_range_of_a_metric_does_not_depend_on_which_others_are_learned() -> None:
    few, all_of_them = (gate_after(DAYS, learn=["history"], **given) for given in ({"metrics": ["mean"]}, {}))
    ranges = [UsualRanges(each.learned().rarities).find(MetricKey("mean", ("price",))) for each in (few, all_of_them)]
    assert ranges[0] == ranges[1]
    assert ranges[0].note == "12 runs"
    assert len(few.learned().program.clauses) < len(all_of_them.learned().program.clauses)


@pytest.mark.parametrize("given", [{"columns": []}, {"metrics": []}, {"ignore": ["*"]}])
def test_nothing_at_all_may_be_learned_from(given: dict[str, Any]) -> None:
    assert judged(gate_after(DAYS, **given), DAYS, dearer(orders(DAYS))).passed


# --- pin


def test_a_pin_replaces_the_learned_range_and_costs_nothing() -> None:
    gate = gate_after(DAYS, pin={"price": {"mean": (0, 10_000)}, "size": (1, None)})
    clauses = [each for each in gate.learned().program.clauses if str(each.metric) in ("mean(price)", "size()")]
    assert [(str(each.expectation.predicate), each.pinned, each.cost) for each in clauses] == [
        ("within 0..10,000", True, 0.0),
        ("at least 1", True, 0.0),
    ]


def test_a_pin_holds_from_the_first_batch_on() -> None:
    verdict = judged(new_gate(pin={"price": {"mean": (0, 1)}}), 0)
    assert verdict.action == "hold"
    assert verdict.causes[0].title.startswith("mean(price) is")
    assert verdict.causes[0].rarity == "declared"


def test_a_pin_applies_without_learners_and_to_metrics_that_are_not_measured_by_default() -> None:
    gate = new_gate(learn=[], pin={"country": {"entropy": (0, 0.1)}})
    assert "entropy(country)" in judged(gate, 0).causes[0].title


def test_a_pin_of_the_row_count_may_allow_an_empty_batch() -> None:
    gate = new_gate(learn=[], pin={"size": (0, None)})
    assert judged(gate, 0, orders(0).slice(0, 0)).passed


@pytest.mark.parametrize(
    ("pin", "words"),
    [
        ({"prise": {"mean": (0, 9)}}, "Did you mean 'price'"),
        ({"prise": {"new_values": (0, 9)}}, "Did you mean 'price'"),
        ({"country": {"mean": (0, 9)}}, "does not accept string columns"),
        ({"country": {"ks_dist": (0, 9)}}, "does not accept string columns"),
    ],
)
def test_a_pin_that_cannot_be_judged_is_an_error_of_the_verdict(pin: Any, words: str) -> None:
    for gate in (new_gate(pin=pin), gate_after(DAYS, pin=pin)):
        verdict = judged(gate, DAYS)
        assert verdict.status is Status.ERROR
        assert verdict.action == "hold"
        assert words in verdict.explain()


def test_a_pinned_column_that_is_gone_is_an_error() -> None:
    gate = gate_after(DAYS, pin={"price": {"mean": (0, 100)}})
    assert judged(gate, DAYS, renamed(orders(DAYS), "price", "prices")).status is Status.ERROR


def test_a_pinned_distance_is_skipped_until_there_are_runs() -> None:
    gate = new_gate(pin={"country": {"new_values": (0, 0.1)}})
    first = judged(gate, 0)
    assert first.passed
    assert [each.status for each in first.judgements if each.expectation.metric.name == "new_values"] == [Status.SKIP]


def test_a_pin_of_an_ignored_column_applies() -> None:
    gate = gate_after(DAYS, ignore=["price"], pin={"price": {"mean": (0, 100)}})
    assert judged(gate, DAYS).passed
    assert not judged(gate, DAYS, dearer(orders(DAYS))).passed


@pytest.mark.parametrize("given", [{"metrics": ["meen"]}, {"pin": {"price": {"mean": (2, 1)}}}])
def test_a_mistake_is_told_when_the_gate_is_made(given: dict[str, Any]) -> None:
    with pytest.raises(MisuseError):
        new_gate(**given)


# --- pages, replay and backtest


def test_the_page_says_in_one_line_what_is_set() -> None:
    gate = gate_after(DAYS, ignore=["price"], pin={"size": (1, None)})
    judged(gate, DAYS)
    lines = gate.explain(named(DAYS)).explain().splitlines()
    assert [line for line in lines if "Set:" in line] == ["  Set: price ignored; pinned: size() at least 1"]
    assert "Set:" not in judged(gate_after(DAYS), DAYS).explain()


def test_a_changed_setting_judges_the_same_input_again() -> None:
    gate = gate_after(DAYS)
    assert judged(gate, DAYS, dearer(orders(DAYS))).action == "hold"
    again = judged(new_gate(gate.store, ignore=["price"]), DAYS, dearer(orders(DAYS)))
    assert (again.action, again.revision.number) == ("publish", 2)


@pytest.mark.parametrize(
    "given", [{"ignore": ["price"]}, {"columns": ["price"], "metrics": ["mean"]}, {"pin": {"price": {"mean": (0, 9)}}}]
)
def test_a_replay_gives_the_recorded_judgements(given: dict[str, Any]) -> None:
    gate = gate_after(DAYS, **given)
    recorded = judged(gate, DAYS, dearer(orders(DAYS)))
    by_rules = {"has_rows()"}
    expected = [each for each in recorded.judgements if each.expectation.rule not in by_rules]
    assert list(gate.replay(named(DAYS)).judgements) == expected


def test_a_backtest_follows_the_settings() -> None:
    store = gate_after(DAYS + 1).store
    judged(new_gate(store), DAYS + 1, dearer(orders(DAYS + 1)))
    plain, ignoring, pinning = (
        new_gate(store, learn=["history"], **given).backtest(budgets=[], spots=2)
        for given in ({}, {"ignore": ["price"]}, {"ignore": ["price"], "pin": {"price": {"mean": (0, 100)}}})
    )
    assert [each.partition for each in plain.held_batches] == [named(DAYS + 1)]
    # at this budget, distances of other columns of 120 rows may hold a good batch
    assert named(DAYS + 1) not in {each.partition for each in ignoring.held_batches}
    assert {issue.column for run in ignoring.runs for issue in run.injected_issues} == {
        *("", "id", "quantity", "country", "code")
    }
    (held,) = (each for each in pinning.held_batches if each.partition == named(DAYS + 1))
    assert (held.declared, held.alarms) == (True, (False,))
    assert [each.endswith("expected within 0..100") for each in held.causes] == [True]
