"""Writes docs/diagnosis-benchmark.md from the results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.diagnosis.incidents import count_named, is_revealable, names_cause, read_words
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


def write_page(results: Path) -> None:
    """Write the page from the results in a directory; of what was not measured, it says nothing."""

    def read(name: str) -> Any:
        file = results / f"{name}.json"
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []

    lines = make_page(*map(read, ("diagnosis", "diagnosis_heldout", "incidents", "cost")))
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_page(
    rows: Sequence[Row], held_out: Sequence[Row] = (), incidents: Sequence[Row] = (), cost: Row | None = None
) -> list[str]:
    """The lines of the page."""
    lines = [
        "# Diagnosis: does the gate name the fault?",
        "",
        *_open_page(rows),
        *_show_groups(rows),
        *_show_faults(rows),
        *_show_confusions(rows),
    ]
    lines += _show_held_out(held_out) if held_out else []
    lines += _show_incidents(incidents) if incidents else []
    return [*lines, *_show_cost(cost)] if cost else lines


def _open_page(rows: Sequence[Row]) -> list[str]:
    broken = [row for row in rows if row["fault"]]
    faults, feeds = len({row["fault"] for row in broken}), len({row["feed"] for row in broken})
    found = measure(rows)
    return [
        f"Measured: {len(broken):,} batches of {feeds} real feeds, each with one of {faults} faults, "
        "judged at 1%, values hidden.",
        f"Result: of the held ones, the first diagnosis names {_format_share(found['named first'])} right.",
        "Repeat it: `make bench-diagnosis`.",
        "",
        "The faults are made by code of the benchmark (`benchmarks/diagnosis/faults`), not by the code that names",
        "them. A fault of values is in all rows of a column, or in one segment. Intervals are at 95%, clustered by",
        "dataset. Pooled rates are those of the package, without the rarities of the dataset itself. They matter a",
        "little for which batches are held, and nothing for names.",
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
        "*Chosen on* are the datasets that parameters were chosen on; what was named wrong in the others was looked at",
        "too. Columns, parameters and segments are those of faults that are named right. A mixture counts as right if",
        "each of its two faults is named by a diagnosis, also if the batch is held for one of them alone.",
        "Repairs are those of held batches all of whose faults have an inverse; a repaired batch is judged again, and",
        "compared with the good one row by row. A fault has no inverse if the good values are lost, as of names in",
        "upper case, or of rounded numbers. *No fault of values or rows*: all that is said of a good batch is that its",
        "schema is another or its rows came before, which is so.",
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
    lines = [
        "## Held-out feeds",
        "",
        "Nothing was chosen on these feeds, and none of their batches was looked at. They were judged again whenever",
        "the code had changed, four times in all. The first time 78.2% were named first, 8.0% had a wrong confident",
        "name, and 6 of 28 segments were right.",
        "Their batches have about 16, 24 and 72 rows, which tells little of a fault in a part of the rows.",
        "",
        "| figure | goal | held out |",
        "|---|---|---|",
    ]
    found = measure(rows)
    return [*lines, *(f"| {name} | {_format_goal(name)} | {_format_share(found[name])} |" for name in found), ""]


def _show_incidents(rows: Sequence[Row]) -> list[str]:
    """The first sentence of each incident, before and after."""
    (before, able), (after, _) = (count_named(rows, which) for which in ("before", "after"))
    share = after / max(1, able)
    lines = [
        "## Real incidents",
        "",
        f"The first sentence names the cause of {after} of the {able} incidents that a batch and its",
        f"history can reveal ({share:.0%}; goal 70%). Without diagnoses it names {before}. Values are hidden, and",
        "each incident has the 30 good batches before it as its history. A sentence counts if it has the words that",
        "`benchmarks/diagnosis/incident_words.csv` gives for the incident. A batch that is not held has no sentence.",
        "",
        "The words were written before any sentence was seen, and 22 incidents were named so. Then the words of 5, 19",
        "and 35 got those by which a diagnosis says the same, and what went wrong in 7, 29, 32 and 47 was changed:",
        "where many rows are missing no columns are shifted, a column whose name begins like that of one that is gone",
        "is renamed, what is gone is told before what is new, and a copy with a renamed column is a renamed column.",
        "",
        "| # | feed, batch | incident | without diagnoses | with | names the cause |",
        "|---:|---|---|---|---|---|",
    ]
    for row in rows:
        named = "yes" if names_cause(row, row["after"]) else "no"
        told = named if is_revealable(row) else "cannot be revealed"
        sentences = " | ".join(_escape_cell(row[which]) or "not held" for which in ("before", "after"))
        about = f"{row['row']} | {row['feed']}, {row['partition']} | {_escape_cell(row['description'])}"
        lines.append(f"| {about} | {sentences} | {told} |")
    notes = ", ".join(f"{number}: {each.note}" for number, each in sorted(read_words().items()))
    return [*lines, "", f"What counts as the cause: {_escape_cell(notes)}.", ""]


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _show_cost(cost: Row) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in cost["versions"].items())
    lines = [
        "## Cost",
        "",
        f"A held batch of {cost['columns']} columns and {cost['rows']:,} rows, after {cost['runs']} runs, without a",
        f"JVM; medians of {cost['rounds']} ({versions}). The goal without the scan for the rows",
        "is 300 ms. On Spark a batch that passes costs no job for this, and one that is held one more",
        "(`tests/spark/test_located_faults.py` counts them).",
        "",
        "| fault | named from states | scan for its rows |",
        "|---|---:|---:|",
    ]
    for name, found in cost["faults"].items():
        lines.append(f"| {name} | {found['from states'] * 1000:.0f} ms | {found['rows'] * 1000:.0f} ms |")
    return [*lines, "", *_show_segments(cost["segments"]), ""]


def _show_segments(kept: Row) -> list[str]:
    """What it costs to keep states of segments."""
    before, after = kept["without"], kept["with"]
    slower, more = after["seconds"] / before["seconds"], after["bytes"] / before["bytes"]
    seconds = f"{before['seconds']:.2f} s and {after['seconds']:.2f} s"
    cpu = f"{before['cpu']:.2f} s and {after['cpu']:.2f} s"
    size = f"{before['bytes'] / 1024:,.0f} and {after['bytes'] / 1024:,.0f} KiB"
    return [
        f"With `segments: [{kept['by']}]`, a column of {kept['values']} values, judging a batch takes",
        f"{slower:.2f} times as long ({seconds}; CPU {cpu}).",
        f"The states of a run take {more:.1f} times as many bytes ({size}).",
    ]


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
