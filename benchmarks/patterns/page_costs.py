"""What rules and indexes cost: the sections of the page on time, memory and safety."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.patterns import figures
from benchmarks.patterns.scaling import NODE_CORES, NODES, OTHER_TAU
from benchmarks.patterns.tables import header, table_row

Found = dict[str, Any]

PAPER_MS, PAPER_VALUES = 82, 8_945  # of a rule, and of a column of the paper's lake
HOURS = {8: 1, 13: 3}  # of the paper's build on 10 nodes, by tau
LIMITS = {"median": 10.0, "p99": 50.0}  # milliseconds to infer a rule
OPEN_MS, OPEN_MB = 50.0, 100.0
LONGEST = 80  # characters of an expression


def speed(told: Found) -> str:
    limits = " and ".join(f"{name} at most {limit:g} ms" for name, limit in LIMITS.items())
    lines = [
        "## Time of inference\n",
        f"A rule from {told['values']:,} values (half as many, twice over: no column of the corpus has more) on one "
        f"core: {told['columns']:,} columns, each the median of {told['rounds']} rounds, methods in turn, an index of "
        f"{told['patterns']:,} patterns ({told['bytes'] / 1e6:,.0f} MB) in the page cache. Milliseconds. Wanted: "
        f"{limits}; in bold what is more. The paper: {PAPER_MS} ms, mean, FMDV-VH.\n",
        *header("method", "median", "p90", "p99", "most", "mean"),
    ]
    for name, taken in told["milliseconds"].items():
        cells = [
            f"**{taken[at]:.1f}**" if taken[at] > LIMITS.get(at, taken[at]) else f"{taken[at]:.1f}"
            for at in ("median", "p90", "p99", "most", "mean")
        ]
        lines.append(table_row(name, *cells))
    return "\n".join([*lines, ""])


def opening(told: Found) -> str:
    lines = [
        "## Opening a large index\n",
        f"{told['bytes'] / 1e9:.2f} GB, {told['entries']:,} random entries; the median of {told['rounds']} fresh "
        f"processes, without the {told['medians']['warm, 1 key']['import_ms']:.0f} ms of imports. *Cold*: the system "
        f"was asked to drop the file from its cache. Wanted: at most {OPEN_MS:g} ms and {OPEN_MB:g} MB for opening "
        f"and the first look-up. Checking every byte takes {told['verify_seconds']:.1f} s.\n",
        *header("", "open and look up, ms", "of it open, ms", "same keys again, ms", "memory added, MB"),
    ]
    for name, each in told["medians"].items():
        cells = (each["open_and_look_up_ms"], each["open_ms"], each["again_ms"], each["memory_added_mb"])
        lines.append(table_row(name, *(f"{cell:.1f}" for cell in cells)))
    return "\n".join([*lines, ""])


def building(told: Found, pictures: Path) -> str:
    figures.draw_building(told["ways"], pictures)
    lines = [
        "## Building an index\n",
        f"Parquet files in, index file out, medians of {told['rounds']} rounds, τ = {told['tau']}. CPU seconds are "
        "those of all processes (driver, JVM, workers), which others on the machine change less than seconds (load "
        f"average {min(told['load_average']):.1f} to {max(told['load_average']):.1f} on {told['cores']} cores). The "
        "line is the one nearest in relative terms.\n",
        "![building](pictures/patterns-building.svg)\n",
        *header(
            "",
            "columns",
            "seconds",
            "CPU seconds",
            "columns a CPU second",
            "ms a column (line)",
            "largest distance from line",
        ),
    ]
    for way, each in told["ways"].items():
        rates = each["columns_a_second_and_core, cpu_seconds"]
        for at, columns in enumerate(each["columns"]):
            last = at == len(each["columns"]) - 1
            slope = f"{1_000 * each['cpu_seconds_a_column']:.2f}" if last else ""
            far = f"{each['cpu_seconds_largest_deviation_from_linear']:.1%}" if last else ""
            spent = (f"{each['median_seconds'][at]:.1f}", f"{each['median_cpu_seconds'][at]:.1f}")
            lines.append(table_row(way, f"{columns:,}", *spent, f"{rates[at]:,.0f}", slope, far))
    return "\n".join([*lines, "", *_lake(told), ""])


def _lake(told: Found) -> Iterator[str]:
    lake, last = told["papers_lake"], told["index"]["sizes"][-1]
    costs = "; ".join(
        f"{way}, {lake[way]['core_hours']:.1f} core hours, which is "
        f"{60 * lake[way][f'hours_on_{NODES}_x_{NODE_CORES}']:.0f} minutes on {NODES} nodes of {NODE_CORES} cores"
        for way in told["ways"]
    )
    hours = ", ".join(f"about {spent} h with τ = {tau}" for tau, spent in HOURS.items())
    yield (
        f"By the lines, {lake['columns']:,} columns, as many as in the paper's lake, take: {costs}. The paper: {hours} "
        f"on {NODES} nodes; it does not say of how many cores. The lines are drawn on to "
        f"{lake['columns'] / last['columns']:,.0f} times what was measured. And the paper's columns have "
        f"{PAPER_VALUES:,} values on average, more than any column here, so each would cost more than one of "
        "these.\n"
    )
    other = told.get(f"tau {OTHER_TAU}, all columns, one round", {})
    if other:
        spent = "; ".join(f"{way} {each['cpu_seconds']:.1f} CPU seconds" for way, each in other.items())
        size = next(iter(other.values()))
        yield f"With τ = {OTHER_TAU}, {size['columns']:,} columns, one round: {spent}, {size['bytes'] / 1e6:,.0f} MB.\n"
    yield from header(
        "patterns kept",
        "bytes a column",
        f"MB of {last['columns']:,} columns",
        "bytes grow as columns to the power of",
        "GB of the paper's lake, by that",
    )
    for floor, growth in told["index"]["growth"].items():
        name = "all" if floor == "1" else f"of {floor} columns and more"
        size = f"{last['bytes'][floor] / 1e6:,.0f}"
        yield table_row(
            name,
            f"{last['bytes_a_column'][floor]:,}",
            size,
            f"{growth['exponent']:.2f}",
            f"{growth['papers_lake_gb']:.0f}",
        )


def safety(told: Found) -> str:
    lines = [
        "## Expressions that are safe to run\n",
        f"Every expression that a method accepts on a set ({told['expressions']:,} different ones), against long "
        "values that match as far as they can and fail at the end. For RE2 and Python the slowest text of each, best "
        "of a few rounds; for Java (Spark's RLIKE) the mean of one query over all texts.\n",
        *header("engine", "characters of a value", "slowest, ms", f"over {told['limit']:g} ms", "slowest expression"),
    ]
    for engine, slowest in told["slowest"].items():
        worst: Found = slowest[0]
        regex = worst["regex"].encode("ascii", "backslashreplace").decode()
        shown = f"`{_shortened(regex)}`".replace("|", "\\|")
        counts = (f"{told['characters'][engine]:,}", f"{worst['milliseconds']:.1f}", f"{told['over'][engine]:,}")
        lines.append(table_row(engine, *counts, shown))
    return "\n".join([*lines, ""])


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
