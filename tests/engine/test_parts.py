"""Parts: one scan for all of them, and any combination without another."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import headgate as hg
from headgate.engine import parted_scan
from headgate.engine.parts import Parts
from headgate.values.errors import CorruptBytes, MisuseError
from headgate.values.outcome import Failed, Measured
from tests.pages import terminal
from tests.store.runs import a_run

METRICS = ("size()", "mean(price)", "stddev(price)", "completeness(price)", "approx_count_distinct(name)")
EXACT = ("uniqueness(name)", "entropy(name)", "mutual_information(name, region)", "count_distinct(name)")


def a_table(rows: int = 600, seed: int = 0) -> pa.Table:
    chance = np.random.default_rng(seed)
    return pa.table(
        {
            "region": pa.array([["EU", "US", None][at] for at in chance.integers(0, 3, rows)]),
            "day": pa.array(chance.integers(1, 5, rows)),
            "price": pa.array(chance.normal(10, 2, rows), mask=chance.random(rows) < 0.1),
            "name": pa.array([f"n{at}" for at in chance.integers(0, 400, rows)]),
        }
    )


def rows_where(table: pa.Table, **wanted: Any) -> pa.Table:
    keep = [
        all(row[name] in (value if isinstance(value, list) else [value]) for name, value in wanted.items())
        for row in table.select(list(wanted)).to_pylist()
    ]
    return table.filter(pa.array(keep))


def assert_same(one: hg.Analysis, two: hg.Analysis) -> None:
    assert list(one) == list(two)
    for key, outcome in one.items():
        other = two[key]
        if isinstance(outcome, Measured) and isinstance(other, Measured):
            assert outcome.value == pytest.approx(other.value, rel=1e-12), str(key)
        else:
            assert outcome == other, str(key)


@pytest.mark.parametrize("waiting", [0, 1 << 30])
def test_every_part_is_what_its_rows_alone_would_be(waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parted_scan, "WAITING", waiting)
    table = a_table()
    parts = hg.analyze(table, [*METRICS, *EXACT], by=["region", "day"])
    assert len(parts) == 12
    assert (None, "1") in parts
    for region, day in parts:
        alone = rows_where(table, region=region, day=int(day or 0))
        assert_same(parts[region, day], hg.analyze(alone, [*METRICS, *EXACT]))


def test_a_view_is_what_a_scan_of_its_rows_would_be() -> None:
    table = a_table()
    parts = hg.analyze(table, [*METRICS, *EXACT], by=["region", "day"])
    assert_same(parts.view(), hg.analyze(table, [*METRICS, *EXACT]))
    eu = rows_where(table, region="EU", day=[1, 2])
    assert_same(parts.view(region="EU", day=[1, 2]), hg.analyze(eu, [*METRICS, *EXACT]))
    assert_same(parts.view(region="EU", day=lambda day: day < "3"), hg.analyze(eu, [*METRICS, *EXACT]))
    assert_same(parts.view([("EU", "1"), ("EU", "2")]), hg.analyze(eu, [*METRICS, *EXACT]))
    assert_same(parts.view(region=None), hg.analyze(rows_where(table, region=None), [*METRICS, *EXACT]))


def test_a_view_of_no_part_is_an_empty_batch() -> None:
    parts = hg.analyze(a_table(), METRICS, by="day")
    assert_same(parts.view(day="99"), hg.analyze(a_table().slice(0, 0), METRICS))


def test_a_view_merges_only_what_is_asked() -> None:
    view = hg.analyze(a_table(), METRICS, by="day").view(metrics=["mean(price)", hg.Variance("price")])
    assert [str(key) for key in view] == ["mean(price)", "variance(price)"]
    assert [str(key) for key in view.states] == ["moments(price)"]


def test_appending_adds_rows_to_parts_and_new_parts() -> None:
    one, two = a_table(seed=1), a_table(seed=2)
    both = hg.analyze(one, [*METRICS, *EXACT], by="day") + hg.analyze(two, [*METRICS, *EXACT], by="day")
    whole = hg.analyze(pa.concat_tables([one, two]), [*METRICS, *EXACT], by="day")
    assert list(both) == list(whole)
    for part in whole:
        assert_same(both[part], whole[part])


def test_replacing_a_part_leaves_no_trace_of_the_old_one() -> None:
    old, new = a_table(seed=1), rows_where(a_table(seed=2), day=2)
    parts = hg.analyze(old, METRICS, by="day") | hg.analyze(new, METRICS, by="day")
    now = pa.concat_tables([rows_where(old, day=[1, 3, 4]), new])
    assert_same(parts.view(), hg.analyze(now, METRICS))


def test_parts_can_be_taken_away() -> None:
    table = a_table()
    parts = hg.analyze(table, METRICS, by="day").without(day=["1", "2"])
    assert list(parts) == [("3",), ("4",)]
    assert_same(parts.view(), hg.analyze(rows_where(table, day=[3, 4]), METRICS))


def test_keys_may_be_dates_booleans_numbers_and_text() -> None:
    table = pa.table({"d": [date(2026, 11, 14)], "b": [True], "i": [7], "s": ["x/y=z"], "v": [1.0]})
    parts = hg.analyze(table, ["size()"], by=["d", "b", "i", "s"])
    assert list(parts) == [("2026-11-14", "true", "7", "x/y=z")]
    assert parts.view(d=date(2026, 11, 14), b=True, i=7).value("size()") == 1
    assert parts.partition(next(iter(parts))) == "d=2026-11-14/b=true/i=7/s=x%2Fy%3Dz"


def test_parts_stand_in_the_order_of_their_keys() -> None:
    table = pa.table({"week": ["week 10", "week 9", None, "week 1"]})
    assert list(hg.analyze(table, ["size()"], by="week")) == [(None,), ("week 1",), ("week 9",), ("week 10",)]


def test_misuse_is_told() -> None:
    table = a_table()
    with pytest.raises(MisuseError, match=r"'regoin'.*Did you mean 'region'"):
        hg.analyze(table, METRICS, by="regoin")
    with pytest.raises(MisuseError, match="'price' is a double column"):
        hg.analyze(table, METRICS, by="price")
    with pytest.raises(MisuseError, match="by names no column"):
        hg.analyze(table, METRICS, by=[])
    parts = hg.analyze(table, METRICS, by="day")
    with pytest.raises(MisuseError, match="not by 'region'"):
        parts.view(region="EU")
    with pytest.raises(MisuseError, match="do not answer max_length"):
        parts.view(metrics=["max_length(name)"])
    with pytest.raises(MisuseError, match="no part"):
        parts.view(["9"])
    with pytest.raises(KeyError, match="no part"):
        parts["9"]
    with pytest.raises(MisuseError, match="do not go together"):
        parts | hg.analyze(table, METRICS, by="region")


def test_a_metric_that_only_some_parts_have_fails_in_all() -> None:
    parts = hg.analyze(a_table(), ["size()"], by="day") | hg.analyze(a_table(), METRICS, by="day")
    assert isinstance(parts.view()["mean(price)"], Failed)
    assert parts.view().value("size()") == 600


def test_a_metric_that_failed_stays_failed_in_every_view() -> None:
    parts = hg.analyze(a_table(), ["mean(absent)", "size()"], by="day")
    assert isinstance(parts.view(day="1")["mean(absent)"], Failed)
    assert isinstance((parts + parts)["1"]["mean(absent)"], Failed)


def test_parts_save_and_load() -> None:
    parts = hg.analyze(a_table(), [*METRICS, *EXACT, "mean(absent)"], by=["region", "day"])
    again = Parts.from_bytes(parts.to_bytes())
    assert again.by == parts.by
    assert list(again) == list(parts)
    for part in parts:
        assert again[part].states == parts[part].states
    assert_same(again.view(region="EU"), parts.view(region="EU"))
    with pytest.raises(CorruptBytes):
        Parts.from_bytes(parts.to_bytes()[:-1])
    with pytest.raises(CorruptBytes, match="hold a analysis, not parts"):
        Parts.from_bytes(hg.analyze(a_table(), METRICS).to_bytes())


def test_a_task_holds_few_parts_and_sends_the_oldest_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parted_scan, "HELD", 10)
    from headgate.engine.plan import make_plan

    table = a_table()
    plan = make_plan(hg.analyze(table, METRICS).schema, METRICS, by=["day"])
    scan = parted_scan.PartedScan(plan)
    sent = []
    for day in (1, 2, 3, 4, 1):
        rows = rows_where(table, day=day)
        columns = [rows.column(plan.schema.columns[at].label) for at in plan.columns]
        scan.add([rows.column("day")], [*columns, pa.repeat(True, len(rows))])
        sent += [part for part, _, _ in scan.heavy()]
    assert list(dict.fromkeys(sent)) == [("1",), ("2",), ("3",)]
    assert {part for part, _, _ in scan.states()} == {("4",), ("1",)}


def test_parts_print_with_their_sizes() -> None:
    shown = repr(hg.analyze(a_table(), METRICS, by=["region", "day"]))
    assert shown.startswith("12 parts by region, day: 5 metrics of each")
    assert "null" in shown
    assert "size()" in shown
    assert "<table" in hg.analyze(a_table(), METRICS, by="day")._repr_html_()
    assert "parts by day" in terminal(hg.analyze(a_table(), METRICS, by="day"))


def test_parts_are_read_from_a_store() -> None:
    store = hg.open_store("memory:")
    table = a_table()
    parts = hg.analyze(table, METRICS, by=["region", "day"])
    for part, analysis in parts.items():
        store.commit(
            hg.Run(
                dataset="orders",
                partition=parts.partition(part),
                fingerprint="1",
                schema=analysis.schema,
                outcomes=analysis.outcomes,
                states=analysis.states,
            )
        )
    again = Parts.read(store, store.last("orders", 99))
    assert again.by == ("region", "day")
    assert_same(again.view(region="EU", metrics=METRICS), parts.view(region="EU"))
    assert list(Parts.read(store, store.last("orders", 99), ["mean(price)"]).view()) == [hg.Mean("price").key]
    store.commit(a_run("2026-11-14", dataset="plain"))
    assert list(Parts.read(store, store.last("plain", 9))) == [("2026-11-14",)]
    assert len(Parts.read(store, ())) == 0


def test_a_stored_run_of_no_rows_is_part_of_a_view() -> None:
    store = hg.open_store("memory:")
    for day, rows in (("mon", a_table()), ("tue", a_table().slice(0, 0))):
        found = hg.analyze(rows, METRICS)
        store.commit(
            hg.Run(dataset="orders", partition=day, fingerprint="1", outcomes=found.outcomes, states=found.states)
        )
    parts = Parts.read(store, store.last("orders", 9), METRICS)
    assert_same(parts.view(), hg.analyze(a_table(), METRICS))
    lacking = Parts.read(store, store.last("orders", 9), [*METRICS, "max_length(name)"]).view()
    assert isinstance(lacking["max_length(name)"], Failed)
