"""What is kept of micro-batches until their windows are judged: nothing is lost, and nothing is counted twice."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from headgate.engine.batch import open_batch
from headgate.evaluate.measurements import Measurements, by_batch, measure
from headgate.integrations.streaming.state_folder import StateFolder
from headgate.integrations.streaming.window_states import MicroBatchStates, WindowStates
from headgate.integrations.streaming.windows import WindowSize
from headgate.metrics.base.metric import Metric
from headgate.metrics.base.registry import default_metrics, from_key
from headgate.values.errors import CorruptBytes, MisuseError
from headgate.values.outcome import Measured
from tests.integrations.streaming.clicks import START, make_clicks

FIVE_MINUTES = WindowSize(300)
FIRST = int(START.timestamp())


def open_states(tmp_path: Path, size: WindowSize = FIVE_MINUTES, late: int = 600) -> WindowStates:
    return WindowStates(StateFolder(str(tmp_path)), size, late)


def measure_clicks(number: int, rows: int = 20) -> Measurements:
    table = make_clicks(number, rows)
    batch = open_batch(table)
    return measure(batch, [((), each) for each in default_metrics(batch.schema)], finish=False)


def make_batch(number: int, rows: int = 20, window: int | None = None) -> MicroBatchStates:
    """The micro-batch of a minute, which lies in one window."""
    moment = FIRST + number * 60
    start = FIVE_MINUTES.find_start(moment) if window is None else window
    return MicroBatchStates(number, {start: measure_clicks(number, rows).to_bytes()}, moment + 59.0, rows)


def put(states: WindowStates, *batches: MicroBatchStates) -> None:
    for batch in batches:
        states.write_batch(batch)
        states.add_batch(batch)


def count_rows(measured: Measurements) -> float:
    value = measured.whole.value("size()")
    assert isinstance(value, float)
    return value


def test_a_window_is_the_sum_of_its_micro_batches(tmp_path: Path) -> None:
    states = open_states(tmp_path)
    put(states, *map(make_batch, range(7)))
    window = states.merge(FIRST)
    assert window.numbers == (0, 1, 2, 3, 4)
    assert count_rows(window.measurements) == 100
    assert states.find_due(FIRST + 299) == []
    assert states.find_due(FIRST + 300) == [FIRST]
    assert states.open_windows == (FIRST, FIRST + 300)


def test_a_window_of_many_values_is_measured_as_the_same_rows_in_one_batch(tmp_path: Path) -> None:
    states = open_states(tmp_path)
    put(states, *(make_batch(number, rows=400) for number in range(6)))
    merged = states.merge(FIRST).measurements.finish().whole
    batch = open_batch(pa.concat_tables([make_clicks(number, 400) for number in range(5)]))
    whole = measure(batch, [((), each) for each in default_metrics(batch.schema)]).whole
    numbers = [
        {str(key): each.value for key, each in found.outcomes.items() if isinstance(each, Measured)}
        for found in (merged, whole)
    ]
    floats = [{key: value for key, value in each.items() if isinstance(value, float)} for each in numbers]
    assert floats[0] == pytest.approx(floats[1], rel=1e-9)
    assert "most_frequent_ratio(id)" in floats[0]


def test_a_restart_knows_what_was_known(tmp_path: Path) -> None:
    before = open_states(tmp_path)
    put(before, *map(make_batch, range(7)))
    before.put_window(before.merge(FIRST), failed=True)
    after = open_states(tmp_path)
    assert after.id == before.id
    assert after.latest == before.latest == FIRST + 6 * 60 + 59
    assert after.last_number == 6
    assert after.failed_windows == (FIRST,)
    assert after.open_windows == (FIRST + 300,)
    assert after.merge(FIRST + 300).numbers == (5, 6)
    assert after.merge(FIRST).numbers == (0, 1, 2, 3, 4)


def test_a_judged_window_is_one_file(tmp_path: Path) -> None:
    states = open_states(tmp_path)
    put(states, *map(make_batch, range(7)))
    states.put_window(states.merge(FIRST), failed=False)
    assert [int(name) for name in states.folder.list("batches")] == [5, 6]
    assert [int(name) for name in states.folder.list("windows")] == [FIRST]


def test_a_micro_batch_that_is_taken_again_counts_once(tmp_path: Path) -> None:
    states = open_states(tmp_path)
    put(states, make_batch(0), make_batch(0, rows=30))
    assert count_rows(states.merge(FIRST).measurements) == 30
    states = open_states(tmp_path)
    put(states, make_batch(0, rows=30))
    assert count_rows(states.merge(FIRST).measurements) == 30


def test_late_rows_make_another_window_of_the_same_name(tmp_path: Path) -> None:
    states = open_states(tmp_path)
    put(states, *map(make_batch, range(7)))
    first = states.merge(FIRST)
    states.put_window(first, failed=False)
    assert states.find_due(FIRST + 300) == []
    put(states, make_batch(7, window=FIRST))
    assert states.find_due(FIRST + 300) == [FIRST]
    again = states.merge(FIRST)
    assert again.numbers == (0, 1, 2, 3, 4, 7)
    assert count_rows(again.measurements) == 120
    assert states.identify(again) != states.identify(first)
    states.put_window(again, failed=False)
    assert count_rows(open_states(tmp_path).merge(FIRST).measurements) == 120


def test_a_window_is_deleted_when_no_more_rows_count_to_it(tmp_path: Path) -> None:
    states = open_states(tmp_path, late=600)
    for number in range(40):
        put(states, make_batch(number))
        for start in states.find_due(FIRST + number * 60 + 59):
            states.put_window(states.merge(start), failed=False)
    assert states.is_too_late(FIRST)
    assert not states.is_too_late(FIRST + 1_500)
    kept = [int(name) - FIRST for name in states.folder.list("windows")]
    assert kept == [1_500, 1_800]
    assert len(states.folder.list("batches")) <= 5


def test_windows_without_rows_between_others_are_due(tmp_path: Path) -> None:
    states = open_states(tmp_path)
    put(states, make_batch(0), make_batch(17))
    assert states.find_due(FIRST + 900) == [FIRST, FIRST + 300, FIRST + 600]
    empty = states.merge(FIRST + 300)
    assert empty.numbers == ()
    assert count_rows(empty.measurements) == 0
    states.put_window(empty, failed=True)
    assert states.find_due(FIRST + 900) == [FIRST, FIRST + 600]
    put(states, make_batch(18, window=FIRST + 300))
    assert count_rows(states.merge(FIRST + 300).measurements) == 20


def test_another_length_of_windows_is_refused(tmp_path: Path) -> None:
    open_states(tmp_path)
    with pytest.raises(MisuseError, match="has windows of 300 seconds, not of 600"):
        open_states(tmp_path, WindowSize(600))


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    states = open_states(tmp_path)
    put(states, make_batch(0))
    file = tmp_path / "batches" / f"{0:012}"
    file.write_bytes(file.read_bytes()[:-7])
    with pytest.raises(CorruptBytes):
        open_states(tmp_path)


def test_measurements_by_segment_are_added_segment_by_segment() -> None:
    asked: list[tuple[tuple[str, ...], Metric[object]]] = [
        ((), from_key("size()")),
        (("page",), from_key("mean(price)")),
    ]
    one, two = (measure(open_batch(make_clicks(number)), asked) for number in (1, 2))
    both = Measurements.from_bytes((one + two).to_bytes())
    whole = measure(open_batch(pa.concat_tables([make_clicks(1), make_clicks(2)])), asked)
    assert both.whole.value("size()") == 400
    for part, analysis in whole.segments(("page",)).items():
        assert both.segments(("page",))[part].value("mean(price)") == pytest.approx(analysis.value("mean(price)"))
    assert by_batch("page", ()) == ("page",)
    assert both.empty().whole.value("size()") == 0
    assert both.empty().segments(("page",)) == {}


def test_metrics_that_only_one_has_are_left_out() -> None:
    one = measure(open_batch(make_clicks(1)), [((), from_key("size()")), ((), from_key("mean(price)"))])
    two = measure(open_batch(make_clicks(2)), [((), from_key("size()"))])
    assert [str(each) for each in (one + two).whole] == ["size()"]
