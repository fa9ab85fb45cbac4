"""`python -m benchmarks.gate.simple_faults`: whether the gate holds what nobody may publish, on every feed, at 1%."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from benchmarks.gate import feed_recall
from benchmarks.gate.faults import SIMPLE_FAULTS
from benchmarks.gate.good_batches import measure_feeds

RESULTS = Path(__file__).parent / "results" / "simple_faults.json"

judge_feed = partial(feed_recall.judge_feed, faults=SIMPLE_FAULTS)
tabulate = partial(feed_recall.tabulate, faults=SIMPLE_FAULTS)

if __name__ == "__main__":
    measure_feeds(__doc__, judge_feed, feed_recall.BUDGET, RESULTS, tabulate)
