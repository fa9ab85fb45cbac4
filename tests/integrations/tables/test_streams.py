"""Streams into tables: a micro-batch is one commit, also if the query is interrupted before or after it."""

from __future__ import annotations

import pickle
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import headgate as hg
from headgate.store.fault_points import watch
from tests.integrations.streaming.clicks import put_clicks, read_stream
from tests.integrations.tables.conftest import THROUGH_CONNECT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CHECKS = hg.Check("clicks").is_complete("page")


def lose_page(click: dict[str, Any], _: Any) -> dict[str, Any]:
    return {**click, "page": None if click["id"] % 10 == 0 else click["page"]}


@pytest.mark.skipif(THROUGH_CONNECT, reason="steps cannot be watched in the process of a Connect server")
@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_a_stream_into_a_table_is_written_once(form: str, spark: SparkSession, tmp_path: Path) -> None:
    name = f"lake.shop.clicks{abs(hash(tmp_path))}" if form == "iceberg" else f"clicks{abs(hash(tmp_path))}"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, at TIMESTAMP, page STRING, price DOUBLE, country STRING) "
        f"USING {form} PARTITIONED BY (country)"
    )
    for number in range(6):
        put_clicks(tmp_path / "in", number, 50, lose_page if number in (2, 4) else None)
    store = hg.open_store(f"file://{tmp_path}/history")

    def run() -> None:
        sink = (hg.Delta if form == "delta" else hg.Iceberg)(name, "country", spark=spark, quarantine=f"{name}_bad")
        gate = hg.StreamGate(
            hg.Gate("clicks", store=store, checks=CHECKS),
            time="at",
            window="2 minutes",
            delay="0 minutes",
            state=str(tmp_path / "checkpoint" / "headgate"),
            sink=sink,
        )
        query = (
            read_stream(spark, tmp_path / "in")
            .writeStream.foreachBatch(gate)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        gate.finish()

    for step in (f"{form}.append", f"{form}.appended", "quarantine.written", "stream.written"):
        seen: list[str] = []

        def fail(found: str, step: str = step, seen: list[str] = seen) -> None:
            seen.append(found)
            if found == step:
                raise RuntimeError(f"interrupted at {step}")

        with watch(fail), suppress(Exception):
            run()
        assert step in seen
    run()
    expected = {number * 100_000 + row for number in range(6) for row in range(50)}
    bad = {each for each in expected if each // 100_000 in (2, 4) and each % 10 == 0}
    for table in (name, f"{name}_bad"):
        spark.sql(f"REFRESH TABLE {table}")  # the stream has a session of its own
    written = [row["id"] for row in spark.table(name).select("id").collect()]
    kept = [row["id"] for row in spark.table(f"{name}_bad").select("id").collect()]
    assert sorted(written) == sorted(expected - bad)
    assert sorted(kept) == sorted(bad)
    assert [each.status.value for each in store.revisions("clicks")] == ["pass", "pass"]
    store.close()


@pytest.mark.skipif(not THROUGH_CONNECT, reason="through a Connect session")
@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_a_gate_that_was_sent_to_a_connect_server_writes_tables(form: str, spark: SparkSession, tmp_path: Path) -> None:
    """Its micro-batches are given here: Spark gives the process of `foreachBatch` ten seconds to start."""
    from pyspark.cloudpickle import dumps

    name = f"lake.shop.clicks{abs(hash(tmp_path))}" if form == "iceberg" else f"clicks{abs(hash(tmp_path))}"
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, at TIMESTAMP, page STRING, price DOUBLE, country STRING) "
        f"USING {form} PARTITIONED BY (country)"
    )
    history = f"file://{tmp_path}/history"
    made = hg.StreamGate(
        lambda: hg.Gate("clicks", store=hg.open_store(history), checks=hg.Check("clicks").is_complete("page")),
        time="at",
        window="2 minutes",
        delay="0 minutes",
        state=str(tmp_path / "checkpoint" / "headgate"),
        sink=(hg.Delta if form == "delta" else hg.Iceberg)(name, "country", quarantine=f"{name}_bad"),
    )
    gate = pickle.loads(dumps(made))
    for number in range(5):
        put_clicks(tmp_path / "in", number, 50, lose_page if number == 2 else None)
        gate(spark.read.parquet(str(tmp_path / "in" / f"{number:06}.parquet")), number)
    gate.finish()
    for table, rows in ((name, 245), (f"{name}_bad", 5)):
        spark.sql(f"REFRESH TABLE {table}")
        assert spark.table(table).count() == rows
    assert [each.status.value for each in gate.gate.store.revisions("clicks")] == ["pass", "pass"]
    gate.gate.store.close()
