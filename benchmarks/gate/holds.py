"""`python -m benchmarks.gate.holds`: how many good batches of each feed the gate holds at 1% and at 5%, and why.

Of each feed up to 90 consecutive good batches are judged; one that is held is accepted before the next is judged.
`audit.csv` says for each hold whether a look at the batch found a reason.

`python -m benchmarks.gate.holds --held-out` judges all batches of the feeds that nothing is chosen on, with the pooled
rates as they are shipped.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.gate.audit import audited
from benchmarks.gate.good_batches import Row, judge_and_accept, judge_feeds, list_good_batches, make_gate, write_results
from benchmarks.gate.shares import Share, estimate
from benchmarks.history.feeds import HELD_OUT, Feed, held_out_feeds

RESULTS = Path(__file__).parent / "results" / "holds.json"
HELD_OUT_RESULTS = RESULTS.with_name("holds_held_out.json")
BUDGETS, RUNS = (0.01, 0.05), 90


def judge_feed(feed: Feed, false_alarms: float) -> list[Row]:
    """Every good batch of a feed, and whether it is held."""
    gate = make_gate(feed, false_alarms)
    batches = list(feed.batches()) if feed.folder == HELD_OUT else list_good_batches(feed, RUNS)
    rows: list[Row] = []
    for number, (partition, table) in enumerate(batches):
        verdict = judge_and_accept(gate, partition, table)
        about = {"feed": feed.title, "budget": false_alarms, "partition": partition, "runs": number}
        rows.append({**about, "held": [each.title for each in verdict.causes] if not verdict.passed else []})
    print(f"{feed.title} at {false_alarms:.0%}: {sum(bool(row['held']) for row in rows)} of {len(rows)}", flush=True)
    return rows


def estimate_share(rows: Sequence[Row], *, only_false: bool = False) -> Share:
    """The share of held batches from the second run on; `only_false`: of those held without a reason."""
    return estimate(
        (row["feed"], bool(row["held"]) and not (only_false and has_reason(row))) for row in rows if row["runs"]
    )


def has_reason(row: Row) -> bool:
    """Whether a look at the batch found a reason to hold it."""
    return audited().get((row["feed"], row["partition"]), (False, ""))[0]


def list_shares(rows: Sequence[Row]) -> Iterator[str]:
    """A table with a line for each budget and length of the history."""
    yield "| budget | runs before | held | held without a reason |"
    yield "|---|---|---|---|"
    for budget in BUDGETS:
        of_budget = [row for row in rows if row["budget"] == budget]
        for name, span in SPANS.items():
            mine = [row for row in of_budget if row["runs"] in span]
            if mine:
                yield f"| {budget:.0%} | {name} | {estimate_share(mine)} | {estimate_share(mine, only_false=True)} |"


SPANS: Mapping[str, range] = {
    "1 or more": range(1, 10_000),
    "1 to 6": range(1, 7),
    "7 to 29": range(7, 30),
    "30 or more": range(30, 10_000),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--held-out", action="store_true")
    arguments = parser.parse_args()
    chosen = held_out_feeds() if arguments.held_out else None
    rows = [row for budget in BUDGETS for row in judge_feeds(judge_feed, arguments.workers, budget, chosen)]
    write_results(HELD_OUT_RESULTS if arguments.held_out else RESULTS, rows)
    print("\n".join(list_shares(rows)))


if __name__ == "__main__":
    main()
