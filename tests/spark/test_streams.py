"""Streams through the gate: what is written, kept and judged, also after an interruption at any step."""

from __future__ import annotations

import pickle
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headgate as hg
from headgate.integrations.streaming.stream_gate import StreamGate
from headgate.store.fault_points import watch
from headgate.values.errors import MisuseError
from headgate.values.outcome import Measured
from headgate.values.run import Decision, Run
from tests.integrations.streaming.clicks import MINUTE, START, make_clicks, put_clicks, read_stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECKS = hg.Check("clicks").is_complete("page").has_min("price", at_least=0)


class Stream:
    """A stream in a folder: its source, checkpoint, sink and history."""

    def __init__(self, root: Path, spark: SparkSession, **settings: Any) -> None:
        self.root, self.spark, self.settings = root, spark, settings
        self.source, self.checkpoint = root / "in", root / "checkpoint"
        self.folders = hg.Folders(root / "out")
        self.store = hg.open_store(f"sqlite:///{root}/dq.db", values="plain")
        self.headlines: list[str] = []

    def put(self, *numbers: int, rows: int = 100, change: Any = None) -> None:
        for number in numbers:
            put_clicks(self.source, number, rows, change)

    def make_gate(self) -> hg.Gate:
        return hg.Gate(
            "clicks", store=self.store, checks=CHECKS, notify=lambda each: self.headlines.append(each.headline)
        )

    def open_gate(self, **settings: Any) -> StreamGate:
        given: dict[str, Any] = {"time": "at", "window": "5 minutes", "delay": "0 minutes", "sink": self.folders}
        given |= {"state": str(self.checkpoint / "headgate"), **self.settings, **settings}
        return StreamGate(self.make_gate(), **given)

    def run(self, **settings: Any) -> StreamGate:
        """Read all that is there, from the checkpoint on, and judge the windows that are complete."""
        gate = self.open_gate(**settings)
        query = (
            read_stream(self.spark, self.source)
            .writeStream.foreachBatch(gate)
            .option("checkpointLocation", str(self.checkpoint))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        gate.finish()
        self.input_rows = sum(each["numInputRows"] for each in query.recentProgress)
        return gate

    def read_written(self) -> pa.Table:
        tables = [pq.read_table(path) for path in self.folders.paths().values()]
        return pa.concat_tables(tables).sort_by("id") if tables else make_clicks(0, 0)

    def read_kept(self) -> list[dict[str, Any]]:
        found = [*(self.root / "out" / "held").glob("batch*/*/*.parquet")]
        return [row for file in found for row in pq.read_table(file).to_pylist()]

    def list_runs(self) -> list[Run]:
        return [self.store.run(each) for each in self.store.revisions("clicks")]


@pytest.fixture
def stream(tmp_path: Path, spark: SparkSession) -> Iterator[Stream]:
    made = Stream(tmp_path, spark)
    yield made
    made.store.close()


def lose_pages(click: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    return {**click, "page": None if chance.random() < 0.1 else click["page"]}


def list_numbers(run: Run) -> dict[str, float]:
    found = ((str(key), each.value) for key, each in run.outcomes.items() if isinstance(each, Measured))
    return {key: value for key, value in found if isinstance(value, float)}


def list_judgements(run: Run) -> list[tuple[str, str]]:
    return [(str(each.expectation), each.status.value) for each in run.verdict.judgements]


def test_windows_are_judged_as_the_same_rows_in_one_batch(stream: Stream) -> None:
    stream.put(*range(21))
    gate = stream.run(window="2 minutes")
    assert gate.progress.rows == 2_100
    assert stream.input_rows == 2_100  # the source is read once
    store = hg.open_store("memory:", values="plain")
    batches = hg.Gate("clicks", store=store, checks=CHECKS)
    for at, run in enumerate(stream.list_runs()):
        rows = pa.concat_tables([make_clicks(number, 100) for number in (at * 2, at * 2 + 1)])
        batch = batches.judge(stream.spark.createDataFrame(rows.to_pandas()), run.partition).run
        assert (run.partition, run.verdict.status) == (batch.partition, batch.verdict.status)
        assert list_numbers(run) == pytest.approx(list_numbers(batch), rel=1e-9, nan_ok=True)
        assert list_judgements(run) == list_judgements(batch)
    assert at == 9
    assert stream.read_written().num_rows == 2_100


def test_rows_that_break_a_check_go_to_quarantine(stream: Stream) -> None:
    stream.put(0, 1)
    stream.put(2, change=lose_pages)
    stream.put(3, 4, 5)
    gate = stream.run()
    bad = [row for row in make_clicks(2, 100, lose_pages).to_pylist() if row["page"] is None]
    kept = stream.read_kept()
    assert sorted(row["id"] for row in kept) == [row["id"] for row in bad]
    assert {reason["rule"] for row in kept for reason in row["headgate_reasons"]} == {"is_complete(page)"}
    assert stream.read_written().num_rows == 600 - len(bad)
    assert gate.progress.quarantined == len(bad)
    [run] = stream.list_runs()
    assert run.outcomes[hg.MetricKey("size")] == Measured(500.0 - len(bad))
    told = [each for each in stream.headlines if "micro-batch" in each]
    assert told == [f"clicks micro-batch 2 failed: {len(bad)} of 100 rows are in quarantine."]


def test_a_whole_micro_batch_goes_to_quarantine(stream: Stream) -> None:
    stream.put(0, 1)
    stream.put(2, change=lose_pages)
    stream.put(3, 4, 5)
    stream.run(on_failure="quarantine_batch")
    assert sorted(row["id"] for row in stream.read_kept()) == make_clicks(2, 100)["id"].to_pylist()
    assert stream.read_written().num_rows == 500
    assert [run.outcomes[hg.MetricKey("size")] for run in stream.list_runs()] == [Measured(400.0)]


def test_a_query_stops_before_it_writes_a_bad_micro_batch(stream: Stream) -> None:
    stream.put(0, 1)
    stream.put(2, change=lose_pages)
    stream.put(3)
    with pytest.raises(Exception, match="micro-batch 2 was not written: is_complete"):
        stream.run(on_failure="stop")
    assert stream.read_written().num_rows == 200
    assert stream.read_kept() == []
    assert stream.headlines == [
        "clicks micro-batch 2 failed: none of its 100 rows was written, and the query was stopped."
    ]
    stream.run(on_failure="quarantine_rows")
    assert stream.read_written().num_rows + len(stream.read_kept()) == 400


def test_flagged_rows_are_written(stream: Stream) -> None:
    stream.put(0, 1)
    stream.put(2, change=lose_pages)
    stream.put(3, 4, 5)
    stream.run(on_failure="flag")
    assert stream.read_written().num_rows == 600
    assert stream.read_kept() == []
    [run] = stream.list_runs()
    assert run.outcomes[hg.MetricKey("size")] == Measured(500.0)
    assert run.verdict.status.value == "fail"
    assert [each.decision for each in stream.store.revisions("clicks")] == [Decision.OBSERVED]
    assert "clicks micro-batch 2 failed: all rows were written." in stream.headlines


def test_an_alert_that_cannot_be_sent_costs_no_row(stream: Stream) -> None:
    def fail(_: Any) -> None:
        raise ConnectionError("the messenger is down")

    stream.put(0, 1, change=lose_pages)
    gate = hg.Gate("clicks", store=stream.store, checks=CHECKS, notify=fail)
    sink, state = stream.folders, str(stream.checkpoint / "headgate")
    streamed = StreamGate(gate, time="at", window="5 minutes", sink=sink, state=state)
    for number in (0, 1):
        streamed(stream.spark.read.parquet(str(stream.source / f"{number:06}.parquet")), number)
    assert stream.read_written().num_rows + len(stream.read_kept()) == 200
    assert streamed.progress.alert_error == "ConnectionError: the messenger is down"
    assert "alert not sent" in str(streamed.progress)


def test_a_query_stops_after_a_window_that_failed_until_somebody_decides(stream: Stream) -> None:
    stream.settings |= {"on_failure": "stop", "window": "1 minute"}
    stream.put(*range(15))
    stream.run()
    stream.put(15, 16, rows=5)  # a twentieth of the rows
    stream.run()
    assert [each.status.value for each in stream.store.revisions("clicks")][-1] == "fail"
    stream.put(17)
    with pytest.raises(Exception, match="2026-11-18T08:15 failed, so the query was stopped after it"):
        stream.run()
    stream.make_gate().reject("2026-11-18T08:15", note="known")
    assert stream.run().progress.micro_batches == 1


STEPS = {
    "stream.write_state": 2,
    "stream.state_written": 2,
    "stream.measured": 2,
    "folders.show": 2,
    "folders.pointed": 2,
    "stream.written": 2,
    "folders.hold": 1,
    "stream.quarantined": 1,
    "stream.delete_state": 1,
}
"""Steps, and how often each is reached before the query fails."""


@contextmanager
def interrupt(step: str, times: int) -> Iterator[list[str]]:
    """The query fails when it comes to a step for the so-manieth time."""
    seen: list[str] = []

    def fail(name: str) -> None:
        seen.append(name)
        if seen.count(step) == times and name == step:
            raise RuntimeError(f"interrupted at {step}")

    with watch(fail):
        yield seen


def test_an_interrupted_stream_goes_on_without_loss_or_doubling(spark: SparkSession, tmp_path: Path) -> None:
    whole = Stream(tmp_path / "whole", spark)
    broken = Stream(tmp_path / "broken", spark)
    for each in (whole, broken):
        each.root.mkdir(exist_ok=True)
        each.put(*range(12))
        each.put(12, 13, change=lose_pages)
        each.put(*range(14, 17))
    whole.run()
    for step, times in STEPS.items():
        with interrupt(step, times) as seen, suppress(Exception):  # the judge of windows tries again by itself
            broken.run()
        assert seen.count(step) >= times, step
    broken.run()
    assert broken.read_written().equals(whole.read_written())
    assert sorted(row["id"] for row in broken.read_kept()) == sorted(row["id"] for row in whole.read_kept())
    for one, two in zip(broken.list_runs(), whole.list_runs(), strict=True):
        assert (one.partition, one.verdict.status) == (two.partition, two.verdict.status)
        assert list_numbers(one) == pytest.approx(list_numbers(two), rel=1e-9, nan_ok=True)


def test_late_rows_make_a_new_revision_and_gaps_are_judged(stream: Stream) -> None:
    stream.put(*range(7))
    stream.run()
    late = make_clicks(2, 30)
    pq.write_table(late, stream.source / "000050.parquet")
    stream.put(51)
    stream.run()
    found = [(each.partition[-5:], each.number, each.status.value) for each in stream.store.revisions("clicks")]
    assert found[:2] == [("08:00", 1, "pass"), ("08:00", 2, "pass")]
    assert found[2:4] == [("08:05", 1, "pass"), ("08:10", 1, "fail")]
    assert len(found) == 11
    newest = stream.store.run(stream.store.revisions("clicks", "2026-11-18T08:00")[-1])
    assert newest.outcomes[hg.MetricKey("size")] == Measured(530.0)


def test_rows_without_a_time_or_in_the_future_close_no_window(stream: Stream) -> None:
    def change(click: dict[str, Any], _: random.Random) -> dict[str, Any]:
        far = START + 300_000 * MINUTE * 60
        return {**click, "at": {0: None, 1: far}.get(click["id"] % 100_000, click["at"])}

    stream.put(0, change=change)
    gate = stream.run()
    assert {row["headgate_reasons"][0]["message"] for row in stream.read_kept()} == {
        "at is null",
        "at is in the future",
    }
    assert gate.progress.open_windows == ("2026-11-18T08:00",)
    assert gate.progress.watermark is not None
    assert gate.progress.watermark < START.timestamp() + 60
    assert gate.find_overdue(START.timestamp() + 299) == ()
    assert gate.find_overdue(START.timestamp() + 300) == ("2026-11-18T08:00",)


def test_a_column_that_is_gone_keeps_the_micro_batch_back(stream: Stream, tmp_path: Path) -> None:
    stream.put(*range(6))
    stream.run()
    gate = stream.open_gate()
    gate(stream.spark.createDataFrame(make_clicks(6, 100).to_pandas().drop(columns=["price", "page"])), 6)
    gate.finish()
    assert len(stream.read_kept()) == 100
    assert gate.progress.quarantined == 100
    assert any("micro-batch 6 failed: 100 of 100 rows are in quarantine" in each for each in stream.headlines)


def test_another_checkpoint_needs_another_folder(stream: Stream, tmp_path: Path) -> None:
    stream.put(0, 1, 2)
    stream.run()
    stream.checkpoint.rename(tmp_path / "old")
    with pytest.raises(Exception, match="micro-batch 0 comes after micro-batch 2"):
        stream.run(state=str(tmp_path / "old" / "headgate"))
    assert stream.read_written().num_rows == 300


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"on_failure": "hold"}, "is no choice"),
        ({"window": "soon"}, "is not a length of time"),
        ({"sink": 7}, "no place for the rows"),
        ({"time": "when"}, "no column 'when'"),
        ({"time": "page"}, "which has no time"),
    ],
)
def test_mistakes_are_named(settings: dict[str, Any], said: str, stream: Stream) -> None:
    frame = stream.spark.createDataFrame(make_clicks(0, 5).to_pandas())
    with pytest.raises(MisuseError, match=said):
        stream.open_gate(**settings)(frame, 0)


def test_progress_prints(stream: Stream) -> None:
    stream.put(*range(7))
    gate = stream.run()
    page = str(gate.progress)
    assert "clicks: a stream" in page
    assert "7, the last has number 6" in page
    assert "to measure" in page


def test_connect_makes_the_gate_on_the_server(stream: Stream, connect: Any) -> None:
    url = f"sqlite:///{stream.root}/dq.db"
    stream.put(*range(4))
    gate = StreamGate(
        lambda: hg.Gate("clicks", store=hg.open_store(url, values="plain"), checks=CHECKS),
        time="at",
        window="1 minute",
        delay="0 minutes",
        state=str(stream.checkpoint / "headgate"),
        sink=stream.folders,
    )
    query = (
        read_stream(connect, stream.source)
        .writeStream.foreachBatch(gate)
        .option("checkpointLocation", str(stream.checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert stream.read_written().num_rows == 400
    deadline = time.monotonic() + 120  # windows are judged beside the micro-batches, in the process of the server
    while len(stream.list_runs()) < 3 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert [run.verdict.status.value for run in stream.list_runs()] == ["pass"] * 3


def test_connect_refuses_a_gate_that_is_made_here(stream: Stream) -> None:
    with pytest.raises(MisuseError, match="with Spark Connect the gate is made on the server"):
        pickle.dumps(stream.open_gate())
