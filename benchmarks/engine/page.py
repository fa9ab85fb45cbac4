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
    PAGE.write_text(
        "\n".join([HEAD, _versions(found), _experiments(found), _split(found), _choices(found)]), encoding="utf-8"
    )


def _versions(found: dict[str, Any]) -> str:
    named = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return f"Medians of {found['rounds']} rounds; {named}.\n"


def _experiments(found: dict[str, Any]) -> str:
    lines = [
        "## The whole default state set against the plain scan\n",
        "Counts, moments, HLL, KLL, character classes, frequent values and frequent patterns of every column. The columns",
        "of the mixed tables are half strings, of which a quarter are nearly unique.\n",
        "| table | rows | columns | scan | whole | ratio | rounds | MB/s a core | cells/s a core | SQL by hand |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, each in found["experiments"].items():
        if "ratio_to_scan" not in each:
            continue
        medians, ratios = each["median_seconds"], each["ratio_by_round"]
        native = f"{each['native_sql_ratio_to_scan']:.1f} x" if "native_sql_ratio_to_scan" in each else "not run"
        lines.append(
            f"| {name} | {each['rows']:,} | {each['columns']} | {medians['scan']:.2f} s | {medians['whole']:.2f} s "
            f"| **{each['ratio_to_scan']:.2f} x** | {min(ratios):.2f} to {max(ratios):.2f} "
            f"| {each['mb_per_second_per_core']:.1f} | {each['cells_per_second_per_core'] / 1e6:.2f} M | {native} |"
        )
    local = found["experiments"]["local 1,000 x 10"]
    lines.append(f"\nLocal engine, 1,000 rows x 10 columns, default set, warm: **{local['milliseconds']:.1f} ms**.")
    return "\n".join([*lines, _linearity(found), ""])


def _linearity(found: dict[str, Any]) -> str:
    sizes = [each for name, each in found["experiments"].items() if name.startswith("linear")]
    if len(sizes) < 2:
        return ""
    rates = [each["median_seconds"]["whole"] / each["rows"] * 1e6 for each in sizes]
    shown = ", ".join(f"{rate:.2f}" for rate in rates)
    low, high = sizes[0]["rows"] / 1e6, sizes[-1]["rows"] / 1e6
    return f"\nSeconds a million rows of 10 columns, from {low:g} to {high:g} million rows: {shown}."


def _split(found: dict[str, Any]) -> str:
    lines = [
        "## Where the time goes\n",
        "Differences of medians: scan; transfer to Python; fold; merge on the cluster, collect and measure.\n",
        "| table | scan | transfer | fold | merge and driver |",
        "|---|---|---|---|---|",
    ]
    for name, each in found["experiments"].items():
        if "split_seconds" in each:
            cells = " | ".join(f"{seconds:.2f} s" for seconds in each["split_seconds"].values())
            lines.append(f"| {name} | {cells} |")
    return "\n".join([*lines, ""])


def _choices(found: dict[str, Any]) -> str:
    lines = [
        "## The ways not taken\n",
        "The figures behind decisions 0007 to 0009.\n",
        "| | way | median |",
        "|---|---|---|",
    ]
    for title, results in found["choices"].items():
        unit = title.rpartition(", ")[2]
        flat = results if isinstance(next(iter(results.values())), dict) else {"": results}
        for case, ways in flat.items():
            for way, value in ways.items():
                label = f"{title.rpartition(', ')[0]}: {case}".rstrip(": ")
                lines.append(f"| {label} | {way} | {value:.3g} {unit} |")
    return "\n".join([*lines, ""])
