"""Writes docs/gate-benchmark.md from the results: targets first, then the figures behind them."""

from __future__ import annotations

# ruff: noqa: E501 - sentences of a page
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.gate.audit import audited
from benchmarks.gate.replay import FORMS, Row
from benchmarks.gate.summary import at_same_rate, by_feed, drawn, list_usual, notes, rates, unseen
from benchmarks.history.incidents import incidents
from benchmarks.values_mode import describe_values
from headgate.stats.intervals import wilson

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "gate-benchmark.md"
SCHEMA = re.compile(r"\b(is|are) gone\b|\bcolumns, expected\b|\bchanged type\b")
"""In a reason that is about columns or types."""
ENOUGH = 7  # runs of history from which on an incident counts as one with enough history


def write(rows: Sequence[Row], about: Mapping[str, Any]) -> None:
    PAGE.write_text(
        "\n".join(
            [
                *_head(rows, about),
                *_targets(rows),
                *_forms(rows),
                *_feeds(rows),
                *_incidents(rows),
                *_held(rows),
                *_speed(),
            ]
        )
        + "\n",
        encoding="utf-8",
    )


def _table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(headers)} |"
    yield f"|{'---|' * len(headers)}"
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', '/') for cell in row)} |"
    yield ""


def _head(rows: Sequence[Row], about: Mapping[str, Any]) -> list[str]:
    days = len(list_usual(rows))
    cases = sum(row["what"] == "case" for row in rows)
    return [
        "# The gate on real feeds: false holds, recall, incidents, time",
        "",
        "Written by `python -m benchmarks.gate` from `benchmarks/gate/results`; do not edit.",
        "",
        f"Every feed is replayed day by day: {days:,} usual days and {cases:,} broken batches (4 days a feed, one thing wrong in each) are",
        "judged by what the 30 accepted runs before them teach, and the real incidents as first published. What joins the history is what the",
        "publisher's later files tell: a corrected batch takes the place of the wrong one, a change that stayed is accepted, the rest is rejected.",
        "*gate* is all learners in one budget; *history*, *novelty* and *patterns* are each alone with the same budget. What is known beforehand of how",
        "series surprise was gathered, for each dataset that is judged, without that dataset. Long feeds: every n-th usual day. Distances and metrics are",
        "from cached states; rules about texts were matched on the raw columns of judged days only, so they had held in fewer runs than they would have.",
        describe_values({"all feeds": about}, "make bench-gate"),
        "",
    ]


def _targets(rows: Sequence[Row]) -> list[str]:
    found = rates(rows)
    lines = ["## Targets, and what is reached", ""]
    table = []
    for budget in (0.01, 0.05):
        each = found[f"gate {budget:g}"]
        low, high = each["interval"]
        met = "met" if each["false rate"] <= budget else "**falls short**"
        looked = "all looked at" if each["looked at"] == each["held"] else f"{each['looked at']} looked at"
        table.append(
            (
                f"false holds at or below {budget:.0%}",
                f"{each['held']} of {each['usual']:,} usual days held ({each['rate']:.2%}); {looked}, {each['with reason']} with reason: {each['false rate']:.2%} false (95% interval by datasets {low:.2%} to {high:.2%})",
                met,
            )
        )
        best = {form: at_same_rate(found, form, each["rate"]) for form in FORMS if form != "gate"}
        ahead = all(each["recall"] >= value - 1e-9 for value in best.values())
        said = ", ".join(f"{form} {value:.1%}" for form, value in best.items())
        table.append(
            (
                f"recall at or above every learner alone, at the rate of the gate at {budget:.0%}",
                f"gate {each['recall']:.1%}; {said}",
                "met" if ahead else "**falls short**",
            )
        )
    held, enough = _caught(rows)
    for target, wanted, (seen, able) in (
        ("90% of the incidents that a batch and its history can reveal held, at 1%", 0.9, _caught(rows, able=True)),
        ("70% of those among them that only values show", 0.7, _caught(rows, able=True, by_values=True)),
    ):
        met = "met" if seen / able >= wanted else "**falls short**"
        table.append((target, f"{seen} of {able}: {seen / able:.0%}", met))
    table.append((f"of all {enough} incidents with enough history", f"{held} of {enough}: {held / enough:.0%}", ""))
    return [*lines, *_table(("target", "reached", ""), table)]


def _caught(rows: Sequence[Row], *, able: bool = False, by_values: bool = False) -> tuple[int, int]:
    """Incidents of the list that were held, and all of them, of those with a batch that had enough history.

    With `able`, of those alone that a batch and its history can reveal. With `by_values`, without those that a clause
    about columns or types shows.
    """
    said = notes()
    judged = {(row["feed"], row["partition"]): row for row in rows if row["what"] == "incident"}
    held, every = set(), set()
    for incident in incidents():
        for partition in incident.partitions:
            row = judged.get((incident.title, partition))
            if row is None or row["runs"] < ENOUGH:
                continue
            if able and not said.get((incident.row, partition), (True, ""))[0]:
                continue
            if by_values and any(map(SCHEMA.search, row["held"].get("gate 0.01", ()))):
                continue
            every.add(incident.row)
            held |= {incident.row} if "gate 0.01" in row["held"] else set()
    return len(held), len(every)


def _forms(rows: Sequence[Row]) -> list[str]:
    lines = ["## All learners, and each alone", ""]
    for title, chosen in (("All feeds", rows), ("Feeds that no parameter was chosen on", unseen(rows))):
        found = rates(chosen)
        table = [
            (
                each["form"],
                f"{each['budget']:.1%}",
                f"{each['stated']:.2%}",
                f"{each['held']} of {each['usual']:,}",
                f"{each['rate']:.2%}",
                f"{each['recall']:.1%}",
            )
            for each in found.values()
        ]
        lines += [f"### {title}", ""]
        lines += _table(("form", "budget", "stated", "usual days held", "share", "recall on broken batches"), table)
    lines += ["Usual days held are those that no list names; some are held with reason (below).", ""]
    return lines


def _feeds(rows: Sequence[Row]) -> list[str]:
    table = []
    for each in by_feed(rows):
        one, five = each["0.01"], each["0.05"]
        if one is None or not one["usual"]:
            continue
        table.append(
            (
                each["feed"],
                one["usual"],
                f"{one['held']} ({one['with reason']} with reason)",
                f"{one['recall']:.0%}" if one["cases"] else "",
                five["held"],
                f"{five['recall']:.0%}" if five["cases"] else "",
            )
        )
    headers = ("feed", "usual days", "held at 1%", "recall at 1%", "held at 5%", "recall at 5%")
    return ["## By feed", "", *_table(headers, table)]


def _incidents(rows: Sequence[Row]) -> list[str]:
    listed = {each.row: each for each in incidents()}
    said = notes()
    table = []
    for row in sorted(
        (row for row in rows if row["what"] == "incident"), key=lambda row: (row["row"], row["partition"])
    ):
        held = row["held"].get("gate 0.01")
        note = said.get((row["row"], row["partition"]), (True, ""))[1]
        corrected = "" if "corrected" not in row else "yes" if "gate 0.01" in row["corrected"] else "no"
        why = held[0] if held else f"missed: {note}" if note else "missed"
        five = "yes" if "gate 0.05" in row["held"] else "no"
        table.append(
            (
                row["row"],
                row["partition"],
                listed[row["row"]].title,
                row["type"],
                row["runs"],
                "yes" if held else "no",
                five,
                why[:170],
                corrected,
                row["settled"].split(":")[0].split(";")[0],
            )
        )
    held, enough = _caught(rows)
    seen, able = _caught(rows, able=True)
    batches = [row for row in rows if row["what"] == "incident"]
    caught = sum("gate 0.01" in row["held"] for row in batches)
    return [
        "## Real incidents",
        "",
        f"{len(batches)} batches of incidents were judged; the gate at 1% holds {caught} of them. Of the {enough} incidents with at least {ENOUGH} runs of history it holds {held}; of the {able} among these that a batch and its history can reveal, {seen}. Two incidents of the list may be one batch.",
        "*Corrected held*: whether the gate holds the version of 72 hours later as well, as it does where a change is for good.",
        "",
        *_table(("", "batch", "feed", "type", "runs", "1%", "5%", "first cause", "corrected held", "then"), table),
    ]


def _held(rows: Sequence[Row]) -> list[str]:
    looked = audited()
    chosen = drawn(rows)
    seen = [row for row in chosen if (row["feed"], row["partition"]) in looked]
    right = sum(looked[row["feed"], row["partition"]][0] for row in seen)
    low, high = wilson(right, len(seen))
    table = [
        (
            row["feed"],
            row["partition"],
            "yes" if looked[row["feed"], row["partition"]][0] else "no",
            looked[row["feed"], row["partition"]][1][:200],
        )
        for row in seen
    ]
    every = sum(row["what"] == "usual" and row["runs"] >= 30 and "gate 0.01" in row["held"] for row in rows)
    return [
        "## Usual days that were held, looked at",
        "",
        f"Of {every} unlisted holds at 1%, {len(chosen)} were drawn at random (at most 60) and {len(seen)} looked at; {right} are held with reason ({low:.0%} to {high:.0%}, Wilson).",
        "",
        *_table(("feed", "day", "with reason", "what it is"), table),
    ]


def _speed() -> list[str]:
    file = HERE / "results" / "speed.json"
    if not file.exists():
        return []
    found = json.loads(file.read_text(encoding="utf-8"))
    cpu, rounds = found["cpu_milliseconds"], found["rounds"]
    table = [
        (name, f"{value:,.0f} ms", f"{cpu[name]:,.0f} ms", str(rounds[name]))
        for name, value in found["milliseconds"].items()
    ]
    beyond = found["milliseconds"]["judge, prepared"] - found["milliseconds"]["states alone"]
    return [
        "## Time",
        "",
        f"{found['columns']} columns, {found['rows']:,} rows, {found['runs']} runs of history in memory, local engine, all learners on; each batch judged once. Beyond the states: {beyond:.0f} ms where `gate.prepare()` had learned before the batch came.",
        "",
        *_table(("", "median", "CPU, median", "times"), table),
        f"Versions: {', '.join(f'{name} {value}' for name, value in found['versions'].items())}.",
    ]
