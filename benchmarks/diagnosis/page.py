"""Writes docs/diagnosis-benchmark.md from the results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.diagnosis.scoring import Row
from benchmarks.diagnosis.summary import (
    GOALS,
    count_confusions,
    measure,
    measure_faults,
    measure_groups,
    tabulate_confusions,
)
from benchmarks.gate.shares import Share

PAGE = Path(__file__).parents[2] / "docs" / "diagnosis-benchmark.md"


def write_page(results: Path, held_out: Path) -> None:
    rows = json.loads(results.read_text(encoding="utf-8"))
    held_out_rows = json.loads(held_out.read_text(encoding="utf-8")) if held_out.exists() else []
    PAGE.write_text("\n".join(make_page(rows, held_out_rows)) + "\n", encoding="utf-8")


def make_page(rows: Sequence[Row], held_out: Sequence[Row] = ()) -> list[str]:
    """The lines of the page."""
    lines = [
        "# Diagnosis: does the gate name the fault?",
        "",
        *_open_page(rows),
        *_show_groups(rows),
        *_show_faults(rows),
        *_show_confusions(rows),
    ]
    return [*lines, *_show_held_out(held_out)] if held_out else lines


def _open_page(rows: Sequence[Row]) -> list[str]:
    broken = [row for row in rows if row["fault"]]
    faults, feeds = len({row["fault"] for row in broken}), len({row["feed"] for row in broken})
    found = measure(rows)
    return [
        f"Measured: {len(broken):,} batches of {feeds} real feeds, each with one of {faults} faults, "
        "judged at 1%, values hidden.",
        f"Result: of the held ones, the first diagnosis names {_format_share(found['named first'])} right.",
        "Repeat it: `python -m benchmarks.diagnosis run`, then `python -m benchmarks.diagnosis page`.",
        "",
        "The faults are made by code of the benchmark (`benchmarks/diagnosis/faults`), not by the code that names",
        "them. A fault of values is in all rows of a column, or in one segment. Intervals are at 95%, clustered by",
        "dataset.",
        *_note_errors(rows),
        "",
    ]


def _note_errors(rows: Sequence[Row]) -> list[str]:
    errors = sum(bool(row.get("error")) for row in rows)
    return [f"The gate raised an error at {errors} of these batches; they count as not held."] if errors else []


def _show_groups(rows: Sequence[Row]) -> list[str]:
    groups = measure_groups(rows)
    lines = ["## Figures", "", f"| figure | goal | {' | '.join(groups)} |", "|---|---|" + "---|" * len(groups)]
    for name in groups["all"]:
        cells = " | ".join(_format_share(found[name]) for found in groups.values())
        lines.append(f"| {name} | {_format_goal(name)} | {cells} |")
    return [
        *lines,
        "",
        "*Chosen on* are the datasets that parameters were chosen on. Columns, parameters and segments are those of",
        "faults that are named right. A mixture counts as right if each of its two faults is named by a diagnosis.",
        "",
    ]


def _show_faults(rows: Sequence[Row]) -> list[str]:
    lines = ["## By fault", "", "| fault | held | named first | within three |", "|---|---:|---:|---:|"]
    for fault, found in measure_faults(rows).items():
        if found["named first"].judged:
            lines.append(_format_line(fault, found, ("faults held", "named first", "named within three")))
    lines += ["", "| fault without a name | held | no diagnosis |", "|---|---:|---:|"]
    for fault, found in _list_unknown(rows).items():
        lines.append(_format_line(fault, found, ("faults held", "unknown faults, no diagnosis")))
    return [*lines, ""]


def _list_unknown(rows: Sequence[Row]) -> Mapping[str, dict[str, Share]]:
    return measure_faults([row for row in rows if not row["canonical"]])


def _show_confusions(rows: Sequence[Row]) -> list[str]:
    return [
        "## Confusion matrix",
        "",
        "Held batches with one fault, by its true name; *right* for an unknown fault is no diagnosis.",
        "",
        *tabulate_confusions(count_confusions(rows)),
        "",
    ]


def _show_held_out(rows: Sequence[Row]) -> list[str]:
    lines = ["## Held-out feeds", "", "Judged once.", "", "| figure | goal | held out |", "|---|---|---|"]
    found = measure(rows)
    return [*lines, *(f"| {name} | {_format_goal(name)} | {_format_share(found[name])} |" for name in found), ""]


def _format_goal(name: str) -> str:
    goal = GOALS.get(name)
    return "" if goal is None else f"at most {-goal:.0%}" if goal < 0 else f"{goal:.0%}"


def _format_share(share: Share) -> str:
    if not share.judged:
        return "none"
    return f"{share.share:.1%} ({share.low:.1%} to {share.high:.1%}) of {share.judged:,}"


def _format_line(fault: str, found: Mapping[str, Share], names: Sequence[str]) -> str:
    cells = [f"{found[name].held}/{found[name].judged}" for name in names]
    return f"| {fault} | {' | '.join(cells)} |"
