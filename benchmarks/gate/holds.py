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
from typing import NamedTuple

import numpy as np

from benchmarks.gate.good_batches import Row, judge_and_accept, judge_feeds, list_good_batches, make_gate, write_results
from benchmarks.gate.summary import audited
from benchmarks.history.feeds import HELD_OUT, Feed, held_out_feeds
from headgate.stats.intervals import wilson

RESULTS = Path(__file__).parent / "results" / "holds.json"
HELD_OUT_RESULTS = RESULTS.with_name("holds_held_out.json")
BUDGETS, RUNS = (0.01, 0.05), 90
DRAWS, SEED = 10_000, 19


class Share(NamedTuple):
    """Held of judged batches, and the interval of the share: from draws of datasets, and no narrower than Wilson's."""

    held: int
    judged: int
    low: float
    high: float

    def __str__(self) -> str:
        share = self.held / max(1, self.judged)
        return f"{self.held} of {self.judged:,} ({share:.1%}, 95% interval {self.low:.1%} to {self.high:.1%})"


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
    by_dataset: dict[str, list[int]] = {}
    for row in rows:
        if row["runs"]:
            of_dataset = by_dataset.setdefault(_name_dataset(row["feed"]), [0, 0])
            of_dataset[0] += bool(row["held"]) and not (only_false and has_reason(row))
            of_dataset[1] += 1
    table = np.array(list(by_dataset.values()), np.float64)
    drawn = np.random.default_rng(SEED).integers(0, len(table), (DRAWS, len(table)))
    held, judged = table[drawn].sum(axis=1).T
    low, high = np.quantile(held / judged, (0.025, 0.975))
    counts = int(table[:, 0].sum()), int(table[:, 1].sum())
    least = wilson(*counts)  # draws of datasets that have no hold tell nothing of how many there may be
    return Share(*counts, min(float(low), least[0]), max(float(high), least[1]))


def _name_dataset(feed: str) -> str:
    """Feeds of one publisher are one dataset: they change together."""
    folder, _, name = feed.partition("/")
    return name if folder == HELD_OUT else folder


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
