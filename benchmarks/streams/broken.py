"""A producer that breaks in the middle of a stream: when each setting tells of it, and what readers got until then."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pyarrow.parquet as pq

import headgate as hg
from benchmarks.streams.job import CHECKS, WINDOW
from benchmarks.values_mode import VALUES
from headgate.gate.notification import Notification
from headgate.integrations.streaming.stream_gate import OnFailure
from headgate.values.errors import StreamStopped
from tests.integrations.streaming.clicks import Change, put_clicks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 200


def lose_pages(click: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    return {**click, "page": None if chance.random() < 0.1 else click["page"]}


def price_in_cents(click: dict[str, Any], _: random.Random) -> dict[str, Any]:
    return {**click, "price": click["price"] * 100}


#: What breaks: the rows of a micro-batch, what becomes of each, and whether a row is wrong.
PRODUCERS: dict[str, tuple[int, Change | None, Callable[[dict[str, Any]], bool]]] = {
    "a tenth of the rows has no page": (ROWS, lose_pages, lambda row: row["page"] is None),
    "prices are in cents": (ROWS, price_in_cents, lambda _: True),
    "half of the rows are missing": (ROWS // 2, None, lambda _: False),  # those that came are right
}


def break_producers(spark: SparkSession, good: int = 125, broken: int = 15) -> list[dict[str, Any]]:
    """Every fault under every setting, each on a copy of one stream that was good until then.

    Args:
        spark: A classic session.
        good: How many micro-batches, of a minute each, come before the fault; a window has five.
        broken: How many micro-batches the fault lasts.
    """
    root = Path(tempfile.mkdtemp(prefix="headgate-stream-"))
    for number in range(good):
        put_clicks(root / "good" / "in", number, ROWS)
    _run_stream(spark, root / "good", "quarantine_rows", [])
    return list(_break_each(spark, root, good, broken))


def _break_each(spark: SparkSession, root: Path, good: int, broken: int) -> Iterator[dict[str, Any]]:
    for fault, (rows, change, is_wrong) in PRODUCERS.items():
        for setting in get_args(OnFailure):
            place = root / f"{fault} {setting}"
            shutil.copytree(root / "good", place)
            for number in range(good, good + broken):
                put_clicks(place / "in", number, rows, change)
            put_clicks(place / "in", good + broken)  # it ends the last window
            told: list[tuple[int, Notification]] = []
            _run_stream(spark, place, setting, told)
            yield {"fault": fault, "on_failure": setting, **_describe(place, good, broken, is_wrong, told)}


def _run_stream(spark: SparkSession, place: Path, setting: OnFailure, told: list[tuple[int, Notification]]) -> None:
    """Run a stream to its end. Each notification is kept with the number of micro-batches that had come."""
    number = -1

    def hear(notification: Notification) -> None:
        told.append((number, notification))

    gate = hg.StreamGate(
        hg.Gate("clicks", store=hg.open_store(f"sqlite:///{place}/dq.db", values=VALUES), checks=CHECKS, notify=hear),
        time="at",
        window=WINDOW,
        delay="0 minutes",
        state=str(place / "state"),
        sink=hg.Folders(place / "out"),
        on_failure=setting,
    )
    for file in sorted((place / "in").glob("*.parquet")):
        if int(file.stem) <= gate.progress.last_micro_batch:
            continue
        number = int(file.stem)
        try:
            gate(spark.read.parquet(str(file)), number)
            gate.finish()  # a micro-batch a minute leaves time enough to judge
        except StreamStopped:
            break
    gate.gate.store.close()


def _describe(
    place: Path,
    good: int,
    broken: int,
    is_wrong: Callable[[dict[str, Any]], bool],
    told: list[tuple[int, Notification]],
) -> dict[str, Any]:
    out = hg.Folders(place / "out")
    written = [path for name, path in out.paths().items() if good <= _read_number(name) < good + broken]
    rows = [row for path in written for row in pq.read_table(path).to_pylist()]
    kept = [pq.read_table(file) for file in (place / "out" / "held").glob("batch*/*/*.parquet")]
    trouble = [(number, each) for number, each in told if each.is_trouble and number >= good]
    return {
        "written": len(rows),
        "wrong_rows_written": sum(map(is_wrong, rows)),
        "in_quarantine": sum(map(len, kept)),
        "told_after_minutes": trouble[0][0] - good + 1 if trouble else None,
        "headline": trouble[0][1].headline if trouble else "",
        "false_tells_before": sum(each.is_trouble for number, each in told if number < good),
    }


def _read_number(name: str) -> int:
    """The number of the micro-batch that a published folder holds."""
    return int(name.rpartition("-")[2])
