"""`python -m benchmarks.gate.basics_page`: writes docs/basics-benchmark.md from the results of guards, gaps, holds, year."""

from __future__ import annotations

# ruff: noqa: E501 - sentences of a page
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.gate import gaps, guards, holds, shares, year
from benchmarks.gate.audit import audited

PAGE = Path(__file__).parents[2] / "docs" / "basics-benchmark.md"
Row = dict[str, Any]


def write_page() -> None:
    results = (guards.RESULTS, gaps.RESULTS, holds.RESULTS, holds.HELD_OUT_RESULTS, year.RESULTS)
    found = [json.loads(each.read_text(encoding="utf-8")) for each in results]
    PAGE.write_text("\n".join(make_page(*found)) + "\n", encoding="utf-8")


def make_page(
    of_guards: list[Row],
    of_gaps: list[Row],
    of_holds: list[Row],
    of_held_out: list[Row],
    of_year: dict[str, list[Row]],
) -> Iterator[str]:
    yield "# The basics, measured"
    yield ""
    yield from _write_summary(of_holds, of_year)
    yield from _write_guards(of_guards)
    yield from _write_gaps(of_gaps)
    yield from _write_holds(of_holds)
    yield from _write_held_out(of_held_out)
    yield from _write_year(of_year)


def _write_summary(of_holds: list[Row], of_year: dict[str, list[Row]]) -> Iterator[str]:
    """What was measured, what came out, and how to repeat it."""
    at_one = [row for row in of_holds if row["budget"] == 0.01]
    good = [row for row in of_year["0.01"] if not row["incident"]]
    yield "Basic faults, gaps and good batches of 17 real feeds through a gate as a user has it: values hidden, all learners, a budget of 1% unless another is named."
    yield f"Of the good batches {holds.estimate_share(at_one)} were held, {holds.estimate_share(at_one, only_false=True)} without a reason; in a simulated year {sum(row['held'] for row in good)} of {len(good)}."
    yield "`make bench-basics` measures it again and writes this page."
    yield ""
    yield "The pooled rates are those of the other datasets, so that no feed is judged by evidence from itself."


def _write_guards(rows: list[Row]) -> Iterator[str]:
    yield ""
    yield "## Basic faults"
    yield ""
    yield f"Of each feed {guards.RUNS} good batches are judged, from a third of its length on; holds are accepted. Before the batches after {_list(guards.YOUNG)} and {_list(guards.GROWN)} runs, broken copies of them are judged. Which rows and which column are hit is drawn at random. Nulls are put into a column that has none in this batch and the one before. `-`: the fault is impossible there, for example because two batches are equal. Cells are held of judged."
    yield ""
    yield guards.tabulate(rows)
    yield ""
    missed = [row for row in rows if row["fault"] and not row["held"] and row["runs"] in guards.GROWN]
    yield f"From run {guards.GROWN[0] + 1} on, {len(missed)} broken batches were published:"
    yield ""
    yield from (f"- {row['feed']} {row['partition']} ({row['rows']:,} rows): {row['fault']}" for row in missed)
    yield ""
    yield "The rows of the invoices double from one day to the next by themselves. A stale copy passes where a copy was accepted before."


def _write_gaps(rows: list[Row]) -> Iterator[str]:
    yield ""
    yield "## After a held or a missing batch"
    yield ""
    yield f"After {gaps.BEFORE} good batches comes one as it is (none), one with an empty column that is held (held), or none at all (missing). Then {gaps.AFTER} good batches follow, and nobody answers a hold. Held of judged:"
    yield ""
    yield gaps.tabulate(rows)
    yield ""
    yield f"{_count_held_by_gap(rows)} batches are held after a gap that are not held without it. Where batches are held in all three, nobody answered the first of them, and the same reason may hold those that follow. The first one of each feed:"
    yield ""
    yield from (
        f"- {row['feed']} {row['held'][0]['partition']}: {_first(row['held'][0]['causes'])}"
        for row in sorted(rows, key=lambda row: str(row["feed"]))
        if row["scenario"] == "none" and row["held"]
    )


def _count_held_by_gap(rows: list[Row]) -> int:
    """How many batches are held after a held or missing one, and not without it."""
    held = {(row["feed"], row["scenario"]): {each["partition"] for each in row["held"]} for row in rows}
    return sum(len(partitions - held[feed, "none"]) for (feed, _), partitions in held.items())


def _write_holds(rows: list[Row]) -> Iterator[str]:
    yield ""
    yield "## Good batches that are held"
    yield ""
    yield f"Up to {holds.RUNS} consecutive batches of every feed that are no listed incidents; what is held is accepted. Intervals are from {shares.DRAWS:,} draws of whole datasets, and at least as wide as Wilson's. Every hold was looked at: one has a reason if the publisher changed something that a user of the table has to know, such as a column, a type, a defect, a copy, or a correction of many rows."
    yield ""
    yield from holds.list_shares(rows)
    yield ""
    yield _describe_drifts(rows)
    yield ""
    yield from _list_holds(rows)


def _write_held_out(rows: list[Row]) -> Iterator[str]:
    yield ""
    yield "## Feeds that nothing is chosen on"
    yield ""
    yield "All batches of three feeds of 16 to 72 rows a batch, with the pooled rates as they are shipped: `python -m benchmarks.gate.holds --held-out`. Nothing is chosen on them. They were measured twice: with the package of commit 8b15832, when 3.2% and 11.0% were held without a reason at 1% and 5%, and once more with that of commit b6bb010, which is shown here."
    yield ""
    yield from holds.list_shares(rows)
    yield ""
    yield _describe_drifts(rows)
    yield ""
    yield from _list_holds(rows)


def _describe_drifts(rows: list[Row]) -> str:
    """How many false holds are for drift alone."""
    told = []
    for budget in holds.BUDGETS:
        false = [
            row for row in rows if row["budget"] == budget and row["held"] and row["runs"] and not holds.has_reason(row)
        ]
        drifts = sum(all("slowly become" in title for title in row["held"]) for row in false)
        told.append(f"{drifts} of the {len(false)} at {budget:.0%}")
    return f"Of those held without a reason, {' and '.join(told)} are held for [drift](gate.md#drift) alone, which has a limit of its own, costs nothing of the budget, and can be set to 0."


def _list_holds(rows: list[Row]) -> Iterator[str]:
    """Every batch that is held at a budget, why, and what a look at it found."""
    looked = audited()
    held = {(row["feed"], row["partition"]): row for row in reversed(rows) if row["held"] and row["runs"]}
    yield "| batch | runs before | at | held because | a reason | what a look found |"
    yield "|---|---:|---|---|---|---|"
    for (feed, partition), row in sorted(held.items()):
        budgets = [
            each["budget"] for each in rows if each["held"] and each["feed"] == feed and each["partition"] == partition
        ]
        reason, why = looked.get((feed, partition), (False, "not looked at"))
        at = ", ".join(f"{budget:.0%}" for budget in sorted(set(budgets)))
        yield f"| {feed} {partition} | {row['runs']} | {at} | {_escape(_first(row['held']))} | {'yes' if reason else 'no'} | {_escape(why)} |"


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _write_year(found: dict[str, list[Row]]) -> Iterator[str]:
    yield ""
    yield "## A simulated year"
    yield ""
    yield "A daily table of orders with a timestamp. It grows by half. Weekends have half as many orders, ten holidays a third, month ends half as many again. `calendar:` lists the holidays. Three incidents are rejected and repaired the next morning, a fourth nobody answers. One week arrives two weeks late, one never. A good batch that is held is accepted the next morning."
    yield ""
    yield f"![A year of a daily table](pictures/{year.PICTURE.name})"
    for budget, rows in found.items():
        broken = [row for row in rows if row["incident"]]
        good = [row for row in rows if not row["incident"]]
        held = [row for row in good if row["held"]]
        yield ""
        yield f"At a budget of {float(budget):.0%}: {sum(row['held'] for row in broken)} of {len(broken)} broken batches are held, and {len(held)} of {len(good)} good ones ({len(held) / len(good):.2%}). Held again by a metric by which an earlier batch was held and accepted: {', '.join(row['day'] for row in year.list_held_again(rows)) or 'none'}."
        yield ""
        yield from (f"- {row['day']}, {year.name_outcome(row)}: {_first(row['causes'])}" for row in rows if row["held"])


def _first(causes: Sequence[str]) -> str:
    more = f" (and {len(causes) - 1} more)" if len(causes) > 1 else ""
    return f"{causes[0]}{more}" if causes else "no cause"


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


if __name__ == "__main__":
    write_page()
