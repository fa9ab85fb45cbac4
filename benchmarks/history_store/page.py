"""Writes docs/history-store-benchmark.md from the results, so that no number there is typed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "history-store-benchmark.md"
KINDS = ("SQLite", "PostgreSQL")

HEAD = """# The history store in SQL: size and speed

Written by `python -m benchmarks.history_store` from `benchmarks/history_store/results/history_store.json`; do not edit.

What is asked (test L1): with 200 columns x 30 metrics a run, at most 10 bytes a stored value; the gate's read (the last
90 runs with all 6,000 series) in 200 ms at the 95th percentile; one series of 90 runs in 20 ms; at least 50 durable
commits a second on PostgreSQL.

Shared, noisy machines: the load average and the time of one fsync are given with the figures. PostgreSQL runs on the
same machine with the settings it comes with; SQLite in WAL mode with `synchronous=FULL`. All is in the page cache.
"""


def write_page(found: dict[str, Any]) -> None:
    parts = [_facts, _sizes, _full_size, _reads, _others, _long, _commits, _states]
    PAGE.write_text("\n".join([HEAD, *(part(found) for part in parts)]), encoding="utf-8")


def _facts(found: dict[str, Any]) -> str:
    lines = [
        "| experiment | database | python | sqlalchemy | psycopg | numpy | cores | load | fsync |",
        "|---" * 9 + "|",
    ]
    for name, each in found.items():
        facts = each["facts"]
        lines.append(
            f"| {name} | {facts['database'].split(' (')[0]} | {facts['python']} | {facts['sqlalchemy']} "
            f"| {facts['psycopg']} | {facts['numpy']} | {facts['cores']} | {facts['load_average']} "
            f"| {facts['fsync_ms']} ms |"
        )
    return "\n".join([*lines, ""])


def _grown(found: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    names = [f"{kind}: {numbers}" for kind in KINDS for numbers in ("random doubles", "mixture")]
    return [(name, found[name]) for name in names if name in found]


def _sizes(found: dict[str, Any]) -> str:
    lines = [
        "## Bytes a stored value\n",
        "All that the store made: tables, indexes, dictionary, details. Random doubles are the worst case; the mixture "
        "is a sixth zeros and ones, a third counts, a sixth with two decimals, a third any double. Not counted: "
        "SQLite's write-ahead log (about 8 MB, made anew), and PostgreSQL's catalogue, which every database has.\n",
        "| numbers | runs | values | bytes | **bytes a value** | PostgreSQL's catalogue |",
        "|---" * 6 + "|",
    ]
    for name, each in _grown(found):
        for runs, size in each["sizes"].items():
            lines.append(
                f"| {name} | {int(runs):,} | {int(runs) * each['metrics']:,} | {size['bytes']:,} "
                f"| **{size['bytes_per_value']:.2f}** | {size['bytes_outside']:,} |"
            )
    return "\n".join([*lines, ""])


def _full_size(found: dict[str, Any]) -> str:
    lines = [
        "Measured up to the largest number of runs above. **Extrapolated** from there, by a line through the sizes:\n"
    ]
    for name, each in _grown(found):
        fit = each["fit"]
        whole = fit["bytes_per_value"] * fit["runs"] * each["metrics"]
        lines.append(
            f"- {name}: {fit['bytes_once'] / 1e6:.2f} MB once and {fit['bytes_a_run']:,.0f} bytes a run (the line "
            f"misses no size by more than {fit['largest_error']:.1%}); at {fit['runs']:,} runs "
            f"{fit['bytes_per_value']:.2f} bytes a value, {whole / 1e9:.1f} GB in all."
        )
    return "\n".join([*lines, ""])


def _reads(found: dict[str, Any]) -> str:
    lines = [
        "## Reads, milliseconds\n",
        "The gate's read is `store.last(dataset, 90)` and `store.series` of all metrics; "
        "the processor's time is that of the reading process, which for SQLite is all there is, whoever is busy.\n",
        "| numbers | runs | gate's read: best | median | p95 | processor | `last` | one series | p95 | all runs |",
        "|---" * 10 + "|",
    ]
    for name, each in _grown(found):
        for runs, size in each["sizes"].items():
            gate, one = size["gate_read"], size["one_series"]
            lines.append(
                f"| {name} | {int(runs):,} | {gate['min_ms']:.0f} | {gate['median_ms']:.0f} | **{gate['p95_ms']:.0f}** "
                f"| {gate['cpu_median_ms']:.0f} | {size['last']['median_ms']:.1f} | {one['median_ms']:.1f} "
                f"| **{one['p95_ms']:.1f}** | {size['one_series_all_runs']['median_ms']:.1f} |"
            )
    for name, each in _grown(found):
        cold, view = each["cold_gate_read"], each["view_one_metric"]
        lines.append(
            f"\n{name}: the gate's read by a process that first opens the store takes {cold['median_ms']:.0f} ms "
            f"(p95 {cold['p95_ms']:.0f}), of which the parsing of the metric keys is a part; one metric of all "
            f"runs through the view `metric_history` {view['median_ms']:.0f} ms (p95 {view['p95_ms']:.0f})."
        )
    return "\n".join([*lines, ""])


def _others(found: dict[str, Any]) -> str:
    lines = [
        "## Other datasets in the same database\n",
        "| database | other datasets | gate's read alone | among them | `last` alone | among them |",
        "|---" * 6 + "|",
    ]
    for kind in KINDS:
        if each := found.get(f"{kind}: among many datasets"):
            alone, among = each["alone"], each["among"]
            lines.append(
                f"| {kind} | {each['datasets']:,} | {alone['gate_read']['median_ms']:.0f} ms "
                f"| {among['gate_read']['median_ms']:.0f} ms | {alone['last']['median_ms']:.1f} ms "
                f"| {among['last']['median_ms']:.1f} ms |"
            )
    return "\n".join([*lines, ""])


def _long(found: dict[str, Any]) -> str:
    lines = [
        "## The full number of runs\n",
        "One dataset with 126 metrics a run, all but its first run written by SQL. It shows how reads change with "
        "the number of runs; with the sizes above it is why the full history was not written.\n",
        "| database | runs | `last` of 90 | one series, 90 runs | one series, all runs | bytes a value |",
        "|---" * 6 + "|",
    ]
    for kind in KINDS:
        if each := found.get(f"{kind}: long history"):
            lines.append(
                f"| {kind} | {each['runs']:,} | {each['last']['median_ms']:.1f} ms "
                f"| {each['one_series']['median_ms']:.1f} ms (p95 {each['one_series']['p95_ms']:.1f}) "
                f"| {each['one_series_all_runs']['median_ms']:.0f} ms | {each['bytes_per_value']:.2f} |"
            )
    return "\n".join([*lines, ""])


def _commits(found: dict[str, Any]) -> str:
    lines = [
        "## Durable commits of 6,000 metrics\n",
        "The last stretch of the growth above, one writer; and several processes, each with its own dataset. Taking "
        "the run apart into its record happens before the database is asked, and is part of the commit.\n",
        "| database | writers | commits a second | a commit: best | median | p95 | of it, the record: best | median |",
        "|---" * 8 + "|",
    ]
    for name, each in _grown(found):
        last, share = list(each["sizes"].values())[-1]["commits"], each["recorded"]
        lines.append(
            f"| {name} | 1 | **{last['per_second']:.0f}** | {last['min_ms']:.1f} ms | {last['median_ms']:.1f} ms "
            f"| {last['p95_ms']:.1f} ms "
            f"| {share['min_ms']:.1f} ms | {share['median_ms']:.1f} ms |"
        )
    for kind in KINDS:
        if each := found.get(f"{kind}: several writers"):
            lines.append(f"| {kind} | {each['writers']} | **{each['per_second']:.0f}** | | | | | |")
    return "\n".join([*lines, ""])


def _states(found: dict[str, Any]) -> str:
    lines = [
        "## Runs of 40 columns with their states\n",
        "| database | states | outcomes | commits a second | a commit, median | of it, the record | bytes a run "
        "| ten states of all runs |",
        "|---" * 8 + "|",
    ]
    for kind in KINDS:
        if each := found.get(f"{kind}: runs with states"):
            lines.append(
                f"| {kind} | {each['states']} | {each['outcomes']} | {each['commits']['per_second']:.0f} "
                f"| {each['commits']['median_ms']:.1f} ms | {each['recorded']['median_ms']:.1f} ms "
                f"| {each['bytes_per_run']:,.0f} | {each['ten_states_of_all_runs']['median_ms']:.1f} ms |"
            )
    return "\n".join([*lines, ""])
