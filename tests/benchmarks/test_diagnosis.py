"""The benchmark of diagnoses: each fault does what its name says, figures are counted right, a tiny run works."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.diagnosis import cost, incidents, page, protocol, scoring, summary
from benchmarks.diagnosis.cases import list_cases, load_case
from benchmarks.diagnosis.faults.catalog import CASES, COLUMN_FAULTS, FAULTS, KNOWN_IN_COLUMNS, break_batch
from benchmarks.diagnosis.faults.fault import BrokenBatch, Part, SourceBatch
from benchmarks.diagnosis.faults.segments import draw_segment
from benchmarks.diagnosis.repairs import equals, has_inverse
from benchmarks.gate import good_batches
from benchmarks.history.feeds import Feed
from headgate.gate.gate import Gate
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.store.memory import MemoryStore
from tests.gate.orders import named, orders

ROWS = 120


def batch(day: int) -> pa.Table:
    random = np.random.default_rng(day)
    at = datetime.datetime(2026, 11, day, 9)
    city = random.choice(["Århus", "Lisboa", "Zürich", "Ottawa"], ROWS)
    return pa.table(
        {
            "id": np.arange(ROWS) + 1_000 * day,
            "price": np.round(random.lognormal(3.0, 0.5, ROWS), 2),
            "cost": np.where(np.arange(ROWS) % 10, np.round(random.lognormal(5.0, 0.5, ROWS), 2), np.nan),
            "stock": random.integers(50, 900, ROWS),
            "city": city.tolist(),
            "land": [{"Århus": "DK", "Lisboa": "PT", "Zürich": "CH", "Ottawa": "CA"}[each] for each in city],
            "paid": [f"{1 + each % 27:02}/11/2026" for each in range(ROWS)],
            "at": [at + datetime.timedelta(minutes=int(each)) for each in random.integers(0, 600, ROWS)],
            "note": pa.nulls(ROWS),
            "is_new": (random.random(ROWS) < 0.4).tolist(),
        }
    ).set_column(2, "cost", pa.array([None if not at % 10 else 20.0 + at * 1.5 for at in range(ROWS)]))


SOURCE = SourceBatch(batch(4), tuple((f"2026-11-0{day}", batch(day)) for day in (1, 2, 3)))


def put(case: str, seed: int = 0) -> BrokenBatch:
    broken = break_batch(case, SOURCE, np.random.default_rng(seed))
    assert broken is not None
    return broken


def put_into_all(case: str) -> tuple[pa.Table, Part]:
    """The fault in all rows of a column, from the first seed that puts it there."""
    drawn = (put(case, seed) for seed in range(50))
    return next((each.table, each.parts[0]) for each in drawn if each.parts[0].segment is None)


@pytest.mark.parametrize("case", CASES)
def test_a_fault_changes_a_batch_and_is_the_same_every_time(case: str) -> None:
    broken = put(case, 7)
    assert broken.table.equals(put(case, 7).table)
    assert not broken.table.equals(SOURCE.table)


@pytest.mark.parametrize("name", COLUMN_FAULTS)
@pytest.mark.parametrize("seed", range(4))
def test_a_column_fault_changes_its_column_alone_and_its_segment_alone(name: str, seed: int) -> None:
    broken = put(name, seed)
    (part,) = broken.parts
    assert part.canonical == COLUMN_FAULTS[name].canonical
    (hit,) = part.columns
    for column in SOURCE.table.column_names:
        assert column == hit or broken.table[column].equals(SOURCE.table[column])
    if part.segment is not None:
        column, value = part.segment
        outside = pc.not_equal(SOURCE.table[column].cast(pa.string()), value)
        assert broken.table.filter(outside).equals(SOURCE.table.filter(outside))
        assert broken.table.schema.equals(SOURCE.table.schema)


def test_there_are_enough_faults() -> None:
    names = {fault.canonical for fault in FAULTS.values()} - {""}
    assert len(names) >= 20
    assert len(FAULTS) - sum(bool(fault.canonical) for fault in FAULTS.values()) >= 5
    assert all(fault.canonical for fault in KNOWN_IN_COLUMNS)


def test_parameters_are_those_that_were_used() -> None:
    table, part = put_into_all("scaled by an unknown factor")
    before, after = SOURCE.table[part.columns[0]].drop_null(), table[part.columns[0]].drop_null()
    assert pc.sum(after).as_py() == pytest.approx(pc.sum(before).as_py() * float(part.parameters["factor"]), rel=0.01)
    table, part = put_into_all("shifted")
    moved = pc.mean(table[part.columns[0]]).as_py() - pc.mean(SOURCE.table[part.columns[0]]).as_py()
    assert moved == pytest.approx(part.parameters["offset"])
    table, part = put_into_all("times shifted")
    moved_by = table["at"][0].as_py() - SOURCE.table["at"][0].as_py()
    assert moved_by.total_seconds() == part.parameters["seconds"]
    table, part = put_into_all("truncated")
    assert pc.max(pc.utf8_length(table[part.columns[0]])).as_py() == part.parameters["characters"]


def test_values_of_each_kind_of_column_change_as_said() -> None:
    table, part = put_into_all("sign flipped")
    assert pc.max(table[part.columns[0]]).as_py() < 0
    table, _ = put_into_all("UTF-8 as Latin-1")
    assert "Ã\x85rhus" in table["city"].to_pylist()
    table, part = put_into_all("day and month swapped")
    if part.columns == ("at",):
        assert table["at"][0].as_py().month == 4
    table, part = put_into_all("constant")
    assert pc.count_distinct(table[part.columns[0]], mode="all").as_py() == 1
    table, part = put_into_all("numbers as text")
    assert table.schema.field(part.columns[0]).type == pa.string()
    table, _ = put_into_all("text dates in another format")
    assert table["paid"][0].as_py() != SOURCE.table["paid"][0].as_py()


def test_rows_are_missing_repeated_or_of_another_batch() -> None:
    assert len(put("rows missing at random").table) < ROWS
    lost = put("a segment missing")
    assert lost.parts[0].segment is not None
    column, value = lost.parts[0].segment
    assert value not in lost.table[column].cast(pa.string()).to_pylist()
    copies = put("all rows again")
    assert len(copies.table) == ROWS * float(copies.parts[0].parameters["copies"])
    stale = put("an earlier batch again")
    assert stale.table.equals(dict(SOURCE.earlier)[str(stale.parts[0].parameters["partition"])])
    added = put("rows of another partition added")
    assert added.table.slice(0, ROWS).equals(SOURCE.table)


def test_the_schema_and_the_file_change_as_said() -> None:
    missing = put("column missing")
    assert set(SOURCE.table.column_names) - set(missing.table.column_names) == set(missing.parts[0].columns)
    renamed = put("column renamed")
    assert renamed.parts[0].parameters["name"] in renamed.table.column_names
    assert put("wrong delimiter").table.num_columns == 1
    assert put("an error page").table.column_names == ["<!DOCTYPE html>"]
    assert SOURCE.table.column_names in [list(row.values()) for row in put("header in the data").table.to_pylist()]
    first, second = (swapped := put("columns swapped", 3)).parts[0].columns
    assert swapped.table[first][0].as_py() in (SOURCE.table[second][0].as_py(), SOURCE.table[first][0].as_py())


def test_a_segment_names_others_of_the_same_rows() -> None:
    segment = draw_segment(SOURCE.table, ("land", "paid"), np.random.default_rng(0))
    assert segment is not None
    assert segment.segment[0] == "city"
    segment = draw_segment(SOURCE.table, ("paid",), np.random.default_rng(0))
    assert segment is not None
    assert {segment.segment[0], segment.same_rows[0][0]} == {"city", "land"}


def make_row(canonical: str, diagnoses: list[dict[str, Any]], **given: Any) -> dict[str, Any]:
    part = {"canonical": canonical, "columns": ["a"], "parameters": {}, "segment": None, "same_rows": [], **given}
    parts = given.pop("parts", [part])
    about = {"feed": "made/up", "fault": canonical or "shuffled", "canonical": canonical, "held": True}
    return {**about, "parts": parts, "diagnoses": diagnoses}


def diagnose(fault: str, **given: Any) -> dict[str, Any]:
    return {"fault": fault, "columns": ["a"], "parameters": {}, "segment": [], "confidence": 0.5, "others": [], **given}


def test_figures_of_a_list_made_by_hand() -> None:
    scaled = {"parameters": {"factor": 100.0}}
    rows = [
        make_row("scaled", [diagnose("scaled", parameters={"factor": 104.0}, columns=["a", "b"])], **scaled),
        make_row("scaled", [diagnose("scaled", parameters={"factor": 106.0})], **scaled),
        make_row("scaled", [diagnose("shifted", others=["scaled"], confidence=0.9)], **scaled),
        make_row("nulls", [diagnose("nulls", segment=[["x", "1"]])], segment=["x", "1"]),
        make_row("nulls", [diagnose("nulls", segment=[["y", "2"]])], segment=["x", "1"], same_rows=[["y", "2"]]),
        make_row("nulls", [], segment=["x", "1"]),
        make_row("", []),
        make_row("", [diagnose("padding", confidence=0.8)]),
        {**make_row("", []), "fault": "", "parts": []},
        {**make_row("scaled", []), "held": False},
    ]
    for row, (passes, is_equal) in zip(rows, ((True, True), (True, False), (False, False)), strict=False):
        row["repair"] = {"passes": passes, "equals": is_equal, "estimated": False, "repairs": []}
    found = {name: (share.held, share.judged) for name, share in summary.measure(rows).items()}
    assert found == {
        "faults held": (8, 9),
        "named first": (4, 6),
        "named within three": (5, 6),
        "single fault, named first": (4, 6),
        "single fault, named within three": (5, 6),
        "right columns": (3, 4),
        "first column right": (4, 4),
        "parameter within 5%": (1, 2),
        "segment exactly right": (2, 2),
        "fault and segment right": (2, 3),
        "segment claimed without one": (0, 2),
        "wrong confident names": (2, 8),
        "unknown faults, no diagnosis": (1, 2),
        "good batches held, no diagnosis": (1, 1),
        "good batches held, no fault of values or rows": (1, 1),
        "repaired, passes and is equal": (1, 3),
        "repair passes and is not equal": (1, 3),
        "the same, and is no estimate": (1, 3),
    }
    assert summary.measure_groups(rows)["chosen on"]["named first"].judged == 0
    incident = {"row": 1, "feed": "made/up", "partition": "1", "description": "fewer rows", "runs": 30}
    said = {"before": "price: mean 3", "after": "40.0% of the rows are missing"}
    cost = {"columns": 50, "rows": 9, "runs": 30, "rounds": 7, "versions": {"python": "3.11", "cores": "2"}}
    cost["faults"] = {"all rows twice": {"from states": 0.05, "rows": 0.001}}
    kept = {"seconds": 1.0, "cpu": 1.0, "bytes": 1_000}
    cost["segments"] = {"without": kept, "with": {**kept, "bytes": 3_000}, "by": "c02", "values": 5}
    text = "\n".join(page.make_page(rows, rows, [{**incident, **said}], cost))
    assert "| nulls | 3 | 67% | no diagnosis 1 |" in text
    assert text.count("\n## ") == 6
    assert "names the cause of 1 of the 1 incidents" in text
    assert "| all rows twice | 50 ms | 1 ms |" in text


def test_a_mixture_is_right_if_each_of_its_faults_is_named() -> None:
    parts = [make_row(name, [], columns=[column])["parts"][0] for name, column in (("scaled", "a"), ("nulls", "b"))]
    both = [diagnose("nulls", columns=["b"]), diagnose("scaled")]
    assert scoring.is_named_first(make_row("scaled + nulls", both, parts=parts))
    assert not scoring.is_named_first(make_row("scaled + nulls", both[:1], parts=parts))
    assert len(scoring.list_named_parts(make_row("scaled + nulls", both, parts=parts))) == 2


def test_a_tiny_run_keeps_cases_that_can_be_loaded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    feed = Feed("made", "up", Path())
    monkeypatch.setattr(protocol, "list_good_batches", lambda *_: [(named(day), orders(day)) for day in range(9)])
    monkeypatch.setattr(good_batches, "tails_for", lambda _: load_pooled_rates())
    cases = ("scaled by a known factor", "column missing", "all rows again", "shuffled", "mixture 1")
    plan = protocol.Plan(history=8, broken=1, cases=cases, cache=tmp_path)
    rows = protocol.judge_feed(feed, 0.01, plan)
    assert [row["case"] for row in rows if row["fault"]] == [case for case in cases if case in _names(rows)]
    assert sum(not row["fault"] for row in rows) == 9
    assert protocol.judge_feed(feed, 0.01, plan) == rows
    kept = [load_case(file) for file in list_cases(tmp_path, ["made"])]
    assert len(kept) == sum(row["held"] for row in rows if row["fault"])
    missing = next(case for case in kept if case.row["fault"] == "column missing")
    assert missing.original is not None
    assert missing.original.equals(orders(8))
    assert missing.broken is None
    assert missing.evidence.learned.past is not None
    assert missing.evidence.verdict.failures
    twice = next(case for case in kept if case.row["fault"] == "all rows again")
    assert twice.broken is not None
    assert len(twice.broken) > len(orders(8))


def test_a_repaired_table_equals_the_good_one_in_any_order_and_up_to_rounding() -> None:
    table = SOURCE.table
    assert equals(table, table)
    assert equals(table.take(np.arange(ROWS)[::-1]), table)
    divided = pc.divide(pc.multiply(table["price"], 1.609344), 1.609344)
    assert equals(table.set_column(1, "price", divided), table)
    assert not equals(table.set_column(1, "price", pc.add(table["price"], 0.01)), table)
    assert not equals(table.slice(1), table)
    assert not equals(table.rename_columns([*table.column_names[:-1], "other"]), table)


def test_a_held_fault_with_an_inverse_is_repaired() -> None:
    gate = Gate("up", store=MemoryStore())
    for day in range(8):
        gate.judge(batch(day + 1), f"2026-11-{day + 1:02}")
    good = batch(9)
    cents = good.set_column(1, "price", pc.multiply(good["price"], 100.0))
    broken = BrokenBatch("scaled", cents, (Part("scaled", ("price",), {"factor": 100.0}),))
    assert has_inverse(broken, good)
    assert not has_inverse(broken._replace(parts=(*broken.parts, Part("nulls", ("stock",)))), good)
    row = protocol._judge_and_reject(gate, "2026-11-09", broken, good)
    assert row["held"]
    assert row["repair"] == {
        "passes": True,
        "equals": True,
        "estimated": False,
        "repairs": ["price is divided by 100"],
    }


def test_what_was_rounded_or_written_in_upper_case_may_have_no_inverse() -> None:
    good = batch(9)
    halves = pc.round(pc.multiply(good["stock"], 0.3)).cast(pa.int64())
    rounded = good.set_column(3, "stock", halves)
    assert not has_inverse(BrokenBatch("scaled", rounded, (Part("scaled", ("stock",), {"factor": 0.3}),)), good)
    three = good.set_column(3, "stock", pc.multiply(good["stock"], 3))
    assert has_inverse(BrokenBatch("scaled", three, (Part("scaled", ("stock",), {"factor": 3.0}),)), good)
    upper = good.set_column(4, "city", pc.utf8_upper(good["city"]))
    assert has_inverse(BrokenBatch("casing", upper, (Part("casing", ("city",)),)), good)
    names = pa.array(["McDonald", "O'Hare", None] * (ROWS // 3))
    mixed = good.set_column(4, "city", names)
    upper = good.set_column(4, "city", pc.utf8_upper(names))
    assert not has_inverse(BrokenBatch("casing", upper, (Part("casing", ("city",)),)), mixed)


def test_the_cost_of_a_diagnosis_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "HISTORY", 8)
    monkeypatch.setattr(cost, "WARM", 1)
    found = cost.measure_cost(columns=5, rows=400, rounds=1)
    twice = found["faults"]["all rows twice"]
    assert "every row is there twice" in twice["headline"]
    assert 0 < twice["from states"] < 5
    assert found["segments"]["with"]["bytes"] > found["segments"]["without"]["bytes"]


def test_incidents_are_named_by_the_first_batch_that_can_be_revealed() -> None:
    row = {"row": 4, "partition": "1", "runs": 30, "before": "price: mean 3", "after": "the rows of 3 came again"}
    row |= {"feed": "made/up", "description": "the same rows again"}
    known = dict(row, after="the batch is a copy of 2020-03-22")
    assert incidents.count_named([known, dict(row, partition="2")], "after") == (1, 1)
    assert incidents.count_named([known, known], "before") == (0, 1)
    assert incidents.count_named([dict(row, runs=3)], "after") == (0, 0)
    assert "-+ 4 made/up 1" in incidents.format_incidents([known])
    assert not incidents.names_cause(row, "")


def test_the_words_of_each_incident_are_written_down() -> None:
    words = incidents.read_words()
    assert sorted(words) == list(range(1, 48))
    assert all(each.note and each.pattern.pattern for each in words.values())


def _names(rows: list[dict[str, Any]]) -> set[str]:
    return {row["case"] for row in rows}


def test_an_error_of_the_gate_counts_as_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no verdict")

    monkeypatch.setattr(protocol, "_judge", fail)
    row = protocol._judge_and_reject(None, "2026-11-01", put("shuffled"), SOURCE.table)  # type: ignore[arg-type]
    assert not row["held"]
    assert row["error"] == "ValueError('no verdict')"


def test_the_package_rates_leave_out_a_dataset() -> None:
    rates = load_pooled_rates()
    folder = next(iter(rates.tables)).partition("/")[0]
    left = protocol.drop_dataset(rates, folder).tables
    assert left
    assert not [name for name in left if name.startswith(f"{folder}/")]


def test_a_good_batch_that_is_held_is_kept_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    good = [(named(day), orders(day)) for day in range(8)]
    good.append((named(8), orders(8).slice(0, 3)))
    monkeypatch.setattr(protocol, "list_good_batches", lambda *_: good)
    plan = protocol.Plan(history=9, broken=1, cache=tmp_path, packaged_rates=True)
    protocol.judge_feed(Feed("made", "up", Path()), 0.01, plan)
    kept = [load_case(file) for file in list_cases(tmp_path)]
    assert [case.row["fault"] for case in kept] == [""]
    assert kept[0].evidence.verdict.failures
