"""The gate: what is published, what is held, what is recorded, and that a batch is scanned once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import headgate as hg
from headgate.checks.check import Check
from headgate.engine import batch as opened
from headgate.gate.gate import Gate
from headgate.gate.notification import Notification
from headgate.gate.publish.folders import Folders
from headgate.gate.publish.publisher import Delivery
from headgate.store.fault_points import watch
from headgate.store.memory import MemoryStore
from headgate.values.account import Action
from headgate.values.errors import MisuseError, PublishError, UnknownRun
from headgate.values.expectation import Status
from headgate.values.outcome import Failed
from headgate.values.run import Decision
from tests.gate.orders import (
    Speller,
    dearer,
    elsewhere,
    emptied,
    gate_after,
    judged,
    named,
    new_gate,
    orders,
    shuffled,
    torn,
)

COMPLETE = Check("orders").is_complete("price")


def decisions(gate: Gate) -> list[tuple[str, Decision, str]]:
    return [(each.partition, each.decision, each.who) for each in gate.store.rulings("orders")]


# --- publish or hold


def test_a_batch_that_passes_is_published_and_that_is_written_down() -> None:
    gate = new_gate(checks=COMPLETE)
    verdict = judged(gate, 0)
    assert (verdict.status, verdict.action, verdict.decision) == (Status.PASS, Action.PUBLISH, Decision.PUBLISHED)
    assert decisions(gate) == [(named(0), Decision.PUBLISHED, "gate")]


def test_a_batch_that_fails_is_held_and_that_is_written_down() -> None:
    gate = new_gate(checks=COMPLETE)
    verdict = judged(gate, 0, emptied(orders(0), "price"))
    assert (verdict.status, verdict.action, verdict.decision) == (Status.FAIL, Action.HOLD, Decision.HELD)
    assert decisions(gate) == [(named(0), Decision.HELD, "gate")]


def test_a_batch_that_what_was_learned_does_not_allow_is_held() -> None:
    gate = gate_after(12)
    assert judged(gate, 12).action is Action.PUBLISH
    assert judged(gate, 13, dearer(orders(13))).action is Action.HOLD


def test_a_check_on_a_column_that_is_gone_is_an_error_and_holds() -> None:
    verdict = judged(new_gate(checks=COMPLETE), 0, orders(0).drop_columns(["price"]))
    assert (verdict.status, verdict.action) == (Status.ERROR, Action.HOLD)
    assert "price" in verdict.causes[0].title


def test_a_segment_of_a_column_that_is_gone_is_an_error_and_holds() -> None:
    check = Check("orders", by="country").has_size(at_least=1)
    verdict = judged(new_gate(checks=check), 0, orders(0).drop_columns(["country"]))
    assert (verdict.status, verdict.action) == (Status.ERROR, Action.HOLD)


def test_a_batch_that_cannot_be_read_is_an_error_is_recorded_and_held() -> None:
    gate = new_gate()
    verdict = judged(gate, 0, torn())
    assert (verdict.status, verdict.action) == (Status.ERROR, Action.HOLD)
    assert decisions(gate) == [(named(0), Decision.HELD, "gate")]
    assert "OSError" in gate.explain(named(0)).causes[0].title


def test_a_batch_that_could_not_be_read_once_is_judged_when_it_can_be() -> None:
    gate = new_gate()
    assert judged(gate, 0, torn(), fingerprint="snapshot 7").status is Status.ERROR
    assert judged(gate, 0, orders(0), fingerprint="snapshot 7").action is Action.PUBLISH


def test_what_is_no_batch_is_misuse_and_leaves_no_run() -> None:
    gate = new_gate()
    with pytest.raises(MisuseError, match="is not a batch"):
        gate.judge(object(), named(0))
    assert gate.store.revisions("orders") == ()


ABOUT_ROWS = {
    "no check": (),
    "a check of another metric": COMPLETE,
    "a check of the rows of each segment": Check("orders", by="country").has_size(at_least=1),
    "a check of some of the rows": Check("orders").has_size(at_least=0, where="price > 0"),
    "a warning about rows": Check("orders").has_size(at_least=1, level="warn"),
    "a detector that has nothing to go by": Check("orders").has_no_anomalies("size()", hg.OnlineNormal()),
}


@pytest.mark.parametrize("checks", ABOUT_ROWS.values(), ids=ABOUT_ROWS.keys())
@pytest.mark.parametrize("days", [0, 2])
def test_an_empty_batch_is_held(checks: Any, days: int) -> None:
    verdict = judged(gate_after(days, checks=checks), days, orders(days).slice(0, 0))
    assert verdict.action is Action.HOLD


def test_an_empty_batch_is_held_where_ranges_are_learned() -> None:
    assert judged(gate_after(12), 12, orders(12).slice(0, 0)).action is Action.HOLD


def test_a_check_that_allows_no_rows_lets_an_empty_batch_pass() -> None:
    verdict = judged(new_gate(checks=Check("orders").has_size(at_least=0)), 0, orders(0).slice(0, 0))
    assert verdict.action is Action.PUBLISH


def test_a_detector_that_waits_for_a_history_does_not_keep_one_from_growing() -> None:
    gate = new_gate(checks=Check("orders").has_no_anomalies("size()", hg.OnlineNormal()))
    assert [judged(gate, day).action for day in range(3)] == [Action.PUBLISH] * 3


def test_a_declared_warning_is_told_and_holds_nothing() -> None:
    gate = new_gate(checks=Check("orders").is_complete("price", level="warn"))
    verdict = judged(gate, 0, emptied(orders(0), "price"))
    assert (verdict.action, verdict.decision) == (Action.PUBLISH, Decision.PUBLISHED)
    assert not verdict.causes
    assert [each.columns for each in verdict.warnings] == [("price",)]
    assert "warning: price is" in verdict.explain()


# --- observe


def test_a_gate_that_observes_holds_nothing() -> None:
    gate = new_gate(checks=COMPLETE, mode="observe")
    batches = [emptied(orders(0), "price"), orders(1).drop_columns(["price"]), torn(), orders(3).slice(0, 0), orders(4)]
    found = [judged(gate, day, table) for day, table in enumerate(batches)]
    assert {each.action for each in found} == {Action.PUBLISH}
    assert [each.status for each in found[:3]] == [Status.FAIL, Status.ERROR, Status.ERROR]
    assert "It observes, and holds nothing." in found[0].explain()


def test_a_run_that_fails_under_observation_does_not_teach() -> None:
    gate = new_gate(checks=COMPLETE, mode="observe")
    verdict = judged(gate, 0, emptied(orders(0), "price"))
    assert verdict.decision is Decision.OBSERVED
    judged(gate, 1)
    past = gate.learned().past
    assert past is not None
    assert past.partitions == (named(1),)


# --- the same input, another input


def test_the_same_input_again_is_the_same_revision_and_no_second_run() -> None:
    gate = new_gate()
    first, second = judged(gate, 0), judged(gate, 0, shuffled(orders(0)))
    assert second.revision.key == first.revision.key
    assert second.revision.number == first.revision.number == 1
    assert len(gate.store.revisions("orders")) == len(gate.store.rulings("orders")) == 1


def test_another_input_of_a_partition_is_a_new_revision() -> None:
    gate = new_gate()
    judged(gate, 0)
    assert judged(gate, 0, dearer(orders(0))).revision.number == 2


def test_the_same_input_under_another_check_or_budget_is_judged_anew() -> None:
    gate = new_gate()
    numbers = [
        judged(new_gate(gate.store, **given), 0).revision.number for given in ({}, {"checks": COMPLETE}, {"runs": 7})
    ]
    assert numbers == [1, 2, 3]


class Untouchable:
    """Data that nobody may look at."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the data was looked at: {name}")


def test_a_named_input_is_not_looked_at_a_second_time() -> None:
    gate = new_gate(checks=COMPLETE)
    first = judged(gate, 0, emptied(orders(0), "price"), fingerprint="snapshot 7")
    again = gate.judge(Untouchable(), named(0), fingerprint="snapshot 7")
    assert again.revision.key == first.revision.key
    assert again.explain().splitlines()[0] == first.explain().splitlines()[0]
    assert again.action is Action.HOLD


def test_an_input_of_another_name_is_a_new_revision() -> None:
    gate = new_gate()
    numbers = [judged(gate, 0, fingerprint=name).revision.number for name in ("snapshot 7", "snapshot 8", "snapshot 7")]
    assert numbers == [1, 2, 3], "an input that comes again after another is current again"


@pytest.mark.parametrize(
    ("word", "table", "expected"),
    [
        ("accept", emptied(orders(0), "price"), Action.PUBLISH),
        ("release", emptied(orders(0), "price"), Action.PUBLISH),
        ("reject", orders(0), Action.HOLD),
        ("discard", emptied(orders(0), "price"), Action.HOLD),
    ],
)
def test_what_a_person_decided_about_an_input_stands_when_it_is_judged_again(
    word: str, table: pa.Table, expected: Action
) -> None:
    gate = new_gate(checks=COMPLETE)
    first = judged(gate, 0, table)
    getattr(gate, word)(named(0), who="ada", note="seen")
    again = judged(gate, 0, table)
    assert again.revision.number == first.revision.number
    assert again.action is expected
    assert "by a person" in again.headline


def test_what_a_person_decided_does_not_stand_for_another_input() -> None:
    gate = new_gate(checks=COMPLETE)
    judged(gate, 0, emptied(orders(0), "price"))
    gate.accept(named(0))
    assert judged(gate, 0, emptied(orders(0), "price", share=0.9)).action is Action.HOLD


def test_a_word_about_a_run_that_there_is_not_is_told() -> None:
    gate = new_gate()
    judged(gate, 0)
    with pytest.raises(UnknownRun):
        gate.accept(named(1))
    with pytest.raises(UnknownRun):
        gate.reject(named(0), number=2)


# --- an analysis


def test_an_analysis_is_judged_like_the_batch_it_was_made_of() -> None:
    table = elsewhere(orders(12))
    whole, analysed = (judged(gate_after(12), 12, data) for data in (table, hg.analyze(table)))
    told = [{each.expectation.metric: each.status for each in verdict.judgements} for verdict in (whole, analysed)]
    # an analysis measures no rule of another batch, and not which rows there are
    same = [key for key in told[1] if key.name not in ("pattern_match", "copies")]
    assert {key: told[0][key] for key in same} == {key: told[1][key] for key in same}
    assert analysed.action is Action.HOLD


def test_an_analysis_that_lacks_what_a_check_asks_for_is_an_error() -> None:
    verdict = judged(new_gate(checks=COMPLETE), 0, hg.analyze(orders(0), ["size()"]))
    assert (verdict.status, verdict.action) == (Status.ERROR, Action.HOLD)


def test_an_analysis_of_the_whole_cannot_be_judged_by_segment() -> None:
    gate = new_gate(checks=Check("orders", by="country").is_complete("price"))
    with pytest.raises(MisuseError, match="by segment"):
        judged(gate, 0, hg.analyze(orders(0)))
    assert gate.store.revisions("orders") == ()


# --- one scan


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The plans that the local engine runs."""
    found: list[Any] = []
    run = opened.run_local

    def counted(batch: Any, plan: Any, *others: Any, **named: Any) -> Any:
        found.append(plan)
        return run(batch, plan, *others, **named)

    monkeypatch.setattr(opened, "run_local", counted)
    return found


def test_checks_segments_and_all_learners_are_fed_by_one_scan(plans: list[Any]) -> None:
    checks = [COMPLETE.is_unique("id"), Check("parts", by="country").has_mean("price", between=(5, 500))]
    gate = gate_after(12, checks=checks)
    assert judged(gate, 12).account.learners.keys() == {"history", "patterns", "novelty"}
    assert len(plans) == 1


def test_samples_of_values_are_taken_only_where_patterns_are_learned(plans: list[Any]) -> None:
    judged(new_gate(), 0)
    judged(new_gate(learn=["history", "novelty"]), 0)
    taken = [any(metric.name == "value_sample" for metric in plan.metrics) for plan in plans]
    assert taken == [True, False]


# --- publishing and telling


class Shelf:
    """A publisher that writes down what it is asked for."""

    def __init__(self, calls: list[str], trouble: Exception | None = None) -> None:
        self.calls = calls
        self.trouble = trouble
        self.place = "staged"

    def _moved(self, call: str, place: str) -> str:
        self.calls.append(call)
        if self.trouble is not None:
            raise self.trouble
        self.place = place
        return f"on the shelf, {place}"

    def publish(self, delivery: Delivery) -> str:
        return self._moved("publish", "published")

    def hold(self, delivery: Delivery) -> str:
        return self._moved("hold", "held")

    def release(self, delivery: Delivery) -> str:
        return self._moved("release", "published")

    def discard(self, delivery: Delivery) -> None:
        self._moved("discard", "absent")

    def state(self, delivery: Delivery) -> Any:
        return self.place

    def identify_staged(self, partition: str, part: Any = "whole") -> str:
        return partition if self.place == "staged" else ""

    def find_published(self, dataset: str, partition: str) -> Delivery | None:
        return None

    def set_copy_aside(self, delivery: Delivery) -> None:
        self.calls.append("set_copy_aside")

    def check_input(self, delivery: Delivery) -> None:
        pass

    def restage(self, delivery: Delivery) -> None:
        self._moved("restage", "staged")

    def find_last_number(self, dataset: str, partition: str) -> int:
        return 0

    def locate(self, delivery: Delivery) -> str:
        return self.place

    def recover(self, dataset: str) -> None:
        self.calls.append("recover")


def test_a_batch_is_recorded_then_published_and_then_called_published() -> None:
    happened: list[str] = []
    gate = new_gate(publisher=Shelf(happened))
    decide = gate.store.decide
    gate.store.decide = lambda *given, **named: (happened.append("decided"), decide(*given, **named))[1]  # type: ignore[method-assign]
    with watch(happened.append):
        verdict = judged(gate, 0)
    told = [each for each in happened if each in ("gate.judged", "gate.committed", "publish", "decided")]
    assert told == ["gate.judged", "gate.committed", "publish", "decided"]
    assert verdict.location == "on the shelf, published"


def test_a_batch_that_could_not_be_published_is_not_called_published_and_a_retry_publishes_it() -> None:
    calls: list[str] = []
    store = MemoryStore()
    with pytest.raises(PublishError):
        judged(new_gate(store, publisher=Shelf(calls, PublishError("the disk is full."))), 0)
    assert [each.decision for each in store.revisions("orders")] == [None]
    assert judged(new_gate(store, publisher=Shelf(calls)), 0).decision is Decision.PUBLISHED
    assert calls == ["publish", "publish", "publish"], "once when it was refused, once to finish it, once to say so"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("accept", ["hold", "release"]),
        ("release", ["hold", "release"]),
        ("discard", ["hold", "hold", "discard"]),
        ("reject", ["hold", "hold"]),
    ],
)
def test_a_persons_word_on_a_held_batch_is_carried_out(word: str, expected: list[str]) -> None:
    calls: list[str] = []
    gate = new_gate(publisher=Shelf(calls), checks=COMPLETE)
    judged(gate, 0, emptied(orders(0), "price"))
    getattr(gate, word)(named(0))
    assert calls == expected


def test_every_verdict_is_told() -> None:
    told: list[Notification] = []
    gate = new_gate(checks=COMPLETE, notify=told.append)
    judged(gate, 0)
    judged(gate, 1, emptied(orders(1), "price"))
    assert [(each.partition, each.kind) for each in told] == [(named(0), "recovered"), (named(1), "held")]


def test_telling_that_fails_changes_nothing_and_is_kept_for_the_caller() -> None:
    def broken(notice: Notification) -> None:
        raise ConnectionError("nobody answers")

    for table, action in ((orders(0), Action.PUBLISH), (emptied(orders(0), "price"), Action.HOLD)):
        loud, quiet = new_gate(checks=COMPLETE, notify=broken), new_gate(checks=COMPLETE)
        told, untold = judged(loud, 0, table), judged(quiet, 0, table)
        assert told.notified == Failed("ConnectionError: nobody answers")
        assert told.action is untold.action is action
        assert decisions(loud) == decisions(quiet)


# --- settings


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"false_alarms": 1.0}, "false_alarms=0.01"),
        ({"false_alarms": -0.1}, "false_alarms=0.01"),
        ({"learn": ["histroy"]}, "history"),
        ({"mode": "guards"}, "guard"),
        ({"runs": 0}, "runs=30"),
        ({"checks": ["is_complete(id)"]}, "hg.Check"),
    ],
)
def test_a_gate_that_cannot_be_set_so_says_what_to_write(given: dict[str, Any], hint: str) -> None:
    with pytest.raises(MisuseError, match=hint):
        new_gate(**given)


class Unwritten(Speller):
    """An index of a lake that has no column yet."""

    def __len__(self) -> int:
        return 0

    def infer(self, *_: Any, **__: Any) -> Any:
        return None


def test_an_index_that_is_given_is_used_though_it_is_empty() -> None:
    assert judged(new_gate(index=Unwritten()), 0).account.text_rules == ()


def test_one_learner_may_be_named_alone() -> None:
    assert judged(new_gate(learn="history"), 0).account.learners.keys() == {"history"}


def test_a_gate_that_learns_nothing_judges_what_is_declared() -> None:
    gate = gate_after(12, learn=(), checks=COMPLETE)
    assert judged(gate, 12, dearer(orders(12))).action is Action.PUBLISH
    assert judged(gate, 13, emptied(orders(13), "price")).action is Action.HOLD


def test_the_good_rows_of_a_held_batch_can_be_published_and_the_bad_ones_stay(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    gate = Gate("sales", store=MemoryStore(), checks=Check("c").is_non_negative("price"), publisher=folders)
    batch = pa.table({"price": [9.5, -1.0]})
    folders.staging_path("1").mkdir()
    verdict = gate.judge(batch, "1")
    assert verdict.action is Action.HOLD
    assert verdict.can_split
    for part, rows in zip(("good", "bad"), verdict.split(batch), strict=True):
        folders.staging_path("1", part).mkdir()  # type: ignore[arg-type]
        (folders.staging_path("1", part) / "rows").write_text(str(rows["price"].to_pylist()))  # type: ignore[arg-type]
    with pytest.raises(MisuseError, match=r"the good rows of 1 do not meet .*price"):
        gate.split("1", batch, who="ann")
    with pytest.raises(MisuseError, match="2 rows are staged as the good ones of 1, which has 2 in all"):
        gate.split("1", pa.table({"price": [9.5, 1.0]}), who="ann")
    assert gate.store.find_undecided("sales") == ()
    ruling = gate.split("1", lambda: batch.slice(0, 1), who="ann")
    assert (ruling.decision, ruling.who, ruling.note) == (Decision.SPLIT, "ann", "rows split")
    assert (folders.path("1") / "rows").read_text() == "[9.5]"
    assert folders.state(Delivery.of(verdict.revision).only_part("bad")) == "held"
    assert gate.learned(before="2").past is None, "a batch that was split teaches nothing"
    again = gate.judge(batch, "1")
    assert again.revision.number == verdict.revision.number
    assert again.action is Action.HOLD
    assert (folders.path("1") / "rows").read_text() == "[9.5]", "the bad rows came through with the whole"


def test_rows_cannot_be_split_without_a_publisher() -> None:
    gate = gate_after(1)
    with pytest.raises(MisuseError, match="no publisher"):
        gate.split(named(0), orders(0))
