"""Batches that a table has already are judged in one scan, and nothing is held, moved or notified."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headgate.checks.check import Check
from headgate.gate.publish.folders import Folders
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.run import Decision
from tests.gate.orders import dearer, named, new_gate, orders, replaced

DAYS = 20
BAD = 12


def day_of(number: int) -> pa.Table:
    day = dearer(orders(number)) if number == BAD else orders(number)
    return day.append_column("day", pa.array([named(number)] * len(day)))


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.concat_tables(day_of(number) for number in range(DAYS))


def test_the_runs_are_those_of_a_gate_that_observes_day_by_day(table: pa.Table) -> None:
    gate, observer = new_gate(), new_gate(mode="observe")
    verdicts = gate.backfill(table, "day")
    expected = [observer.judge(day_of(number), named(number)) for number in range(DAYS)]
    assert [each.partition for each in verdicts] == [named(number) for number in range(DAYS)]
    for found, wanted in zip(verdicts, expected, strict=True):
        assert found.run.fingerprint == wanted.run.fingerprint
        rules = {key for key in wanted.run.states if key.name == "pattern_match"}  # not known when the table is scanned
        assert found.run.states == {key: state for key, state in wanted.run.states.items() if key not in rules}
        assert found.run.outcomes == wanted.run.outcomes
        assert found.status is wanted.status
        assert found.decision is wanted.decision
    assert verdicts[BAD].decision is Decision.OBSERVED
    assert all(each.decision is Decision.PUBLISHED for each in verdicts if each is not verdicts[BAD])


def test_the_next_batch_is_judged_by_all_learners(table: pa.Table) -> None:
    gate = new_gate()
    gate.backfill(table, "day")
    good = gate.judge(day_of(DAYS), named(DAYS))
    assert good.passed
    account = good.run.account
    assert account is not None
    assert account.runs == DAYS - 1  # all but the bad one
    assert account.text_rules
    assert set(account.learners) == {"history", "patterns", "novelty"}
    bad = gate.judge(dearer(day_of(DAYS + 1)), named(DAYS + 1))
    assert bad.decision is Decision.HELD


def test_a_rule_of_a_text_column_is_held_against_the_samples_of_later_days(table: pa.Table) -> None:
    gate = new_gate()
    verdicts = gate.backfill(table, "day")
    account = verdicts[-1].run.account
    assert account is not None
    rules = [each for each in account.text_rules if each.column == "code"]
    assert rules
    assert rules[0].runs_held >= DAYS - 3  # the first day has taught it, and the bad one teaches nothing
    text = pc.replace_substring_regex(table["code"], "-", "/")
    last = pc.equal(table["day"], named(DAYS - 1))
    broken = replaced(table, "code", pc.if_else(last, text, table["code"]))
    verdict = new_gate(learn=["patterns"]).backfill(broken, "day")[-1]
    assert [each.expectation.metric.name for each in verdict.failures] == ["pattern_match"]


def test_a_second_call_adds_what_is_new_alone(table: pa.Table) -> None:
    gate = new_gate()
    first = table.filter(pc.less(table["day"], named(5)))
    assert len(gate.backfill(first, "day")) == 5
    assert [each.partition for each in gate.backfill(table, "day")] == [named(number) for number in range(5, DAYS)]
    assert gate.backfill(table, "day") == []


def test_checks_are_held_against_each_batch_and_its_segments(table: pa.Table) -> None:
    check = Check("orders").is_unique("id").has_size(at_least=24, by=["country"])
    observer = new_gate(checks=[check], learn=[], mode="observe")
    found = [not each.passed for each in new_gate(checks=[check], learn=[]).backfill(table, "day")]
    assert found == [not observer.judge(day_of(number), named(number)).passed for number in range(DAYS)]
    assert 0 < sum(found) < DAYS


def test_nothing_is_moved_and_nobody_is_notified(table: pa.Table, tmp_path: Path) -> None:
    told: list[object] = []
    gate = new_gate(publisher=Folders(tmp_path / "lake"), notify=told.append)
    verdicts = gate.backfill(table, "day")
    assert len(verdicts) == DAYS
    assert not told
    assert not [each for each in (tmp_path / "lake").rglob("*") if each.is_file()]
    assert gate.recover() == []
    gate.accept(named(BAD), note="a sale")
    assert gate.explain(named(BAD)).decision is Decision.ACCEPTED


def test_rows_without_a_partition_are_of_no_batch(table: pa.Table) -> None:
    lost = replaced(table.slice(0, 40), "day", pa.nulls(40, pa.string()))
    verdicts = new_gate().backfill(pa.concat_tables([table, lost]), "day")
    assert len(verdicts) == DAYS
    sizes = [each.run.outcomes[MetricKey("size")] for each in verdicts]
    assert sizes == [each.run.outcomes[MetricKey("size")] for each in new_gate().backfill(table, "day")]


def test_partitions_may_be_dates_and_have_a_time_of_their_own(table: pa.Table) -> None:
    days = pa.array([date.fromisoformat(each) for each in table["day"].to_pylist()])
    verdicts = new_gate().backfill(replaced(table, "day", days), "day", read_time=lambda partition: f"{partition}T06")
    assert verdicts[0].partition == named(0)
    assert verdicts[0].run.account is not None
    assert verdicts[0].run.account.time == f"{named(0)}T06:00:00 hour"


def test_a_column_that_is_not_there_is_refused(table: pa.Table) -> None:
    gate = new_gate()
    with pytest.raises(MisuseError, match="dya"):
        gate.backfill(table, "dya")
    assert gate.store.head("orders") == 0
