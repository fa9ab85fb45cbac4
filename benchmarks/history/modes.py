"""Plain values beside hidden ones: whether learners see the same series and make the same programs of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import headgate as hg
from benchmarks.history.feeds import Feed, feeds
from benchmarks.history.incidents import SHORTEST, is_incident
from benchmarks.history.series import Batch, analysed, read_recorded
from headgate.learn.past import Past

RUNS = 60  # the newest good ones of each feed


def compare_modes() -> dict[str, Any]:
    """By feed: the series, their values, how many of these differ between the modes, and whether the programs do."""
    return {"runs": RUNS, "feeds": {feed.title: _compare(feed) for feed in feeds(SHORTEST)}}


def describe_modes(found: dict[str, Any]) -> str:
    """The comparison in one sentence."""
    rows = found["feeds"].values()
    series, values, differ = (sum(row[name] for row in rows) for name in ("series", "values", "differ"))
    equal = sum(row["same program"] for row in rows)
    return (
        f"Plain values beside hidden ones, on the newest {found['runs']} good runs of each feed: of the {values:,} "
        f"values in {series:,} series that learners see, {differ:,} differ, and {equal} of {len(rows)} programs at 1% "
        "are the same."
    )


def _compare(feed: Feed) -> dict[str, Any]:
    plain, recorded = (_read_past(feed, batches) for batches in (analysed(feed), read_recorded(feed)))
    same_metrics = plain.metrics == recorded.metrics
    equal = same_metrics and np.isclose(plain.values, recorded.values, rtol=0, atol=0, equal_nan=True)
    programs = [hg.learn_program(past, false_alarms=0.01).expectations for past in (plain, recorded)]
    print(feed.title, file=sys.stderr, flush=True)
    return {
        "series": len(recorded.metrics),
        "values": recorded.values.size,
        "differ": int(recorded.values.size - np.sum(equal)),
        "same program": programs[0] == programs[1],
    }


def _read_past(feed: Feed, batches: Sequence[Batch]) -> Past:
    good = [each for each in batches if not is_incident(feed.title, each.partition)][-RUNS:]
    return Past.of([each.analysis for each in good], [each.partition for each in good])
