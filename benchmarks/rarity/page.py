"""`python -m benchmarks.rarity.page`: writes docs/budget-benchmark.md from the results on feeds and made-up tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.gate.shares import estimate
from benchmarks.gate.simple_faults import RESULTS as SIMPLE
from benchmarks.gate.simple_faults import tabulate as tabulate_simple
from benchmarks.rarity.__main__ import RESULTS, tabulate
from benchmarks.rarity.rarity import FORMS
from benchmarks.rarity.simulated import NEXT, ONCE_IN
from benchmarks.rarity.simulated import RESULTS as SIMULATED

PAGE = Path(__file__).parents[2] / "docs" / "budget-benchmark.md"
FULL = next(iter(FORMS))
LONG = 14
"""Runs of history from which on simple faults are added up."""
Row = dict[str, Any]


def write_page() -> None:
    """The page, from the results that are there."""
    counts = json.loads(RESULTS.read_text(encoding="utf-8"))
    simulated = json.loads(SIMULATED.read_text(encoding="utf-8"))
    simple = json.loads(SIMPLE.read_text(encoding="utf-8"))
    parts = [*_describe_feeds(counts), *_describe_simple(simple), *_describe_simulated(simulated)]
    PAGE.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _describe_feeds(counts: Sequence[Row]) -> Iterator[str]:
    feeds = {row["feed"] for row in counts}
    good = sum(row["judged"] for row in counts if row["form"] == FULL and not row["issue"])
    broken = sum(row["judged"] for row in counts if row["form"] == FULL and row["issue"])
    yield "# Is the budget kept?"
    yield ""
    yield (
        "Written by `make bench-rarity` from `benchmarks/rarity/results`; do not edit. What is measured: [the "
        "limits](methods/history.md#the-limits) of rows, basics, nulls and columns alone, without patterns, "
        "novelty and coarse limits."
    )
    yield (
        f"Good batches are {good:,} runs of {len(feeds)} feeds, each accepted whether it is held or not; "
        f"broken ones are {broken:,} copies with one fault each. Values are hidden. **Everything is nested**: "
        "what judges a dataset knows nothing of it, and how rare batches"
    )
    yield (
        "of the other feeds are was measured with evidence that knows nothing of these feeds either. The "
        "constants of the method were chosen by looking at the same feeds (`benchmarks/protocol.md`). "
        "Intervals are of 95%, by datasets."
    )
    yield ""
    yield (
        "How other methods do at the same share of good batches held is on the page about [programs]"
        "(history-benchmark.md#recall-at-each-share-of-clean-runs-held); the whole [gate](gate-benchmark.md) with "
        "patterns and novelty, and the real incidents, have a page of their own, and so have [the basics]"
        "(basics-benchmark.md), [ranges](ranges-benchmark.md) and [novelty](novelty-benchmark.md)."
    )
    yield ""
    yield "## All feeds"
    yield ""
    yield tabulate([row for row in counts if row["form"] == FULL])
    yield ""
    yield "The last column leaves out faults that a clause about columns, types, dates or copies shows."
    yield ""
    yield "## What each part adds"
    yield ""
    yield tabulate([row for row in counts if row["form"] != FULL])
    yield ""
    yield from _describe_issues(counts)


def _describe_issues(counts: Sequence[Row]) -> Iterator[str]:
    yield "## By type of fault, at 1% and 5%"
    yield ""
    yield "| fault | batches | held at 1% | held at 5% |"
    yield "|---|---|---|---|"
    of_form = [row for row in counts if row["form"] == FULL and row["issue"]]
    for issue in sorted({row["issue"] for row in of_form}):
        rows = [row for row in of_form if row["issue"] == issue]
        judged = sum(row["judged"] for row in rows)
        shares = " | ".join(f"{sum(row['held'][at] for row in rows) / judged:.1%}" for at in (1, 3))
        yield f"| {issue.replace('_', ' ')} | {judged} | {shares} |"
    yield ""


def _describe_simple(rows: list[Row]) -> Iterator[str]:
    broken = [row for row in rows if row["fault"] and row["runs"] >= LONG]
    held = estimate((row["feed"], row["held"]) for row in broken)
    yield "## Simple faults, at 1%"
    yield ""
    yield (
        "What nobody may publish, through the whole gate, on the feeds: broken copies after 7, 14, 30 and 90 runs of "
        "history, each in a column that is drawn among those that it fits. Held of judged batches. After "
        f"{LONG} runs or more: {held}."
    )
    yield ""
    yield tabulate_simple(rows)
    yield ""


def _describe_simulated(found: Row) -> Iterator[str]:
    cells = found["cells"]
    runs, budgets = sorted({each["runs"] for each in cells}), sorted({each["budget"] for each in cells})
    yield "## Made-up tables"
    yield ""
    yield (
        f"Tables of 10, 50 and 200 columns with four metrics each; the {NEXT} runs after K runs are judged by "
        "the limit of columns with the whole budget. *Correlated*: half of the noise is that of all columns. "
        f"*Jumping*: in one of {ONCE_IN} runs all metrics of a column jump by 20 deviations."
    )
    yield (
        f"*Changing constants*: a column is constant, and another constant after about {ONCE_IN} runs; none of "
        "the feeds is made of such columns. In bold: the upper end of the 99% interval is above the budget, "
        "which few judged runs (in the last column) can do alone."
    )
    yield ""
    yield "| table | columns | budget | " + " | ".join(f"{each} runs" for each in runs) + " | judged |"
    yield "|---" * (4 + len(runs)) + "|"
    by_key = {
        (each["kind"], each["is_correlated"], each["columns"], each["budget"], each["runs"]): each for each in cells
    }
    for kind, is_correlated, columns in dict.fromkeys(key[:3] for key in by_key):
        name = f"{kind}, correlated" if is_correlated else kind
        for budget in budgets:
            row = [by_key[kind, is_correlated, columns, budget, each] for each in runs]
            shown = " | ".join(map(_format_cell, row))
            yield f"| {name} | {columns} | {budget:.1%} | {shown} | {row[0]['judged']:,} |"
    above = sum(each["upper"] > each["budget"] for each in cells)
    over = sum(each["held"] / each["judged"] > each["budget"] for each in cells)
    yield ""
    yield (
        f"In {over} of {len(cells)} cells more is held than the budget says, and in {above} the interval "
        "reaches above it."
    )
    yield ""
    yield "## A table that is twice as wild"
    yield ""
    yield (
        "The rarity of every batch is twice one drawn from the shares of all feeds; 1,000 runs, all accepted. "
        "From run 200 on:"
    )
    yield ""
    yield "| budget | held | of the budget |"
    yield "|---|---|---|"
    for budget, (judged, held) in found["wild"].items():
        share = held / judged
        yield f"| {float(budget):.1%} | {held:,} of {judged:,} ({share:.2%}) | {share / float(budget):.2f} |"


def _format_cell(cell: Row) -> str:
    text = f"{cell['held'] / cell['judged']:.2%}"
    return f"**{text}**" if cell["upper"] > cell["budget"] else text


if __name__ == "__main__":
    write_page()
