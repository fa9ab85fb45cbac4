"""A held batch is scanned once more and the rows of its faults are named; a failure of that changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import headgate.diagnose.locate as locate
from headgate.engine.analyze import analyze
from headgate.gate.batch_verdict import BatchVerdict
from headgate.gate.gate import Gate
from headgate.metrics.base.hashing import hash_label
from headgate.metrics.base.registry import default_metrics
from headgate.metrics.size import Size
from headgate.store.memory import MemoryStore
from headgate.values.account import Action
from headgate.values.diagnosis import Diagnosis
from headgate.values.errors import EngineError

DAYS, ROWS = 14, 3_000
SECRET = b"flights!" * 4
CARRIERS = {"AA": 0.3, "DL": 0.25, "EV": 0.2, "UA": 0.15, "WN": 0.1}
CITIES = ("New York", "Chicago", "Boston", "Springfield")

Mask = npt.NDArray[np.bool_]
Change = Callable[[pa.Array], pa.Array]


def name_day(day: int) -> str:
    return f"2026-03-{day + 1:02}"


@cache
def fly(day: int) -> pa.Table:
    """The flights of one day."""
    random = np.random.default_rng([7, day])
    seconds = 32_000 + random.beta(3, 3, ROWS) * 20_000
    start = np.datetime64(name_day(day), "us")
    price = np.round(random.lognormal(3.5, 0.5, ROWS), 2)
    return pa.table(
        {
            "id": pa.array(random.permutation(ROWS) + day * ROWS),
            "carrier": pa.array(random.choice(list(CARRIERS), ROWS, p=list(CARRIERS.values()))),
            "origin": pa.array(random.choice(["JFK", "LGA", "EWR"], ROWS)),
            "weekday": pa.array(random.integers(0, 7, ROWS)),
            "city": pa.array(random.choice(CITIES, ROWS, p=[0.4, 0.3, 0.2, 0.1])),
            "page": pa.array(random.choice(["Home", "Cart", "Help"], ROWS, p=[0.6, 0.3, 0.1])),
            "price": pa.array(price, mask=random.random(ROWS) < 0.02),
            "distance": pa.array(np.round(random.normal(1_000, 60, ROWS))),
            "departure": pa.array(start + seconds.astype("timedelta64[s]")),
        }
    )


@cache
def open_gate(hide: bool, mode: str) -> Gate:
    """A gate that knows two weeks. It learns once, since tests decide nothing."""
    gate = Gate("flights", store=MemoryStore(hide=hide, secret=SECRET), learn=["history"], false_alarms=0.05, mode=mode)
    for day in range(DAYS):
        if not gate.judge(fly(day), name_day(day)).passed:
            gate.accept(name_day(day))
    return gate


def judge(data: Any, hide: bool = False, mode: str = "guard") -> BatchVerdict:
    return open_gate(hide, mode).judge(data, name_day(DAYS))


def change(column: str, by: Change, inside: Mask, day: int = DAYS) -> pa.Table:
    """The flights of a day with other values of a column in some rows."""
    table = fly(day)
    values = pc.if_else(pa.array(inside), by(table[column].combine_chunks()), table[column].combine_chunks())
    return table.set_column(table.column_names.index(column), column, values)


def find_rows(column: str, value: Any, day: int = DAYS) -> Mask:
    return np.array([each == value for each in fly(day)[column].to_pylist()])


def get_first(verdict: BatchVerdict) -> Diagnosis:
    assert not verdict.passed
    return verdict.account.diagnoses[0]


HOURS_5 = pa.scalar(5 * 3_600_000_000, pa.duration("us"))
FAULTS: dict[str, tuple[str, Change, str]] = {
    "scaled": ("price", lambda values: pc.multiply(values, 100.0), "price looks multiplied by 100"),
    "shifted": ("distance", lambda values: pc.add(values, 700.0), "distance looks shifted: every value plus 700"),
    "sign_flipped": ("price", pc.negate, "price has the other sign"),
    "time_shifted": ("departure", lambda values: pc.add(values, HOURS_5), "departure looks shifted by 5 hours ahead"),
    "nulls": ("page", lambda values: pa.nulls(len(values), values.type), "page is empty"),
    "placeholder": ("price", lambda values: pa.array([0.0] * len(values)), "price has the value 0.0"),
    "casing": ("city", pc.utf8_upper, "city is written in upper case"),
    "truncated": ("city", lambda values: pc.utf8_slice_codeunits(values, 0, 4), "city is cut off after 4 characters"),
    "padding": (
        "page",
        lambda values: pc.binary_join_element_wise(values, pa.scalar(" "), ""),
        "page has blanks around the values",
    ),
}


@pytest.mark.parametrize("hide", [False, True], ids=["plain", "hidden"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_inside_one_value_is_named_with_it(name: str, hide: bool) -> None:
    column, by, words = FAULTS[name]
    inside = find_rows("carrier", "EV")
    found = get_first(judge(change(column, by, inside), hide))
    assert (found.fault, found.columns) == (name, (column,))
    value = hash_label("EV", SECRET) if hide else "EV"
    assert found.segment == (("carrier", value),)
    assert found.share == pytest.approx(inside.mean(), abs=1e-4)
    shown = f"(hidden: {value[:8]})" if hide else "EV"
    assert found.sentence.startswith(words)
    assert found.sentence.endswith(f" in all rows where carrier is {shown}")
    assert "EV" not in found.sentence or not hide


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_all_rows_has_no_segment(name: str) -> None:
    column, by, _ = FAULTS[name]
    verdict = judge(change(column, by, np.ones(ROWS, np.bool_)))
    assert not verdict.passed
    assert all(not each.segment for each in verdict.account.diagnoses)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_random_rows_has_no_segment(name: str) -> None:
    column, by, _ = FAULTS[name]
    verdict = judge(change(column, by, np.random.default_rng(3).random(ROWS) < 0.3))
    assert not verdict.passed
    assert all(not each.segment for each in verdict.account.diagnoses)


def test_a_number_of_a_segment_column_is_named_as_text() -> None:
    found = get_first(judge(change("price", FAULTS["placeholder"][1], find_rows("weekday", 3))))
    assert found.segment == (("weekday", "3"),)
    assert found.sentence == "price has the value 0.0 in all rows where weekday is 3"


def test_hours_are_named_by_when_they_begin() -> None:
    late = np.array([each.hour >= 12 for each in fly(DAYS)["departure"].to_pylist()])
    for hide in (False, True):
        found = get_first(judge(change("price", FAULTS["nulls"][1], late), hide))
        assert found.sentence == f"price is empty in all rows with departure since {name_day(DAYS)} 12:00"
        assert {label for label, _ in found.segment} == {"hour of departure"}


def test_rows_that_are_missing_are_named_from_the_states_alone(scans: list[Any]) -> None:
    table = fly(DAYS).filter(pa.array(~find_rows("carrier", "EV")))
    found = get_first(judge(table))
    assert (found.fault, found.segment) == ("rows_missing", (("carrier", "EV"),))
    assert found.sentence.startswith("the rows where carrier is EV are missing (19")
    assert get_first(judge(table, hide=True)).segment == (("carrier", hash_label("EV", SECRET)),)
    assert scans == []


def test_rows_of_one_value_that_are_there_twice_are_named() -> None:
    table = pa.concat_tables([fly(DAYS), fly(DAYS).filter(pa.array(find_rows("carrier", "EV")))])
    found = get_first(judge(table))
    assert (found.fault, found.segment) == ("rows_duplicated", (("carrier", "EV"),))
    assert found.sentence.startswith("all rows where carrier is EV are there twice (1")


@pytest.mark.parametrize("hide", [False, True], ids=["plain", "hidden"])
def test_a_segment_is_repaired_and_its_other_rows_stay(hide: bool) -> None:
    batch = change("price", FAULTS["scaled"][1], find_rows("carrier", "EV"))
    verdict = judge(batch, hide)
    assert len(verdict.repairs) == 1
    repaired = verdict.repair(batch)
    assert pc.round(repaired["price"], 6).equals(pc.round(fly(DAYS)["price"], 6))


def test_the_segment_is_recorded_and_no_value_is_in_a_store_that_hides_values() -> None:
    batch = change("price", FAULTS["scaled"][1], find_rows("carrier", "EV"))
    plain, hidden = judge(batch), judge(batch, hide=True)
    assert open_gate(False, "guard").explain(name_day(DAYS), plain.revision.number).account == plain.account
    assert "where carrier is EV" in plain.headline
    assert "where carrier is (hidden: " in hidden.headline
    assert '"EV"' not in str(hidden.account)
    assert "is EV" not in hidden.explain()


# --- when a batch is scanned again


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The batches that are scanned once more."""
    count, found = locate.count_segments, list[Any]()

    def count_and_note(data: Any, *given: Any, **options: Any) -> Any:
        found.append(data)
        return count(data, *given, **options)

    monkeypatch.setattr(locate, "count_segments", count_and_note)
    return found


def make_batch(seed: int) -> pa.Table:
    """A batch that fails in two columns; no two seeds have the same rows."""
    inside = find_rows("carrier", "EV")
    table = change("price", FAULTS["scaled"][1], inside)
    empty = pc.if_else(pa.array(inside), pa.scalar(None, pa.string()), table["page"])
    return table.set_column(table.column_names.index("page"), "page", empty).slice(seed)


def test_a_batch_that_passes_is_not_scanned_again(scans: list[Any]) -> None:
    verdict = judge(fly(DAYS))
    assert verdict.passed
    assert scans == []


def test_all_faults_of_a_batch_are_located_in_one_scan(scans: list[Any]) -> None:
    verdict = judge(make_batch(1))
    assert len(scans) == 1
    assert [each.segment for each in verdict.account.diagnoses] == [(("carrier", "EV"),)] * 2


def test_a_batch_that_is_observed_is_located_too(scans: list[Any]) -> None:
    verdict = judge(make_batch(2), mode="observe")
    assert verdict.action is Action.PUBLISH
    assert get_first(verdict).segment == (("carrier", "EV"),)


def test_the_same_rows_again_are_not_located_again(scans: list[Any]) -> None:
    verdicts = [judge(make_batch(3)) for _ in range(2)]
    assert verdicts[0].revision.key == verdicts[1].revision.key
    assert len(scans) == 1


def test_data_of_every_kind_are_read_again(tmp_path: Path, scans: list[Any]) -> None:
    pq.write_table(make_batch(4), tmp_path / "part-0.parquet")
    inputs = [make_batch(5).to_pandas(), ds.dataset(make_batch(6)), ds.dataset(tmp_path), lambda: make_batch(7)]
    assert [get_first(judge(each)).segment for each in inputs] == [(("carrier", "EV"),)] * len(inputs)
    assert len(scans) == len(inputs)


def test_what_cannot_be_read_again_is_judged_without(scans: list[Any]) -> None:
    metrics = [*default_metrics(analyze(fly(DAYS), [Size()]).schema), Size()]
    for data in (make_batch(8).to_reader(), analyze(make_batch(9), metrics)):
        verdict = judge(data)
        assert verdict.account.diagnoses
        assert get_first(verdict).segment == ()
    assert scans == []


@pytest.mark.parametrize("error", [EngineError("lost"), ValueError("bad"), MemoryError()])
def test_a_scan_that_fails_changes_no_verdict(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(locate, "count_segments", fail)
    verdict = judge(make_batch(10 + len(type(error).__name__)))
    assert verdict.action is Action.HOLD
    assert verdict.account.diagnoses
    assert all(not each.segment for each in verdict.account.diagnoses)


def test_an_interrupt_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(locate, "count_segments", interrupt)
    with pytest.raises(KeyboardInterrupt):
        judge(make_batch(50))
