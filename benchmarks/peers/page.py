"""Writes docs/peers-benchmark.md from the results, so that no number there is typed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.peers import summary
from benchmarks.peers.summary import OURS, Pair, Results, format_figure

PAGE = Path(__file__).parents[2] / "docs" / "peers-benchmark.md"
NAMES = {
    OURS: "Headgate",
    "bare": "Spark alone",
    "deequ": "Deequ",
    "deequ_registry": "Deequ of the registry",
    "dqx": "DQX",
    "cuallee": "cuallee",
    "pandera": "pandera",
    "great_expectations": "Great Expectations",
    "pointblank": "Pointblank",
    "soda": "Soda",
}
TITLE = "# Side by side with Spark alone and other tools"
NOTE = "Written by `make bench-peers` from `benchmarks/peers/results/peers.json`; do not edit."


def write(found: Results, page: Path = PAGE) -> None:
    parts = [_open(found), *_cells(found), _limits(found), _troubles(found), _method(found)]
    page.write_text("\n".join(part for part in parts if part).rstrip("\n") + "\n", encoding="utf-8")


def _open(found: Results) -> str:
    """Three lines: what was measured, the result, how to repeat it."""
    peers = list(dict.fromkeys(pair.peer for pair in summary.list_pairs(found)))
    who = ", ".join(NAMES[name] for name in peers) or "other tools"
    measured = (
        f"Headgate and, each beside it in turn, {who} do the same work on the same Parquet files in warm processes; "
        "the CPU seconds of the whole process tree, wall time, memory, Spark jobs and readings of the table are "
        "compared."
    )
    repeat = (
        "Repeat it with `make bench-peers` on an idle machine with `uv`, Java 17 and 16 GB; `--quick` takes minutes."
    )
    return "\n".join([TITLE, "", measured, "", _result(found), "", repeat, "", NOTE, ""])


def _result(found: Results) -> str:
    said = []
    for name in NAMES:
        pairs = [pair for pair in summary.list_pairs(found) if pair.peer == name and pair.is_compared]
        ratios = [pair.ratio("cpu").median for pair in pairs]
        if ratios:
            count = f"{len(ratios)} workload{'s' * (len(ratios) != 1)}"
            ends = f"{min(ratios):.2f} to {max(ratios):.2f}" if len(ratios) > 1 else f"{ratios[0]:.2f}"
            said.append(f"{NAMES[name]} {ends} (in {count})")
    if not said:
        return "No results are committed yet."
    return f"Warm, a system needs so many times the CPU seconds of Headgate: {'; '.join(said)}."


def _cells(found: Results) -> Iterator[str]:
    by_cell: dict[str, list[Pair]] = {}
    for pair in summary.list_pairs(found):
        by_cell.setdefault(pair.cell, []).append(pair)
    for key, pairs in by_cell.items():
        yield _cell(key, found["cells"][key], pairs)


def _cell(key: str, cell: dict[str, Any], pairs: list[Pair]) -> str:
    table = cell["table"]
    lines = [
        f"## {key}\n",
        f"{cell['sentence']} {table['rows']:,} rows, {table['columns']} columns, "
        f"{table['parquet_mb']:,} MB of Parquet.\n",
        "| system | CPU s | beside it Headgate | ratio | wall s | Headgate | ratio | rounds | jobs | readings |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_times(pair) for pair in pairs]
    lines += [
        "",
        "| system | answers | peak MB: all | JVM | a worker | cold CPU s | ratio | cold wall s | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_rest(pairs[0], OURS), *(_rest(pair, pair.peer) for pair in pairs)]
    return "\n".join([*lines, ""])


def _times(pair: Pair) -> str:
    mark = "" if pair.is_compared else " (other work)"
    cells = []
    for key in ("cpu", "wall"):
        ratio = f"**{pair.ratio(key)}**{mark}" if key == "cpu" else str(pair.ratio(key))
        cells += [str(pair.spread(pair.peer, key)), str(pair.spread(OURS, key)), ratio]
    jobs = f"{pair.jobs(pair.peer)} (Headgate {pair.jobs(OURS)})"
    readings = f"{pair.readings(pair.peer):.2f} ({pair.readings(OURS):.2f})"
    return f"| {NAMES[pair.peer]} | {' | '.join(cells)} | {pair.rounds} | {jobs} | {readings} |"


def _rest(pair: Pair, name: str) -> str:
    told = pair.ours if name == OURS else pair.theirs
    sizes = [f"{pair.memory(name, key):,.0f}" for key in ("pss_mb", "jvm_pss_mb", "largest_worker_pss_mb")]
    cold = []
    for key in ("cpu", "wall"):
        cold += [format_figure(told["cold"][key]), "" if name == OURS else f"{pair.cold_ratio(key):.2f}"]
    return f"| {NAMES[name]} | {_answers(pair, name)} | {' | '.join(sizes)} | {' | '.join(cold)} |"


def _answers(pair: Pair, name: str) -> str:
    told = pair.ours if name == OURS else pair.theirs
    if "suggestions" in told:
        return f"{told['suggestions']} suggestions"
    found = pair.agreement(name)
    if not found:
        return ""
    wrong = f", {len(found['wrong'])} wrong" if found["wrong"] else ""
    return f"{found['answered']} of {found['asked']}{wrong}"


def _limits(found: Results) -> str:
    reasons, checks = summary.list_reasons(found), summary.list_check_reasons(found)
    if not reasons and not checks:
        return ""
    lines = ["## What a system cannot do\n", "| system | what | why |", "|---|---|---|"]
    for name in NAMES:
        for sentence, workloads in reasons.get(name, {}).items():
            lines.append(f"| {NAMES[name]} | {', '.join(dict.fromkeys(workloads))} | {_escape(sentence)} |")
        for sentence, kinds in checks.get(name, {}).items():
            lines.append(f"| {NAMES[name]} | checks of kind {', '.join(sorted(kinds))} | {_escape(sentence)} |")
    return "\n".join([*lines, ""])


def _troubles(found: Results) -> str:
    errors, wrong = list(summary.list_errors(found)), list(summary.list_disagreements(found))
    lines = []
    if errors:
        lines += ["## What failed or took too long\n", "| system | workload | what it said |", "|---|---|---|"]
        lines += [f"| {NAMES[name]} | {cell} | {_escape(said[:400])} |" for name, cell, said in errors]
        lines.append("")
    if wrong:
        lines += [
            "## Answers that differ from what is true of the table\n",
            "| system | workload | answer |",
            "|---|---|---|",
        ]
        lines += [f"| {NAMES[name]} | {cell} | {_escape(said)} |" for name, cell, said in wrong]
        lines.append("")
    return "\n".join(lines)


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


METHOD = """## How it was measured

Each system runs in an environment of its own, as a process that is told what to do and stays warm. In each cell
Headgate and one peer take turns, and every round begins with the other of the two. A figure is the median of the
measured rounds, with the least and the most beside it. The first warm-up round is the cold figure: the first of its
kind in its JVM, after the session has started and the schema of the table was read. A ratio is the peer's figure over
Headgate's of the same pair; above 1, Headgate needs less.

CPU seconds are those of the driver's Python, the JVM and all Python workers, ended ones included, from `/proc`. Peak
memory is the proportional set size of that tree, sampled: a JVM takes the heap that it is given, so read it with the
limit in mind. Jobs and input rows are Spark's own counts; a reading is the input rows over the rows of the table, so
what a system reads outside of Spark is not in it. All have the same session: Spark's defaults, all cores.

After five minutes of a pair no warm-up round begins, and after fifteen no other round: where rounds take long, a figure
is of fewer of them. On tables of a million rows, 200 columns and more only Spark alone and Deequ are measured, but for
20 checks.

The checks are the same for all, with the same bounds, and some fail on purpose. What is true of a table is computed
with pyarrow, and every answer of every system is held against it: whether a check passes, and the value where one is
given. DQX is measured only where it is asked for by name: its licence allows its use with Databricks services only.
The work of a system with a wrong answer is marked as other work. A check that a system has no word for is left
out there, which makes its work less.
"""


def _method(found: Results) -> str:
    lines = [METHOD]
    versions = summary.list_versions(found)
    if versions:
        lines += ["| system | versions |", "|---|---|"]
        for name in (name for name in NAMES if name in versions):
            listed = ", ".join(f"{key} {value}" for key, value in versions[name].items())
            lines.append(f"| {NAMES[name]} | {listed} |")
        lines.append("")
    lines += [_machine(machine) for machine in summary.list_machines(found)]
    if loads := summary.loads(found):
        range_ = f"{min(loads):g} to {max(loads):g}"
        lines.append(f"The load of the machine was {range_} at the end of a pair, the benchmark itself included.")
    return "\n".join(lines)


def _machine(machine: dict[str, Any]) -> str:
    return f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}."
