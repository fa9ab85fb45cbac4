"""Writes docs/benchmarks.md from the results, so that no number there is typed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Written by `make bench-engine` from `benchmarks/engine/results/engine.json`; do not edit.

Shared, noisy machines: read the ratios. All steps of an experiment run in turn, round after round, in one process,
after warm-up; the figure is the median. The plain scan is Spark reading the same Parquet into its noop sink.
"""


def write_page(found: dict[str, Any]) -> None:
    parts = [HEAD, _versions(found), _experiments(found), _split(found), _choices(found)]
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def _versions(found: dict[str, Any]) -> str:
    named = {", ".join(f"{name} {each}" for name, each in result["versions"].items()) for result in found.values()}
    return "; ".join(sorted(named)) + ".\n"


def _experiments(found: dict[str, Any]) -> str:
    lines = [
        "## The whole default state set against the plain scan\n",
        "Counts, moments, HLL, quantiles, character classes, frequent values and frequent patterns of all columns. The",
        "columns of the mixed tables are half strings, of which a quarter are nearly unique.\n",
        "| table | rows | columns | scan | whole | ratio | by round | MB/s a core | cells/s a core | SQL by hand |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, each in found.items():
        if "ratio_to_scan" in each:
            medians, ratios = each["median_seconds"], each["ratio_by_round"]
            by_hand = found.get(f"SQL by hand: {name}")
            native = f"{by_hand['sql_ratio_to_scan']:.1f} x" if by_hand else "not run"
            lines.append(
                f"| {name} | {each['rows']:,} | {each['columns']} | {medians['scan']:.2f} s | {medians['whole']:.2f} s "
                f"| **{each['ratio_to_scan']:.2f} x** | {', '.join(f'{ratio:.2f}' for ratio in ratios)} "
                f"| {each['mb_per_second_per_core']:.1f} | {each['cells_per_second_per_core'] / 1e6:.2f} M | {native} |"
            )
    return "\n".join([*lines, _linearity(found), _local(found), ""])


def _linearity(found: dict[str, Any]) -> str:
    sizes = sorted((each for name, each in found.items() if name.startswith("linear")), key=lambda each: each["rows"])
    rates = [f"{each['median_seconds']['whole'] / each['rows'] * 1e6:.2f}" for each in sizes]
    rows = ", ".join(f"{each['rows'] / 1e6:g}" for each in sizes)
    return f"\nSeconds a million rows of 10 columns, for {rows} million rows: {', '.join(rates)}." if sizes else ""


def _local(found: dict[str, Any]) -> str:
    local = found.get("local 1,000 x 10")
    if not local:
        return ""
    return f"\nLocal engine, 1,000 rows x 10 columns, default set, warm: **{local['milliseconds']:.1f} ms**."


def _split(found: dict[str, Any]) -> str:
    lines = [
        "## Where the time goes\n",
        "Differences of medians: scan; transfer to Python; fold; merge on the cluster, collect and measure.\n",
        "| table | scan | transfer | fold | merge and driver |",
        "|---|---|---|---|---|",
    ]
    for name, each in found.items():
        if "split_seconds" in each:
            cells = " | ".join(f"{seconds:.2f} s" for seconds in each["split_seconds"].values())
            lines.append(f"| {name} | {cells} |")
    return "\n".join([*lines, ""])


def _choices(found: dict[str, Any]) -> str:
    lines = ["## The ways not taken\n", "The figures behind decisions 0007 to 0009.\n"]
    lines += ["| what | way | median |", "|---|---|---|"]
    for title, results in found.items():
        what, _, unit = title.rpartition(", ")
        if unit not in ("seconds", "nanoseconds a value"):
            continue
        for case, ways in results.items():
            if case != "versions":
                lines += [f"| {what}: {case} | {way} | {value:.3g} {unit} |" for way, value in ways.items()]
    return "\n".join([*lines, ""])
