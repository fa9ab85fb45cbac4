"""What the gate of a stream costs: seconds and processor seconds of a warm micro-batch, and memory over many."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headgate as hg
from benchmarks.values_mode import VALUES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

START = 1_794_988_800


def make_rows(spark: SparkSession, number: int, rows: int, columns: int) -> DataFrame:
    """A micro-batch with an event time, a quarter texts, a quarter integers and the rest numbers."""

    def write_column(at: int) -> str:
        drawn = f"hash(id, {at}, {number})"
        if at % 4 == 1:
            return f"concat('v', pmod({drawn}, 50)) AS c{at}"
        return f"pmod({drawn}, 100000) AS c{at}" if at % 4 == 2 else f"pmod({drawn}, 100000) / 7.0 AS c{at}"

    time_column = f"timestamp_seconds({START} + 60 * {number} + pmod(id, 60)) AS at"
    return spark.range(rows, numPartitions=2).selectExpr("id", time_column, *map(write_column, range(columns - 2)))


def measure_cost(spark: SparkSession, rows: int, columns: int, rounds: int, warm: int = 15) -> dict[str, Any]:
    """A plain write and a write through the gate, in turns, after some micro-batches to warm up."""
    root = Path(tempfile.mkdtemp(prefix="headgate-stream-"))
    gate = open_gate(root)
    plain: list[tuple[float, float]] = []
    guarded: list[tuple[float, float]] = []
    for number in range(warm + rounds):
        batch = make_rows(spark, number, rows, columns).localCheckpoint()  # as a source has them: made already
        clocks = [read_clocks(spark)]
        batch.write.parquet(str(root / "plain" / str(number)))
        clocks.append(read_clocks(spark))
        gate(batch, number)
        clocks.append(read_clocks(spark))
        if number >= warm:
            plain.append((clocks[1][0] - clocks[0][0], clocks[1][1] - clocks[0][1]))
            guarded.append((clocks[2][0] - clocks[1][0], clocks[2][1] - clocks[1][1]))
    gate.finish()
    medians = {
        f"{name}_{unit}": round(statistics.median(each[at] for each in found), 3)
        for name, found in (("plain", plain), ("guarded", guarded))
        for at, unit in enumerate(("seconds", "processor_seconds"))
    }
    added = {
        f"added_{unit}": round(medians[f"guarded_{unit}"] - medians[f"plain_{unit}"], 3)
        for unit in ("seconds", "processor_seconds")
    }
    return {
        "rows": rows,
        "columns": columns,
        "rounds": rounds,
        **medians,
        **added,
        "ratio": round(medians["guarded_seconds"] / medians["plain_seconds"], 2),
        "windows": gate.progress.windows,
    }


def measure_memory(spark: SparkSession, batches: int, rows: int, columns: int) -> dict[str, Any]:
    """The memory of the driver's Python over many micro-batches, and the files of the state."""
    root = Path(tempfile.mkdtemp(prefix="headgate-stream-"))
    gate = open_gate(root, late="30 minutes")
    megabytes: list[float] = []
    files: list[int] = []
    for number in range(batches):
        gate(make_rows(spark, number, rows, columns), number)
        if number % max(1, batches // 10) == batches // 10 - 1:
            gate.finish()
            megabytes.append(round(read_memory(), 1))
            files.append(sum(1 for each in (root / "state").rglob("*") if each.is_file()))
    return {"batches": batches, "rows": rows, "columns": columns, "megabytes": megabytes, "files": files}


def open_gate(root: Path, late: str = "1 day") -> hg.StreamGate:
    store = hg.open_store(f"sqlite:///{root}/dq.db", values=VALUES)
    gate = hg.Gate("clicks", store=store, checks=hg.Check("clicks").is_complete("c1").has_min("c3", at_least=0))
    return hg.StreamGate(
        gate,
        time="at",
        window="5 minutes",
        delay="0 minutes",
        late=late,
        state=str(root / "state"),
        sink=hg.Folders(root / "out"),
    )


def read_clocks(spark: SparkSession) -> tuple[float, float]:
    """Seconds, and processor seconds of this process, of the JVM and of the workers of both."""
    pid = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # type: ignore[union-attr]
    ticks = sum(_read_ticks(each) for each in {os.getpid(), int(pid), *_list_children(int(pid))})
    return time.perf_counter(), ticks / os.sysconf("SC_CLK_TCK")


def _list_children(pid: int) -> set[int]:
    """All descendants of a process."""
    parents = {}
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            try:
                parents[int(each.name)] = int((each / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, new = set[int](), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found


def _read_ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))  # its own, and those of children that have ended


def read_memory() -> float:
    """Megabytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
