# ruff: noqa: E501
"""The page about tables, written from the results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.tables.lake import FORMATS

PAGE = Path(__file__).parents[2] / "docs" / "tables-benchmark.md"


def write_page(results: Path) -> None:
    """Write the page, if every part was measured on both formats."""
    found = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(results.glob("*.json"))}
    wanted = {f"{form}_{part}" for form in FORMATS for part in ("reader", "kills", "races", "cost")}
    if wanted <= found.keys():
        PAGE.write_text("\n".join([*_describe(found), ""]), encoding="utf-8")


def _describe(found: dict[str, Any]) -> Iterator[str]:
    versions = found["iceberg_reader"]["versions"]
    jars = sorted({jar for each in found.values() for jar in each["jars"]})
    yield "# Iceberg and Delta under readers, kills and races"
    yield ""
    yield f"Written by `make bench-tables`; do not edit. Spark {versions['pyspark']}, {', '.join(f'`{each}`' for each in jars)}; two cores. The guide: [write, audit, publish](guides/tables.md)."
    yield ""
    yield "## A reader who looks all the time"
    yield ""
    yield "Days are staged, judged and published or held one after another. Every tenth is bad, every seventh is delivered twice. A second session reads the whole table, waits 0.1 seconds, and reads it again."
    yield ""
    yield from _make_table(
        found,
        "reader",
        {
            "days": "days",
            "bad": "bad days",
            "looks": "looks",
            "failed_looks": "looks that failed",
            "days_seen": "days seen in them",
            "bad_seen": "bad days seen",
            "half_seen": "parts or mixtures of a day seen",
            "gone_again": "looks in which a day was gone again",
            "right_at_the_end": "every day right at the end",
        },
    )
    yield "## Kills"
    yield ""
    yield "A call is ended at one of its steps, drawn by chance; a new gate recovers. If nothing was committed before the kill, or in half of the other cases, the job runs again. The calls: publish, hold, replace a published day, hold a replacement, repair a held day, release, discard."
    yield ""
    yield from _make_table(
        found, "kills", {"kills": "kills", "lost": "lost", "doubled": "doubled", "bad": "bad", "stuck": "stuck"}
    )
    yield "| step | " + " | ".join(FORMATS) + " |"
    yield "|---|---|---|"
    for step in sorted({step for form in FORMATS for step in found[f"{form}_kills"]["steps"]}):
        yield (
            f"| `{step}` | " + " | ".join(str(found[f"{form}_kills"]["steps"].get(step, 0)) for form in FORMATS) + " |"
        )
    yield ""
    yield "## Races"
    yield ""
    yield "In each round, at the same time: two jobs deliver the same day with other rows, two jobs deliver a day each, and somebody else appends a day of their own. A job that was refused runs again, as a scheduler runs it."
    yield ""
    yield from _make_table(
        found,
        "races",
        {
            "rounds": "rounds",
            "lost": "lost",
            "doubled": "doubled or mixed",
            "others_rows_kept": "days of the other writer that are there",
            "undecided": "undecided",
            "refused": "refused calls",
        },
    )
    yield "## Jobs and time"
    yield ""
    first = found["iceberg_cost"]
    yield f"{first['rows']:,} rows x {first['columns']} columns of a cached frame, medians of {first['rounds']} rounds in which the steps take turns. The scan is that of a gate that learns nothing, of the batch as the plain table has it."
    yield ""
    yield "| seconds | " + " | ".join(FORMATS) + " |"
    yield "|---|---|---|"
    for name in ("plain write", "stage", "judge and publish", "scan"):
        yield f"| {name} | " + " | ".join(f"{found[f'{form}_cost']['seconds'][name]:.2f}" for form in FORMATS) + " |"
    yield (
        "| added to the plain write, without the scan, as a share of it | "
        + " | ".join(f"{_find_ratio(found[f'{form}_cost']['seconds']):.2f}" for form in FORMATS)
        + " |"
    )
    yield ""
    yield "With Delta, every row is written twice: when it is staged, and by the commit that publishes, since Delta has no call that adds files which are written already. A second plain write alone would add 1.00. Iceberg picks a snapshot, so it writes no row again; the rest is the scan and short jobs that read refs and notes."
    yield ""
    yield "| jobs | " + " | ".join(FORMATS) + " |"
    yield "|---|---|---|"
    for name in ("plain write", "stage", "judge and publish"):
        yield f"| {name} | " + " | ".join(_count(found[f"{form}_cost"]["jobs"][name]) for form in FORMATS) + " |"


def _make_table(found: dict[str, Any], part: str, rows: dict[str, str]) -> Iterator[str]:
    yield "| | " + " | ".join(FORMATS) + " |"
    yield "|---|---|---|"
    for key, words in rows.items():
        yield f"| {words} | " + " | ".join(_format(found[f"{form}_{part}"][key]) for form in FORMATS) + " |"
    yield ""


def _format(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value:,}"


def _find_ratio(seconds: dict[str, float]) -> float:
    ours = seconds["stage"] + seconds["judge and publish"] - seconds["scan"]
    return ours / seconds["plain write"] - 1.0


def _count(jobs: list[str]) -> str:
    own = sum(each.startswith("Delta:") for each in jobs)
    return f"{len(jobs)}, of them {own} of Delta's log" if own else str(len(jobs))
