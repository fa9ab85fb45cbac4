"""Batches that a table has already are judged in one scan, and nothing is held, moved or notified."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from headgate.checks.check import Check
from headgate.gate.publish.folders import Folders
from headgate.store.fault_points import watch
from headgate.values.errors import MisuseError, NotMeasured
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


def test_a_value_that_fails_a_metric_of_all_batches_records_nothing(table: pa.Table) -> None:
    texts = pa.array(["x" if at == 0 else "7" for at in range(len(table))])
    check = Check("orders").satisfies("CAST(amount AS INT) > 0")
    gate = new_gate(checks=[check], learn=[])
    with pytest.raises(NotMeasured, match=r"amount.*of all batches at once"):
        gate.backfill(table.append_column("amount", texts), "day")
    assert gate.store.head("orders") == 0
    good = day_of(1).append_column("amount", pa.array(["7"] * len(day_of(1))))
    verdict = gate.backfill_batch(good, named(1))
    assert verdict is not None
    assert verdict.passed
    assert gate.backfill_batch(good, named(1)) is None


def test_a_batch_is_as_fresh_as_it_was_at_the_end_of_its_day(table: pa.Table) -> None:
    times = pa.array([datetime.fromisoformat(f"{day}T18:00:00") for day in table["day"].to_pylist()])
    check = Check("orders").is_fresh("at", "12h")
    verdicts = new_gate(checks=[check], learn=[]).backfill(table.append_column("at", times), "day")
    assert all(each.passed for each in verdicts)
    late = new_gate(checks=[check], learn=[]).backfill(
        table.append_column("at", times), "day", now=datetime(2026, 6, 1, tzinfo=UTC)
    )
    assert not any(each.passed for each in late)


@pytest.mark.parametrize("by", [["day"], ["country", "day"], ["day", "country"]], ids=" and ".join)
def test_a_check_may_be_by_the_column_of_the_batch(table: pa.Table, by: list[str]) -> None:
    check = Check("orders").has_size(at_least=24, by=by)
    observer = new_gate(checks=[check], learn=[], mode="observe")
    found = new_gate(checks=[check], learn=[]).backfill(table, "day")
    for number, verdict in enumerate(found):
        wanted = observer.judge(day_of(number), named(number))
        assert [each.segment for each in verdict.judgements] == [each.segment for each in wanted.judgements]
        assert verdict.passed is wanted.passed


def test_what_another_gate_has_not_finished_is_left_to_it(table: pa.Table) -> None:
    told: list[object] = []
    gate = new_gate(notify=told.append)
    with watch(_kill_at("gate.committed")), pytest.raises(KeyboardInterrupt):
        gate.judge(orders(40), named(40))
    assert len(gate.backfill(table, "day")) == DAYS
    assert [each.partition for each in gate.find_undecided()] == [named(40)]
    gate.recover()
    assert len(told) == 1


def _kill_at(point: str) -> Callable[[str], None]:
    def watcher(name: str) -> None:
        if name == point:
            raise KeyboardInterrupt

    return watcher
