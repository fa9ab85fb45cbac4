"""Writes docs/performance.md, so that no number there is typed by hand."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.engine.page import SERIES
from benchmarks.peers import summary
from benchmarks.peers.page import NAMES
from benchmarks.peers.summary import OURS, Pair, format_figure
from benchmarks.performance.costs import ScanCost, list_scan_costs
from benchmarks.performance.figures import draw_growth, draw_peers
from benchmarks.performance.fleet import (
    SMALL,
    Fleet,
    Measured,
    TableClass,
    commit_hours,
    gigabytes_a_day,
    judge_core_hours,
    scan_core_hours,
)

DOCS = Path(__file__).parents[2] / "docs"
PRICE = 0.05
WIDTH = 118
FLEET = Fleet(
    (
        TableClass("small", 120_000, 10_000, 50),
        TableClass("usual", 29_000, 1_000_000, 40),
        TableClass("large", 1_000, 100_000_000, 40),
    ),
    900_000_000,
)
FEW_ROWS = "few 1k x 10"
FILES, ROWS = "files read by tasks", "rows from Spark"


@dataclass(frozen=True)
class Results:
    """The results of the benchmarks that the page draws on."""

    engine: dict[str, Any]
    peers: dict[str, Any]
    store: dict[str, Any]
    gate: dict[str, Any]


HEAD = """# Performance

What a scan costs beside Spark's plain scan and other tools, what a terabyte costs, and a plan for 150,000 tables.
{result}
Repeat it with `make bench-engine` and `make bench-peers`; `make performance` writes this page from their results.
"""


def write_page(found: Results, docs: Path = DOCS) -> None:
    pictures = docs / "pictures"
    pictures.mkdir(exist_ok=True)
    parts = [
        HEAD.format(result=_state_result(found)),
        _describe_scan(found, pictures),
        _describe_peers(found, pictures),
        _describe_memory(found),
        "## What a terabyte costs\n",
        format_costs(found, PRICE),
        _describe_fleet(found),
        METHOD,
    ]
    (docs / "performance.md").write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _state_result(found: Results) -> str:
    scans = [
        f"{name} {each['cpu_ratios'][FILES]['median']:.2f}"
        for name, each in found.engine.items()
        if "cpu_ratios" in each and not name.startswith(SERIES)
    ]
    pairs = [pair for pair in summary.list_pairs(found.peers) if pair.peer == "deequ" and pair.is_compared]
    ratios = sorted(pair.ratio("cpu").median for pair in pairs)
    deequ = f" Deequ takes {ratios[0]:.1f} to {ratios[-1]:.1f} times what Headgate takes." if ratios else ""
    return f"The default metrics of all columns take so many times a plain scan: {', '.join(scans)}.{deequ}"


def _describe_scan(found: Results, pictures: Path) -> str:
    lines = [
        "## Beside a plain scan\n",
        "The default metrics of every column: counts, moments, quantiles, distinct values, frequent values, patterns.",
        "If the batch is a plain scan of Parquet files, tasks read the files themselves; else Spark makes the rows.",
        "[All figures](benchmarks.md).\n",
        "| table | plain scan, CPU s | files read by tasks | ratio | rows from Spark | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for name, each in found.engine.items():
        if "cpu_ratios" in each:
            medians, ratios = each["medians"], each["cpu_ratios"]
            cells = [f"{medians[way]['cpu']:.2f} | {ratios[way]['median']:.2f}" for way in (FILES, ROWS)]
            lines.append(f"| {name} | {medians['scan']['cpu']:.2f} | {' | '.join(cells)} |")
    local = found.engine.get("local 1,000 x 10")
    if local:
        lines.append(f"\nWithout Spark, 1,000 rows of 10 columns take {local['milliseconds']:.1f} ms.")
    plots = (("linear", "rows", "10 columns"), ("columns", "columns", "100,000 rows"))
    for prefix, axis, title in plots:
        if draw_growth(found.engine, prefix, axis, title, pictures / f"performance-{axis}.svg"):
            lines.append(f"\n![CPU seconds against {axis}](pictures/performance-{axis}.svg)")
    return "\n".join([*lines, ""])


def _describe_peers(found: Results, pictures: Path) -> str:
    pairs = [pair for pair in summary.list_pairs(found.peers) if pair.is_compared]
    if not pairs:
        return "## Beside other tools\n\nNo figures are committed yet: [side by side](peers-benchmark.md).\n"
    systems = [name for name in NAMES if any(pair.peer == name for pair in pairs)]
    by_cell: dict[str, dict[str, Pair]] = {}
    for pair in pairs:
        by_cell.setdefault(pair.cell, {})[pair.peer] = pair
    lines = [
        "## Beside other tools\n",
        "How many times the CPU seconds of Headgate each takes for the same work on the same files, both warm; in",
        "brackets for the first time in a process. A blank is what a tool cannot do or was not measured on.",
        "[All figures, with memory, jobs and what each cannot do](peers-benchmark.md).\n",
        f"| work | {' | '.join(NAMES[name] for name in systems)} |",
        "|---" * (len(systems) + 1) + "|",
    ]
    for cell, of_peers in by_cell.items():
        ratios = [_format_ratio(of_peers.get(name)) for name in systems]
        lines.append(f"| {cell} | {' | '.join(ratios)} |")
    points = [{"cell": each.cell, "system": NAMES[each.peer], "ratio": each.ratio("cpu").median} for each in pairs]
    draw_peers(points, pictures / "performance-peers.svg")
    lines.append("\n![Other systems beside Headgate](pictures/performance-peers.svg)")
    return "\n".join([*lines, ""])


def _format_ratio(pair: Pair | None) -> str:
    return "" if pair is None else f"{pair.ratio('cpu').median:.1f} ({pair.cold_ratio('cpu'):.1f})"


def _describe_memory(found: Results) -> str:
    pairs = [pair for pair in summary.list_pairs(found.peers) if pair.workload == "states"]
    if not pairs:
        return ""
    lines = [
        "## Memory\n",
        "The largest proportional set size, in megabytes, of the default metrics of all columns.\n",
        "| table | a worker | the Python of the driver | the JVM, 2 GB of heap |",
        "|---|---|---|---|",
    ]
    keys = ("largest_worker_pss_mb", "driver_python_pss_mb", "jvm_pss_mb")
    for pair in pairs:
        sizes = [f"{pair.memory(OURS, key):,.0f}" for key in keys]
        lines.append(f"| {pair.cell.partition(' on ')[2]} | {' | '.join(sizes)} |")
    return "\n".join([*lines, ""])


def format_costs(found: Results, price: float) -> str:
    """The costs of a terabyte of Parquet files as a table."""
    lines = [
        f"At {price:g} for a core and hour (`python -m benchmarks.performance --price ...` prints it for another).\n",
        "| table | MB of Parquet | ns a cell | core hours a TB | price | plain scan | price |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in list_scan_costs(found.engine):
        lines.append(_format_cost(each, price))
    return "\n".join([*lines, ""])


def _format_cost(cost: ScanCost, price: float) -> str:
    ours, scan = (cost.core_hours_a_terabyte(cpu) for cpu in (cost.files_cpu, cost.scan_cpu))
    return (
        f"| {cost.table} | {cost.parquet_bytes / 1e6:,.0f} | {cost.nanoseconds_a_cell(cost.files_cpu):.0f} "
        f"| {ours:.1f} | {ours * price:.2f} | {scan:.1f} | {scan * price:.2f} |"
    )


def read_measured(found: Results) -> Measured:
    """What the plan of a fleet is computed from."""
    gate, store = found.gate, found.store
    mixed = found.engine["mixed 2M x 40"]
    sizes = store["PostgreSQL: random doubles"]["sizes"]
    states, among = store["PostgreSQL: runs with states"], store["PostgreSQL: among many datasets"]
    states_ms = gate["cpu_milliseconds"]["states alone"]
    return Measured(
        local_ns=states_ms * 1e6 / (gate["rows"] * gate["columns"]),
        spark_ns=mixed["medians"][FILES]["cpu"] / (mixed["rows"] * mixed["columns"]) * 1e9,
        spark_fixed=found.engine[FEW_ROWS]["medians"][FILES]["cpu"],
        judge_cpu=(gate["cpu_milliseconds"]["judge, not prepared"] - states_ms) / 1e3,
        judge_columns=gate["columns"],
        value_bytes=sizes["1000"]["bytes_per_value"],
        state_bytes=states["bytes_per_run"] / states["outcomes"],
        commits=store["PostgreSQL: several writers"]["per_second"],
        state_commits=states["commits"]["per_second"],
        read_ms=among["among"]["gate_read"]["p95_ms"],
        datasets=among["datasets"],
    )


def _describe_fleet(found: Results) -> str:
    measured = read_measured(found)
    intro = (
        f"{FLEET.tables:,} tables with a batch a day and {FLEET.values / 1e6:,.0f} million metric values a day, "
        f"{FLEET.values_of_a_run:,.0f} a run. Each step is derived from what was measured of one table, or of some; "
        "the last column says of how many. How many tables are of which size is assumed."
    )
    lines = [
        f"## A plan for {FLEET.tables:,} tables\n",
        f"{textwrap.fill(intro, WIDTH)}\n",
        "| tables | of | where it runs | core hours a day: scan | learn and judge | derived from |",
        "|---|---|---|---|---|---|",
    ]
    for each in FLEET.classes:
        local = each.cells <= SMALL
        where = "the process that makes the table, without Spark" if local else "the job that makes the table, on Spark"
        source = "one table of 10,000 x 50" if local else "one table of 2 million x 40"
        scan, judge = scan_core_hours(each, measured), judge_core_hours(each, measured)
        lines.append(
            f"| {each.tables:,} {each.title} | {each.rows:,} x {each.columns} | {where} "
            f"| {format_figure(scan)} | {format_figure(judge)} | {source} |"
        )
    values, states = (gigabytes_a_day(FLEET, size) for size in (measured.value_bytes, measured.state_bytes))
    share = measured.datasets / FLEET.tables
    lines += [
        "",
        "| store: PostgreSQL | a day | derived from |",
        "|---|---|---|",
        f"| commits of values, four writers | {commit_hours(FLEET, measured.commits):.1f} hours | "
        f"{measured.commits:.0f} a second on one dataset for each writer |",
        f"| commits with states, one writer | {commit_hours(FLEET, measured.state_commits):.1f} hours | "
        f"{measured.state_commits:.0f} a second, of 241 states |",
        f"| metric values | {values:,.1f} GB | {measured.value_bytes:.1f} bytes a value, 6 million values |",
        f"| values with states | {states:,.0f} GB | {measured.state_bytes:,.0f} bytes a value, 40 runs |",
        f"| the read of a gate, 95th percentile | {measured.read_ms:.0f} ms | {measured.datasets:,} datasets, "
        f"{share:.1%} of the fleet |",
    ]
    breaks = (
        f"**What breaks first: the states.** They take {states / values:.0f} times as much as the values. Learning "
        "reads the last 30 trusted runs; older states serve to merge partitions and to judge a run again. There is no "
        "command yet that deletes old runs: start a new schema when the disk fills, and keep the old one to read.",
        f"**Then the values:** {values * 365 / 1e3:.1f} TB a year. No query of a gate crosses datasets, so give each "
        "group of teams a database of its own.",
        "**Then the hour in which all batches come.** A commit waits for the disk. More databases commit more; a "
        "batch whose commit waits is not published meanwhile.",
    )
    return "\n".join([*lines, "", *(f"{textwrap.fill(each, WIDTH)}\n" for each in breaks)])


METHOD = """## How it was measured

Two shared, noisy cores of one machine: read the ratios. All that is compared takes turns in one run after warm-up; a
figure is a median. CPU seconds are those of the driver, the JVM and all Python workers, ended ones included. The pages
that are linked name versions and machines, and have the least and the most beside each median. A core hour of another
processor does more or less.
"""
