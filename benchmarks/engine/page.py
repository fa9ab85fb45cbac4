"""Writes docs/benchmarks.md from the results, so that no number there is typed by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.engine.earlier_commit import TITLE as EARLIER
from benchmarks.engine.folds import TITLE, TOGETHER
from benchmarks.engine.spark_settings import TITLE as SETTINGS

SERIES = ("linear", "columns", "few")
"""How the names of tables begin that show growth, and are measured without the steps between."""
READING = "files, not folded"
PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

The whole default set of metrics against Spark's plain scan of the same Parquet files, in seconds of the processors.
{result}
Repeat it with `make bench-engine` on an idle machine; the page is written from `benchmarks/engine/results/engine.json`.

All steps of an experiment run in turn, round after round, in one process, after warm-up; a figure is the median. CPU
seconds are those of the driver, the JVM and all Python workers. The plain scan is Spark reading the files into its noop
sink. Machines are shared and noisy: read the ratios.
"""


def write_page(found: dict[str, Any], page: Path = PAGE) -> None:
    head = HEAD.format(result=_state_result(found))
    parts = [head, _versions(found), _experiments(found), _split(found), _format_settings(found), _folds(found)]
    parts += [_format_commits(found), _choices(found)]
    page.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _state_result(found: dict[str, Any]) -> str:
    said = [
        f"{name} {each['cpu_ratios']['files read by tasks']['median']:.2f} times"
        for name, each in found.items()
        if "cpu_ratios" in each and not name.startswith(SERIES)
    ]
    return f"Where tasks read the files: {', '.join(said)}." if said else "Nothing has been measured yet."


def _versions(found: dict[str, Any]) -> str:
    named = {", ".join(f"{name} {each}" for name, each in result["versions"].items()) for result in found.values()}
    return "; ".join(sorted(named)) + ".\n"


def _experiments(found: dict[str, Any]) -> str:
    lines = [
        "## The whole default state set against the plain scan\n",
        "Counts, moments, HLL, quantiles, character classes, frequent values and frequent patterns of all columns. The",
        "columns of the mixed tables are half strings, of which a quarter are nearly unique. A ratio has the least and",
        "the most of a round in brackets. Seconds by the clock are of the scan, of files, and of rows from Spark.\n",
        "| table | rows | columns | scan | files read by tasks | ratio | rows from Spark | ratio | clock | SQL |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, each in found.items():
        if "cpu_ratios" in each:
            medians, ratios = each["medians"], each["cpu_ratios"]
            by_hand = found.get(f"SQL by hand: {name}")
            native = f"{by_hand['sql_ratio_to_scan']:.1f} x" if by_hand else "not run"
            files, rows = "files read by tasks", "rows from Spark"
            wall = ", ".join(f"{medians[step]['wall']:.2f}" for step in ("scan", files, rows))
            lines.append(
                f"| {name} | {each['rows']:,} | {each['columns']} | {medians['scan']['cpu']:.2f} "
                f"| {medians[files]['cpu']:.2f} | {_format_ratio(ratios[files])} "
                f"| {medians[rows]['cpu']:.2f} | {_format_ratio(ratios[rows])} | {wall} | {native} |"
            )
    return "\n".join([*lines, _linearity(found), _local(found), ""])


def _format_ratio(ratio: dict[str, float]) -> str:
    return f"**{ratio['median']:.2f} x** ({ratio['least']:.2f} to {ratio['most']:.2f})"


def _linearity(found: dict[str, Any]) -> str:
    sizes = sorted((each for name, each in found.items() if name.startswith("linear")), key=lambda each: each["rows"])
    rates = [f"{each['medians']['files read by tasks']['cpu'] / each['rows'] * 1e6:.2f}" for each in sizes]
    rows = ", ".join(f"{each['rows'] / 1e6:g}" for each in sizes)
    return f"\nCPU seconds a million rows of 10 columns, for {rows} million rows: {', '.join(rates)}." if sizes else ""


def _local(found: dict[str, Any]) -> str:
    local = found.get("local 1,000 x 10")
    if not local:
        return ""
    return f"\nLocal engine, 1,000 rows x 10 columns, default set, warm: **{local['milliseconds']:.1f} ms**."


def _split(found: dict[str, Any]) -> str:
    lines = [
        "## Where the time goes\n",
        "Differences of medians of CPU seconds. If Spark makes the rows: scan; transfer to Python; fold; merge,",
        "collect and measure. If tasks read the files: a job that reads them; all the rest.\n",
        "| table | scan | transfer | fold | merge and driver | files: job and reading | the rest |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, each in found.items():
        spent = {step: taken["cpu"] for step, taken in each.get("medians", {}).items()}
        if READING in spent:
            steps = [spent[step] for step in ("scan", "transfer", "fold", "rows from Spark")]
            cells = [spent["scan"], *(after - before for before, after in pairwise(steps))]
            cells += [spent[READING], spent["files read by tasks"] - spent[READING]]
            lines.append(f"| {name} | {' | '.join(f'{cell:.2f}' for cell in cells)} |")
    return "\n".join([*lines, ""])


def _format_settings(found: dict[str, Any]) -> str:
    if SETTINGS not in found:
        return ""
    result = found[SETTINGS]
    lines = [
        "## Newer settings of Spark\n",
        f"The default set of {result['rows']:,} rows x {result['columns']} columns from Spark. Each setting has a",
        "session of its own; they take turns: `python -m benchmarks.engine.spark_settings`. Headgate sets none.\n",
        "| setting | CPU s | by the clock, s |",
        "|---|---|---|",
    ]
    for name, each in result["ways"].items():
        taken = [one["cpu"] for one in result["rounds"][name]]
        lines.append(f"| {name} | {each['cpu']:.2f} ({min(taken):.2f} to {max(taken):.2f}) | {each['wall']:.2f} |")
    return "\n".join([*lines, ""])


def _folds(found: dict[str, Any]) -> str:
    if TITLE not in found:
        return ""
    spent = found[TITLE]["nanoseconds"]
    states = sorted({state for each in spent.values() for state in each} - {TOGETHER})
    lines = [
        "## Folds\n",
        "Nanoseconds of CPU a value: each state of the default set alone, and all of them over one batch.\n",
        f"| column | {' | '.join(states)} | {TOGETHER} |",
        "|---" * (len(states) + 2) + "|",
    ]
    for name, each in spent.items():
        cells = [f"{each[state]:.0f}" if state in each else "" for state in (*states, TOGETHER)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _format_commits(found: dict[str, Any]) -> str:
    if EARLIER not in found:
        return ""
    result = found[EARLIER]
    lines = [
        "## The local engine beside an earlier commit\n",
        f"CPU milliseconds of the default set without Spark, in turn with commit {result['commit']}, each in a process",
        "of its own: `python -m benchmarks.engine.earlier_commit`.\n",
        "| rows x columns | before | now | share of it |",
        "|---|---|---|---|",
    ]
    for name, each in result["cases"].items():
        lines.append(f"| {name} | {each['before'] * 1e3:,.1f} | {each['now'] * 1e3:,.1f} | **{each['ratio']:.2f}** |")
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
