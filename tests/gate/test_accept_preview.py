"""What accepting does to the ranges of the next batch is told before, and comes true."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

import headgate as hg
from headgate.gate.gate import Gate
from headgate.learn.history.usual_ranges import UsualRanges
from headgate.values.account import Action
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.predicate import Between, Predicate
from headgate.values.range_change import RangeChange
from headgate.values.run import Decision
from tests.gate.test_accepted_surprises import ROWS, RUNS, batch, day, gate_of

MEAN, SIZE = MetricKey("mean", ("price",)), MetricKey("size")


def find_change(changes: Sequence[RangeChange], metric: MetricKey) -> RangeChange:
    return next(each for each in changes if each.metric == metric)


def expected_next(gate: Gate) -> dict[MetricKey, Predicate]:
    """What the batch after the held one is judged by, as the history is now."""
    learned = gate.learned(before=day(RUNS + 1))
    assert learned.rarities is not None
    usual = {each.key: UsualRanges(learned.rarities).find(each.key) for each in learned.rarities.past.metrics}
    found = {key: each.expectation.predicate for key, each in usual.items() if each is not None}
    return found | {each.metric: each.expectation.predicate for each in learned.program.clauses}


def hold(gate: Gate, number: int, table: pa.Table) -> None:
    assert gate.judge(table, day(number)).action is Action.HOLD


def test_it_tells_what_is_expected_now_and_what_will_be() -> None:
    gate = gate_of()
    hold(gate, RUNS, batch(RUNS, 100.0))
    changes = gate.preview_accept(day(RUNS))
    now = expected_next(gate)
    gate.accept(day(RUNS))
    then = expected_next(gate)
    assert {each.metric for each in changes} & then.keys()
    assert all(each.before == now[each.metric] for each in changes if each.metric in now)
    assert all(each.after == then[each.metric] for each in changes if each.metric in then)


def test_one_batch_far_away_moves_the_range_little_and_is_remembered() -> None:
    gate = gate_of()
    hold(gate, RUNS, batch(RUNS, 100.0))
    mean = find_change(gate.preview_accept(day(RUNS)), MEAN)
    assert isinstance(mean.before, Between)
    assert isinstance(mean.after, Between)
    assert mean.is_changed
    assert mean.after.high is not None
    assert mean.after.high < 100
    [value] = mean.values_outside
    assert value == pytest.approx(2_400, rel=0.1)
    gate.accept(day(RUNS))
    assert gate.judge(batch(RUNS + 1, 100.0), day(RUNS + 1)).passed


def test_a_range_of_batches_is_a_new_level() -> None:
    gate = gate_of()
    for number in range(RUNS, RUNS + 3):
        hold(gate, number, batch(number, 100.0))
    mean = find_change(gate.preview_accept(day(RUNS), to=day(RUNS + 2)), MEAN)
    assert len(mean.accepted_values) == 3
    assert mean.values_outside == ()
    assert mean.before is not None
    assert not any(map(mean.before.holds, mean.accepted_values))


def test_every_metric_that_failed_is_told() -> None:
    gate = gate_of()
    hold(gate, RUNS, batch(RUNS, 100.0, rows=3 * ROWS))
    verdict = gate.explain(day(RUNS))
    told = {each.metric for each in gate.preview_accept(day(RUNS))}
    assert {SIZE, MEAN} <= told
    assert {
        each.expectation.metric for each in verdict.verdict.failures if each.expectation.source == "history"
    } <= told


def test_nothing_is_recorded_and_what_was_learned_is_kept() -> None:
    gate = gate_of()
    hold(gate, RUNS, batch(RUNS, 100.0))
    head, learned = gate.store.head("orders"), gate.learned()
    gate.preview_accept(day(RUNS))
    assert gate.store.head("orders") == head
    assert gate.history.find(day(RUNS)).decision is Decision.HELD
    assert gate.learned() is learned


def test_what_left_no_learned_range_changes_none() -> None:
    gate = gate_of()
    hold(gate, RUNS, batch(RUNS).drop_columns(["region"]))
    assert gate.preview_accept(day(RUNS)) == ()
    strict = hg.Gate("orders", store=gate.store, checks=[hg.Check("orders").is_contained_in("region", ["north"])])
    hold(strict, RUNS + 1, batch(RUNS + 1))
    assert strict.preview_accept(day(RUNS + 1)) == ()


def test_nothing_is_expected_of_a_muted_column() -> None:
    gate = gate_of()
    hold(gate, RUNS, batch(RUNS, 100.0))
    gate.mute("price", until="2100-01-01")
    assert {(each.before, each.after) for each in gate.preview_accept(day(RUNS))} == {(None, None)}


def test_a_revision_that_was_repaired_teaches_nothing_more() -> None:
    gate = gate_of()
    hold(gate, RUNS, batch(RUNS, 100.0))
    assert gate.judge(batch(RUNS), day(RUNS)).passed
    changes = gate.preview_accept(day(RUNS), number=1)
    assert not any(each.is_changed for each in changes)
    assert find_change(changes, MEAN).values_outside, "it is remembered all the same"


def test_names_without_a_time_are_taken_in_their_order() -> None:
    gate = hg.Gate("orders", store=hg.open_store("memory:"))
    for number in range(20):
        assert gate.judge(batch(number), f"load {number * number}").passed
    assert gate.judge(batch(20, 100.0), "load 400").action is Action.HOLD
    assert find_change(gate.preview_accept("load 400"), MEAN).is_changed


def test_it_raises_what_accepting_raises() -> None:
    gate = gate_of()
    with pytest.raises(MisuseError, match="is held"):
        gate.preview_accept(day(0), to=day(3))
    hold(gate, RUNS, batch(RUNS, 100.0))
    hold(gate, RUNS, batch(RUNS, 90.0))
    with pytest.raises(MisuseError, match="2 revisions"):
        gate.preview_accept(day(RUNS))
