"""Writes docs/streams-benchmark.md from the results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "streams-benchmark.md"
_HEAD = """\
# Streams, measured

What `hg.StreamGate` keeps, when it tells, and what it costs: `make bench-streams` prints and writes these figures.
[The guide](guides/streams.md) says what it does.
"""
_KILLS = """\
The process and its JVM are killed at moments drawn by chance, and started again from the checkpoint. Then all rows are
compared with those of the source, and every window with the same rows judged as one batch, by the engine without Spark:
all numbers, and the status.

| sink | micro-batches | rows | kills | lost | doubled | bad written | windows | that differ | recorded twice |
|---|---|---|---|---|---|---|---|---|---|"""


def write_page(results: Path) -> None:
    """Write the page from the parts that were measured."""
    found = {each.stem: json.loads(each.read_text(encoding="utf-8")) for each in sorted(results.glob("*.json"))}
    PAGE.write_text(
        "\n".join([_HEAD, *_write_kills(found), *_write_broken(found), *_write_cost(found), *_write_memory(found)]),
        "utf-8",
    )


def _write_kills(found: dict[str, Any]) -> Iterator[str]:
    kills = {name.removeprefix("kills_"): each for name, each in found.items() if name.startswith("kills_")}
    if not kills:
        return
    yield "## Killed by SIGKILL\n"
    yield _KILLS
    for name, each in kills.items():
        keys = ("micro_batches", "rows", "kills", "lost", "doubled", "published_bad", "windows")
        cells = [f"{each[key]:,}" for key in (*keys, "windows_that_differ", "runs_of_a_window_more_than_one")]
        yield f"| {name}, Spark {each['versions']['pyspark']} | {' | '.join(cells)} |"
    yield ""


def _write_broken(found: dict[str, Any]) -> Iterator[str]:
    if (each := found.get("broken")) is None:
        return
    yield "## A producer that breaks\n"
    yield (
        "After 125 good minutes of 200 rows, which are 25 windows, a producer is broken for 15 minutes. Each "
        "micro-batch is a minute. A check says that each row has a page; nobody wrote one about prices or about how "
        "many rows come. Alerts before the fault: "
        f"{sum(case['false_tells_before'] for case in each['cases'])}.\n"
    )
    yield "| fault | `on_failure` | told after | rows written | of them wrong | in quarantine | the first message |"
    yield "|---|---|---|---|---|---|---|"
    for case in each["cases"]:
        after = case["told_after_minutes"]
        told = "not told" if after is None else f"{after} minute{'s' if after > 1 else ''}"
        counts = [f"{case[key]:,}" for key in ("written", "wrong_rows_written", "in_quarantine")]
        cells = [case["fault"], f"`{case['on_failure']}`", told, *counts, case["headline"].replace("|", "\\|")]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _write_cost(found: dict[str, Any]) -> Iterator[str]:
    if (each := found.get("cost")) is None:
        return
    yield "## A warm micro-batch\n"
    yield (
        f"{each['rows']:,} rows of {each['columns']} columns, written as Parquet files plainly and through the gate, "
        f"in turns; medians of {each['rounds']} after 15 to warm up, on 2 shared cores, "
        f"Spark {each['versions']['pyspark']}."
    )
    yield (
        f"Windows of five micro-batches were judged beside it ({each['windows']}). Processor seconds are those of the "
        "driver, the JVM and the Python workers.\n"
    )
    yield "| | seconds | processor seconds |"
    yield "|---|---|---|"
    yield f"| plain write | {each['plain_seconds']:.2f} | {each['plain_processor_seconds']:.2f} |"
    yield f"| through the gate | {each['guarded_seconds']:.2f} | {each['guarded_processor_seconds']:.2f} |"
    yield f"| added | {each['added_seconds']:.2f} | {each['added_processor_seconds']:.2f} |"
    of_processors = each["guarded_processor_seconds"] / max(each["plain_processor_seconds"], 0.01)
    yield f"| ratio | {each['ratio']:.2f} | {of_processors:.2f} |"
    yield ""


def _write_memory(found: dict[str, Any]) -> Iterator[str]:
    if (each := found.get("memory")) is None:
        return
    step = each["batches"] // len(each["megabytes"])
    yield "## Memory\n"
    yield (
        f"The Python process of the driver over {each['batches']:,} micro-batches of {each['rows']:,} rows and "
        f"{each['columns']} columns; rows count to a window for 30 minutes. It grows "
        "while the runs that are learned from fill up, which is after 38 windows of five micro-batches.\n"
    )
    yield "| after micro-batches | megabytes | files of state |"
    yield "|---|---|---|"
    for at, (megabytes, files) in enumerate(zip(each["megabytes"], each["files"], strict=True), start=1):
        yield f"| {at * step:,} | {megabytes:,.0f} | {files} |"
    yield ""
