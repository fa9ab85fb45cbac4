"""The past of a table: which runs are in it, in which order, and what it knows of each."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.learn.past import DEFAULT_RUNS, MIN_REFERENCE_RUNS, Past
from headgate.metrics.distances.value_l1 import ValueL1
from headgate.values.errors import HeadgateError, MisuseError
from headgate.values.key import MetricKey
from headgate.values.outcome import Measured, Outcome, Undefined
from headgate.values.run import Decision, Run
from tests.learn.histories import commit

TRUSTED = (Decision.PUBLISHED, Decision.ACCEPTED)
UNTRUSTED = (Decision.HELD, Decision.REJECTED, None)


def prices(*values: float) -> pa.Table:
    return pa.table({"price": list(values)})


def letters(text: str) -> hg.Analysis:
    return hg.analyze(pa.table({"letter": list(text)}))


def test_a_past_keeps_the_order_it_is_given() -> None:
    past = Past.of([hg.analyze(prices(day)) for day in (3.0, 1.0, 2.0)], partitions=["a", "b", "c"])
    assert past.partitions == ("a", "b", "c")
    assert past.series("mean(price)").tolist() == [3.0, 1.0, 2.0]
    assert len(past) == 3


def test_a_metric_that_a_run_lacks_is_nan_there_and_nowhere_else() -> None:
    both = pa.table({"price": [1.0], "weight": [2.0]})
    past = Past.of([hg.analyze(prices(1.0)), hg.analyze(both), hg.analyze(prices(1.0))])
    assert np.isnan(past.series("mean(weight)")).tolist() == [True, False, True]
    assert not np.isnan(past.series("mean(price)")).any()


def test_a_metric_without_a_value_is_nan() -> None:
    none = pa.table({"price": pa.array([None, None], pa.float64())})
    past = Past.of([hg.analyze(prices(4.0)), hg.analyze(none)])
    assert past.series("mean(price)")[0] == 4.0
    assert math.isnan(past.series("mean(price)")[1])
    assert past.series("completeness(price)").tolist() == [1.0, 0.0]


def test_a_distance_is_that_from_the_run_before() -> None:
    runs = [letters("aaaa"), letters("aabb"), letters("bbbb"), letters("bbbb")]
    found = Past.of(runs).series("value_l1(letter)")
    assert math.isnan(found[0])
    assert found[1:].tolist() == [1.0, 1.0, 0.0]


def test_a_batch_is_measured_against_the_newest_run() -> None:
    past = Past.of([letters("aaaa"), letters("bbbb")])
    assert past.outcomes(letters("aaaa"))[ValueL1("letter").key] == Measured(2.0)
    assert past.outcomes(letters("bbbb"))[ValueL1("letter").key] == Measured(0.0)


def test_only_the_distances_that_are_asked_for_are_followed() -> None:
    past = Past.of([letters("ab"), letters("ab")], distances=["pattern_l1"])
    names = {each.key.name for each in past.metrics if each.is_distance}
    assert names == {"pattern_l1"}


def test_a_distance_that_does_not_exist_is_told_with_those_that_do() -> None:
    with pytest.raises(MisuseError, match="value_l1"):
        Past.of([letters("ab"), letters("ab")], distances=["value_l3"])


def test_no_run_at_all_is_misuse() -> None:
    with pytest.raises(MisuseError, match="no past run"):
        Past.of([])
    with pytest.raises(HeadgateError, match="orders has no accepted run"):
        Past.read(hg.open_store("memory:"), "orders")


def test_a_metric_that_was_never_measured_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="mean"):
        Past.of([hg.analyze(prices(1.0))]).series("mean(weight)")


@pytest.mark.parametrize("decision", TRUSTED)
def test_a_run_that_was_published_or_accepted_is_in_the_past(decision: Decision) -> None:
    store = hg.open_store("memory:")
    commit(store, "1", prices(1.0), Decision.PUBLISHED)
    commit(store, "2", prices(2.0), decision)
    assert Past.read(store, "orders").partitions == ("1", "2")


@pytest.mark.parametrize("decision", UNTRUSTED)
def test_a_run_that_was_held_rejected_or_not_decided_never_is(decision: Decision | None) -> None:
    store = hg.open_store("memory:")
    commit(store, "1", prices(1.0), Decision.PUBLISHED)
    commit(store, "2", prices(999.0), decision)
    commit(store, "3", prices(3.0), Decision.PUBLISHED)
    past = Past.read(store, "orders")
    assert past.partitions == ("1", "3")
    assert past.series("mean(price)").tolist() == [1.0, 3.0]


def test_a_run_that_a_person_rejects_afterwards_leaves_the_past() -> None:
    store = hg.open_store("memory:")
    for day in "12":
        commit(store, day, prices(1.0), Decision.PUBLISHED)
    store.decide("orders", "2", Decision.REJECTED)
    assert Past.read(store, "orders").partitions == ("1",)


def test_a_held_run_that_a_person_accepts_joins_at_once() -> None:
    store = hg.open_store("memory:")
    commit(store, "1", prices(1.0), Decision.PUBLISHED)
    commit(store, "2", prices(2.0), Decision.HELD)
    store.decide("orders", "2", Decision.ACCEPTED)
    assert Past.read(store, "orders").partitions == ("1", "2")


def test_before_leaves_out_the_tested_partition_and_all_later_ones() -> None:
    store = hg.open_store("memory:")
    for day in ("9", "10", "11", "12"):
        commit(store, day, prices(float(day)), Decision.PUBLISHED)
    assert Past.read(store, "orders", before="11").partitions == ("9", "10")


def test_a_backfill_stands_where_its_partition_says() -> None:
    store = hg.open_store("memory:")
    for day in ("1", "3", "2"):
        commit(store, day, prices(float(day)), Decision.PUBLISHED)
    assert Past.read(store, "orders").series("mean(price)").tolist() == [1.0, 2.0, 3.0]


def test_only_the_last_so_many_runs_are_read() -> None:
    store = hg.open_store("memory:")
    for day in "12345":
        commit(store, day, prices(float(day)), Decision.PUBLISHED)
    assert Past.read(store, "orders", runs=2).partitions == ("4", "5")


@pytest.mark.parametrize(
    ("decision", "expected"), [*((each, 20.0) for each in TRUSTED), *((each, 2.0) for each in UNTRUSTED)]
)
def test_a_replaced_partition_counts_once_as_its_newest_trusted_revision(
    decision: Decision | None, expected: float
) -> None:
    store = hg.open_store("memory:")
    commit(store, "1", prices(1.0), Decision.PUBLISHED)
    commit(store, "2", prices(2.0), Decision.PUBLISHED)
    commit(store, "2", prices(20.0), decision, fingerprint="repaired")
    past = Past.read(store, "orders")
    assert past.partitions == ("1", "2")
    assert past.series("mean(price)").tolist() == [1.0, expected]


def test_what_was_read_as_of_a_commit_does_not_change() -> None:
    store = hg.open_store("memory:")
    commit(store, "1", prices(1.0), Decision.PUBLISHED)
    head = store.head("orders")
    commit(store, "2", prices(2.0), Decision.PUBLISHED)
    assert Past.read(store, "orders", as_of=head).partitions == ("1",)


def test_a_past_that_is_read_equals_that_of_its_analyses() -> None:
    store = hg.open_store("memory:")
    tables = [pa.table({"price": [1.0, 2.0 + day], "letter": ["a", "ab"[day % 2]]}) for day in range(4)]
    for day, table in enumerate(tables):
        commit(store, str(day), table, Decision.PUBLISHED)
    read, made = Past.read(store, "orders"), Past.of(list(map(hg.analyze, tables)))
    assert {each.key for each in read.metrics} == {each.key for each in made.metrics}
    for each in made.metrics:
        np.testing.assert_array_equal(read.series(each.key), made.series(each.key))
    assert read.schemas == made.schemas


def test_a_new_batch_is_measured_against_a_past_that_is_read() -> None:
    store = hg.open_store("memory:")
    commit(store, "1", pa.table({"letter": list("aabb")}), Decision.PUBLISHED)
    commit(store, "2", pa.table({"letter": list("aabb")}), Decision.PUBLISHED)
    assert Past.read(store, "orders").outcomes(letters("aaaa"))[ValueL1("letter").key] == Measured(1.0)


# --- what no run had before, and what did not change


def of_letter(past: Past, text: str, name: str) -> Outcome | None:
    return past.outcomes(letters(text)).get(MetricKey(name, ("letter",)))


def test_new_values_are_those_that_no_run_had_not_only_the_last() -> None:
    past = Past.of([letters(text) for text in ("ab", "ac", "ad", "ae", "aa")])
    assert of_letter(past, "bcde", "new_values") == Measured(0.0)
    assert of_letter(past, "bcxx", "new_values") == Measured(0.5)


def test_nothing_is_called_new_before_there_are_a_few_runs() -> None:
    runs = [letters("ab")] * (MIN_REFERENCE_RUNS + 2)
    assert of_letter(Past.of(runs[: MIN_REFERENCE_RUNS - 1]), "zz", "new_values") is None
    assert of_letter(Past.of(runs[:MIN_REFERENCE_RUNS]), "zz", "new_values") == Measured(1.0)
    found = np.isnan(Past.of(runs).series("new_values(letter)"))
    assert found.tolist() == [True] * MIN_REFERENCE_RUNS + [False] * 2


def test_the_series_of_new_values_is_that_of_each_run_against_all_before_it() -> None:
    past = Past.of([letters(text) for text in ("ab", "ab", "ab", "ab", "ab", "az", "zz", "yz")])
    assert past.series("new_values(letter)")[5:].tolist() == [0.5, 0.0, 0.5]


def test_a_run_that_is_not_trusted_makes_nothing_known() -> None:
    runs = [letters(text) for text in ("ab", "ab", "ab", "ab", "ab", "zz", "zz")]
    past = Past.of(runs, trusted=[True] * 5 + [False, True])
    assert past.series("new_values(letter)")[5:].tolist() == [1.0, 1.0]


def test_new_patterns_are_new_ways_of_writing_and_not_new_values() -> None:
    past = Past.of([hg.analyze(pa.table({"code": [f"A-{day}", f"B-{day}"]})) for day in range(6)])
    now = past.outcomes(hg.analyze(pa.table({"code": ["C-9", "C/9"]})))
    assert now[MetricKey("new_patterns", ("code",))] == Measured(0.5)
    assert now[MetricKey("new_values", ("code",))] == Measured(1.0)


def test_where_the_runs_hold_more_values_than_are_kept_what_is_new_is_not_known() -> None:
    many = pa.table({"letter": [f"v{at}" for at in range(600)]})
    past = Past.of([hg.analyze(many)] * 6)
    assert isinstance(of_letter(past, "ab", "new_values"), Undefined)
    assert "new_values" not in {each.key.name for each in past.metrics}


def test_unchanged_tells_a_batch_that_is_the_one_before_it() -> None:
    past = Past.of([letters("ab"), letters("aab"), letters("baa"), letters("ab")])
    assert past.series("unchanged(letter)")[1:].tolist() == [0.0, 1.0, 0.0]
    assert of_letter(past, "ba", "unchanged") == Measured(1.0)
    assert of_letter(past, "aab", "unchanged") == Measured(0.0)
    assert isinstance(of_letter(past, "", "unchanged"), Undefined | None)


@pytest.mark.parametrize("name", ["new_values", "new_patterns", "unchanged"])
def test_a_store_that_hides_values_tells_what_is_new_as_one_that_does_not(name: str) -> None:
    found = []
    for values in ("hidden", "plain"):
        store = hg.open_store("memory:", values=values)  # type: ignore[arg-type]
        for day in range(MIN_REFERENCE_RUNS + 1):
            commit(store, str(day), pa.table({"letter": ["a", "b", "ab-1"][: 2 + day % 2]}), Decision.PUBLISHED)
        past = Past.read(store, "orders")
        found.append(
            (past.series(f"{name}(letter)").tolist()[1:], [of_letter(past, text, name) for text in ("ab", "az?")])
        )
    assert str(found[0]) == str(found[1])
    assert Measured(0.0) in found[0][1]


def test_distances_of_a_long_history_are_measured_from_the_last_30_runs() -> None:
    tables = [pa.table({"code": [f"{day:02}", "a", "b"]}) for day in range(DEFAULT_RUNS + 2)]
    tables.append(pa.table({"code": ["00", "a", "b"]}))  # the new value of the first run, which is forgotten by now
    found = [hg.analyze(each) for each in tables]
    runs = [
        Run(
            dataset="codes",
            partition=f"{day:02}",
            fingerprint=str(day),
            schema=each.schema,
            outcomes=each.outcomes,
            states=each.states,
        )
        for day, each in enumerate(found)
    ]
    series = Past.of_runs(runs).series("new_values(code)")
    assert series[-1] == series[-2] > 0
