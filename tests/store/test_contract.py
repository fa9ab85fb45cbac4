"""What every store must do, whatever it keeps its history in."""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from headgate.metrics.states.frequencies import Frequencies
from headgate.store.port import HistoryStore
from headgate.values.errors import MisuseError, UnknownRun
from headgate.values.expectation import Status
from headgate.values.key import MetricKey
from headgate.values.outcome import Distribution, Failed, Measured, Undefined
from headgate.values.run import TRUSTED, AlreadyCommitted, Decision
from headgate.values.state import State
from tests.store.runs import a_run, a_small_run

PUBLISHED, HELD, ACCEPTED, REJECTED = Decision.PUBLISHED, Decision.HELD, Decision.ACCEPTED, Decision.REJECTED


def partitions(found: object) -> list[str]:
    return [each.partition for each in found]  # type: ignore[attr-defined]


def labels_of(state: State) -> list[str]:
    return list(state.labels()) if isinstance(state, Frequencies) else []


def test_it_is_a_history_store(store: HistoryStore) -> None:
    assert isinstance(store, HistoryStore)


def test_an_empty_store_has_nothing(store: HistoryStore) -> None:
    assert store.datasets() == ()
    assert store.head("orders") == 0
    assert store.revisions("orders") == ()
    assert store.rulings("orders") == ()
    assert store.last("orders", 90) == ()
    assert store.states([]) == []


def test_a_committed_run_reads_back_whole(reopen: Callable[..., HistoryStore]) -> None:
    run = a_run()
    revision = reopen(values="plain").commit(run)
    again = reopen(values="plain").run(revision)
    assert {str(key): outcome for key, outcome in again.outcomes.items()} == {
        str(key): outcome for key, outcome in run.outcomes.items()
    }
    assert again.states == run.states
    assert msgspec.structs.replace(again, outcomes={}, states={}) == msgspec.structs.replace(
        run, outcomes={}, states={}
    )
    kinds = {type(outcome) for outcome in again.outcomes.values()}
    assert kinds == {Measured, Undefined, Failed}
    assert any(isinstance(getattr(each, "value", None), Distribution) for each in again.outcomes.values())


def test_a_run_can_be_read_without_its_states(store: HistoryStore) -> None:
    revision = store.commit(a_run())
    whole, bare = store.run(revision), store.run(revision, states=False)
    assert whole.states
    assert not bare.states
    measured = {
        key: each for key, each in whole.outcomes.items() if not isinstance(getattr(each, "value", 0), Distribution)
    }
    assert bare.outcomes == measured
    assert len(measured) < len(whole.outcomes)
    assert msgspec.structs.replace(bare, outcomes={}) == msgspec.structs.replace(whole, outcomes={}, states={})


def test_a_revision_says_what_was_committed(store: HistoryStore) -> None:
    run = a_run(seed=3, basis=0)
    revision = store.commit(run)
    assert (revision.sequence, revision.number, revision.decision) == (1, 1, None)
    assert (revision.dataset, revision.partition, revision.fingerprint, revision.suite, revision.attempt) == (
        run.dataset,
        run.partition,
        run.fingerprint,
        run.suite,
        run.attempt,
    )
    assert revision.status is Status.PASS
    assert revision.at == run.at
    assert store.revisions("orders") == (revision,)


def test_the_same_attempt_again_changes_nothing(reopen: Callable[..., HistoryStore]) -> None:
    run = a_run()
    first = reopen().commit(run)
    assert reopen().commit(run) == first
    assert reopen().head("orders") == 1


def test_another_attempt_at_the_same_run_is_told_who_won(reopen: Callable[..., HistoryStore]) -> None:
    winner = reopen().commit(a_run())
    with pytest.raises(AlreadyCommitted) as conflict:
        reopen().commit(a_run())
    assert conflict.value.revision == winner
    assert reopen().head("orders") == 1


def test_new_input_of_a_partition_is_a_new_revision_and_the_old_one_is_kept(store: HistoryStore) -> None:
    first, second = store.commit(a_run(seed=1)), store.commit(a_run(seed=2))
    assert [each.number for each in store.revisions("orders", "2026-11-14")] == [1, 2]
    assert store.last("orders", 9) == (second,)
    assert store.last("orders", 9, as_of=first.sequence) == (first,)
    assert store.run(first).fingerprint == "input 1"


def test_order_is_by_partition_then_commit_not_by_arrival_or_clock(store: HistoryStore) -> None:
    for at, partition in enumerate(["2026-11-14", "2026-11-12", "2026-9-30", "2026-11-13"]):
        store.commit(a_small_run(partition, seed=at, at=1e9 - 86_400 * at))
    assert partitions(store.last("orders", 3)) == ["2026-11-12", "2026-11-13", "2026-11-14"]
    assert partitions(store.last("orders", 9, before="2026-11-13")) == ["2026-9-30", "2026-11-12"]
    assert partitions(store.last("orders", 9, before="2026-11-12T")) == ["2026-9-30", "2026-11-12"]
    assert partitions(store.revisions("orders")) == ["2026-11-14", "2026-11-12", "2026-9-30", "2026-11-13"]


def test_the_first_partitions_after_one_are_listed_in_order(store: HistoryStore) -> None:
    for at, partition in enumerate(["2026-11-14", "2026-11-12", "2026-9-30", "2026-11-13", "2026-11-13"]):
        store.commit(a_small_run(partition, seed=at))
    assert partitions(store.first("orders", 9, after="2026-9-30")) == ["2026-11-12", "2026-11-13", "2026-11-14"]
    assert partitions(store.first("orders", 2, after="2025")) == ["2026-9-30", "2026-11-12"]
    assert store.first("orders", 9, after="2026-11-12")[0].number == 2
    assert store.first("orders", 9, after="2026-11-12", as_of=4)[0].number == 1
    assert store.first("orders", 9, after="2026-11-14") == store.first("orders", 0, after="2025") == ()
    store.decide("orders", "2026-11-14", ACCEPTED)
    assert partitions(store.first("orders", 9, after="2025", only=TRUSTED)) == ["2026-11-14"]


def test_a_run_that_awaits_a_decision_is_listed_until_there_is_one(reopen: Callable[..., HistoryStore]) -> None:
    store = reopen()
    store.commit(a_small_run("free", seed=1))
    waiting = [msgspec.structs.replace(a_small_run(f"p{at}", seed=at), awaits_decision=True) for at in range(3)]
    for run in waiting:
        store.commit(run)
    assert partitions(store.find_undecided("orders")) == ["p0", "p1", "p2"]
    assert all(each.awaits_decision for each in store.find_undecided("orders"))
    store.decide("orders", "p1", PUBLISHED)
    assert partitions(reopen().find_undecided("orders")) == ["p0", "p2"]
    store.decide("orders", "p0", HELD)
    store.decide("orders", "p0", ACCEPTED)
    assert partitions(reopen().find_undecided("orders")) == ["p2"]
    store.commit(msgspec.structs.replace(a_small_run("p2", seed=9), awaits_decision=True))
    store.decide("orders", "p2", PUBLISHED)
    assert [(each.partition, each.number) for each in reopen().find_undecided("orders")] == [("p2", 1)]
    store.decide("orders", "p2", HELD, number=1)
    assert reopen().find_undecided("orders") == ()
    assert not any(each.awaits_decision for each in store.revisions("orders"))
    assert store.find_undecided("no such dataset") == ()


def test_an_earlier_decision_stands_if_only_the_first_is_wanted(store: HistoryStore) -> None:
    store.commit(a_small_run("p"))
    accepted = store.decide("orders", "p", ACCEPTED, who="ann", only_first=True)
    assert store.decide("orders", "p", HELD, who="gate", only_first=True) == accepted
    assert [each.decision for each in store.rulings("orders")] == [ACCEPTED]
    assert store.decide("orders", "p", HELD, who="gate").decision is HELD


def test_the_source_of_a_run_and_of_a_split_is_kept(reopen: Callable[..., HistoryStore]) -> None:
    store = reopen()
    revision = store.commit(msgspec.structs.replace(a_small_run("p"), source="files:a\x00b"))
    store.decide("orders", "p", Decision.SPLIT, source="files:good")
    assert reopen().revisions("orders")[0].source == revision.source == reopen().run(revision).source == "files:a\x00b"
    assert [each.source for each in reopen().rulings("orders")] == ["files:good"]


def test_a_run_can_be_numbered_after_a_revision_that_the_history_does_not_know(
    reopen: Callable[..., HistoryStore],
) -> None:
    numbers = [
        reopen().commit(msgspec.structs.replace(a_small_run("p", seed=at), after=after)).number
        for at, after in enumerate([0, 5, 3, 0])
    ]
    assert numbers == [1, 6, 7, 8]
    assert reopen().decide("orders", "p", HELD).number == 8
    assert reopen().decide("orders", "p", REJECTED, number=6).number == 6
    with pytest.raises(UnknownRun):
        reopen().decide("orders", "p", HELD, number=4)


def test_partitions_that_differ_by_leading_zeros_or_case_are_different(store: HistoryStore) -> None:
    for at, partition in enumerate(["7", "07", "a", "A", "é", "Z", "a ", "%", "_"]):
        store.commit(a_small_run(partition, seed=at))
    assert partitions(store.last("orders", 99)) == ["%", "07", "7", "A", "Z", "_", "a", "a ", "é"]
    assert partitions(store.last("orders", 99, before="7")) == ["%", "07"]


def test_decisions_are_recorded_and_stand_as_of_any_commit(store: HistoryStore) -> None:
    run = store.commit(a_small_run("p1", seed=1))
    held = store.decide("orders", "p1", HELD)
    accepted = store.decide("orders", "p1", ACCEPTED, who="ann", note="new tariff")
    assert (held.sequence, accepted.sequence, accepted.number) == (2, 3, 1)
    assert [each.decision for each in store.rulings("orders", "p1")] == [HELD, ACCEPTED]
    assert (accepted.who, accepted.note) == ("ann", "new tariff")
    assert store.last("orders", 1)[0].decision is ACCEPTED
    assert store.last("orders", 1, as_of=2)[0].decision is HELD
    assert store.last("orders", 1, as_of=1)[0].decision is None
    assert store.revisions("orders", as_of=2)[0].decision is HELD
    assert store.rulings("orders", as_of=2) == (held,)
    assert store.last("orders", 1, only=TRUSTED)[0].sequence == run.sequence
    assert store.last("orders", 1, only=TRUSTED, as_of=2) == ()


def test_saying_the_same_again_changes_nothing(reopen: Callable[..., HistoryStore]) -> None:
    reopen().commit(a_small_run("p1"))
    first = reopen().decide("orders", "p1", HELD)
    assert reopen().decide("orders", "p1", HELD, note="again") == first
    reopen().decide("orders", "p1", ACCEPTED)
    assert reopen().decide("orders", "p1", HELD).sequence == 4


def test_a_decision_needs_a_committed_run(store: HistoryStore) -> None:
    with pytest.raises(UnknownRun, match="orders has no run of p1"):
        store.decide("orders", "p1", PUBLISHED)
    store.commit(a_small_run("p1"))
    with pytest.raises(UnknownRun, match="no revision 2 of p1"):
        store.decide("orders", "p1", PUBLISHED, number=2)
    assert store.rulings("orders") == ()


def test_mutes_are_recorded_and_stand_as_of_any_commit(reopen: Callable[..., HistoryStore]) -> None:
    reopen().commit(a_small_run("p1"))
    first = reopen().mute("orders", "a\0é*", 1.79e9, who="ann", note="backfill")
    ended = reopen().mute("orders", "a\0é*", None, who="bea")
    assert (first.sequence, ended.sequence, reopen().head("orders")) == (2, 3, 3)
    assert (first.column, first.until, first.who, first.note) == ("a\0é*", 1.79e9, "ann", "backfill")
    assert reopen().mutes("orders") == (first, ended)
    assert reopen().mutes("orders", as_of=2) == (first,)
    assert reopen().mutes("orders", as_of=1) == ()
    assert reopen().mutes("lines") == ()
    assert reopen().rulings("orders") == ()
    assert partitions(reopen().revisions("orders")) == ["p1"]


def test_muting_in_the_same_words_again_changes_nothing(reopen: Callable[..., HistoryStore]) -> None:
    reopen().commit(a_small_run("p1"))
    first = reopen().mute("orders", "a", 5.0, note="x")
    assert reopen().mute("orders", "a", 5.0, note="x") == first
    assert reopen().mute("orders", "b", 5.0, note="x").sequence == 3
    assert reopen().mute("orders", "a", 6.0, note="x").sequence == 4
    assert reopen().mute("orders", "a", 5.0, note="x").sequence == 5


def test_runs_and_decisions_go_on_after_a_mute(reopen: Callable[..., HistoryStore]) -> None:
    store = reopen()
    store.commit(a_small_run("p1"))
    store.mute("orders", "a", 5.0)
    assert store.decide("orders", "p1", PUBLISHED).sequence == 3
    assert store.commit(a_small_run("p2")).sequence == 4
    assert partitions(reopen().last("orders", 9)) == ["p1", "p2"]
    assert reopen().run(reopen().last("orders", 1)[0]).partition == "p2"


def test_a_dataset_without_a_run_has_nothing_to_mute(store: HistoryStore) -> None:
    with pytest.raises(MisuseError, match="orders has no run"):
        store.mute("orders", "a", 5.0)
    assert store.mutes("orders") == ()
    assert store.datasets() == ()


def test_with_only_each_partition_stands_as_its_newest_revision_so_decided(store: HistoryStore) -> None:
    good = store.commit(a_small_run("p1", seed=1))
    store.decide("orders", "p1", PUBLISHED)
    store.commit(a_small_run("p1", seed=2))
    store.decide("orders", "p1", HELD)
    store.commit(a_small_run("p2", seed=3))
    assert [each.sequence for each in store.last("orders", 9, only=TRUSTED)] == [good.sequence]
    assert partitions(store.last("orders", 9, only={HELD})) == ["p1"]
    store.decide("orders", "p1", REJECTED, number=1)
    assert store.last("orders", 9, only=TRUSTED) == ()


def test_series_have_a_row_for_each_run_and_nan_where_there_is_no_number(store: HistoryStore) -> None:
    for at in range(3):
        store.commit(a_run(f"p{at}", seed=at))
    store.commit(a_small_run("p3", seed=7))
    window = store.last("orders", 9)
    everything = store.series(window)
    assert everything.partitions == ("p0", "p1", "p2", "p3")
    assert sorted(map(str, everything.metrics)) == sorted(
        ["size()", "completeness(price)", "mean(price)", "approx_quantile(price, q=0.5)", "approx_count_distinct(name)"]
    )
    assert everything.of("size()").tolist() == [20.0, 20.0, 20.0, 7.0]
    means = store.series(window, ["mean(price)", MetricKey("size"), "mean(other)"])
    assert means.values.shape == (4, 3)
    assert np.isnan(means.of("mean(price)")).tolist() == [False, False, False, True]
    assert np.isnan(means.of("mean(other)")).all()
    assert store.series([], ["size()"]).values.shape == (0, 1)
    backwards = store.series(window[::-1], ["size()"])
    assert backwards.of("size()").tolist() == [7.0, 20.0, 20.0, 20.0]


def test_numbers_come_back_to_the_last_bit(store: HistoryStore) -> None:
    odd = [0.0, -0.0, 1 / 3, 5e-324, 1.7976931348623157e308, -(2.0**63), 2.0**53 + 2, 1e15, 123456789.0]
    odd += [float("inf"), float("-inf")]
    keys = [MetricKey("mean", (f"c{at}",)) for at in range(len(odd))]
    run = a_small_run("p1")
    run = msgspec.structs.replace(run, outcomes={key: Measured(value) for key, value in zip(keys, odd, strict=True)})
    found = store.series([store.commit(run)], keys).values[0]
    assert found.tobytes() == np.array(odd).tobytes()


def test_states_are_read_by_key(store: HistoryStore) -> None:
    run = a_run()
    revision = store.commit(run)
    every = store.states([revision])[0]
    assert set(map(str, every)) == set(map(str, run.states))
    wanted = [key for key in run.states if key.columns == ("price",)]
    assert store.states([revision], wanted) == [{key: run.states[key] for key in wanted}]
    assert store.states([revision], ["moments(nothing)"]) == [{}]


def test_values_of_the_data_are_hidden_unless_told(reopen: Callable[..., HistoryStore]) -> None:
    store = reopen()
    revision = store.commit(a_run())
    labels = [label for state in store.states([revision])[0].values() for label in labels_of(state)]
    assert len(labels) == 5
    assert not [label for label in labels if "name" in label]
    again = store.commit(a_run("p2"))
    other = [label for state in store.states([again])[0].values() for label in labels_of(state)]
    assert sorted(labels) == sorted(other), "equal values have equal hashes, in every run of the store"


def test_datasets_are_apart(store: HistoryStore) -> None:
    names = ["orders", "Orders", "../orders", "a/b", "a%2Fb", "ü", "x" * 900, "nul\0", "name with 'quotes'", "."]
    for name in names:
        store.commit(a_small_run("p1", dataset=name))
    assert store.datasets() == tuple(sorted(names))
    for name in names:
        assert store.head(name) == 1
        assert partitions(store.revisions(name)) == ["p1"]


def test_hostile_partitions_are_kept_as_they_are(store: HistoryStore) -> None:
    names = ["../../etc/passwd", "/", "%", "%2e%2e", "a\0b", "day=1/hour=2", "\n", "💧", "p" * 1000, "' or 1=1 --"]
    for at, name in enumerate(names):
        store.commit(a_small_run(name, seed=at))
    assert sorted(partitions(store.last("orders", 99))) == sorted(names)
    assert partitions(store.revisions("orders", "a\0b")) == ["a\0b"]


def test_many_threads_lose_nothing(reopen: Callable[..., HistoryStore]) -> None:
    def work(mine: int) -> None:
        store = reopen()
        for at in range(10):
            store.commit(a_small_run(f"{mine}-{at}", seed=mine))

    threads = [threading.Thread(target=work, args=(mine,)) for mine in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = reopen().revisions("orders")
    assert [each.sequence for each in found] == list(range(1, 41))
    assert len(set(partitions(found))) == 40


def test_as_of_reads_the_same_after_later_commits(store: HistoryStore) -> None:
    for at in range(5):
        store.commit(a_small_run(f"p{at}", seed=at))
    then = store.head("orders")
    before = store.last("orders", 3, as_of=then)
    store.commit(a_small_run("p3", seed=99))
    store.commit(a_small_run("p2b", seed=100))
    store.decide("orders", "p4", HELD)
    assert store.last("orders", 3, as_of=then) == before
    assert partitions(store.last("orders", 3)) == ["p2b", "p3", "p4"]
