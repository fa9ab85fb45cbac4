"""How holds of good batches are counted, and how certain their share is."""

from __future__ import annotations

import pytest

from benchmarks.gate import holds
from benchmarks.gate.holds import estimate_share, list_shares


def judged(feed: str, held: int, of: int) -> list[dict]:
    about = {"feed": feed, "budget": 0.01}
    return [{**about, "partition": str(at), "runs": at, "held": ["why"] if 0 < at <= held else []} for at in range(of)]


def test_the_first_batch_of_a_feed_does_not_count():
    share = estimate_share(judged("a/b", 3, 11))
    assert (share.held, share.judged) == (3, 10)


def test_an_interval_is_wider_if_one_dataset_has_all_holds():
    even = [row for at in range(8) for row in judged(f"d{at}/feed", 5, 101)]
    uneven = [*judged("d0/feed", 40, 101), *(row for at in range(1, 8) for row in judged(f"d{at}/feed", 0, 101))]
    spread = [each.high - each.low for each in map(estimate_share, (even, uneven))]
    assert spread[1] > 3 * spread[0]


def test_feeds_of_one_publisher_are_one_dataset():
    one, two = (
        estimate_share([*judged(f"{first}/x", 20, 101), *judged(f"{second}/y", 0, 101), *judged("c/z", 0, 101)])
        for first, second in (("a", "a"), ("a", "b"))
    )
    assert (one.held, one.judged) == (two.held, two.judged)
    assert (one.low, one.high) != (two.low, two.high)


def test_no_hold_is_no_proof_of_none():
    share = estimate_share(judged("a/b", 0, 101))
    assert (share.low, share.high) == (0.0, pytest.approx(0.037, abs=0.001))


def test_holds_with_a_reason_are_not_counted_as_false(monkeypatch):
    monkeypatch.setattr(holds, "audited", lambda: {("a/b", "1"): (True, "a new column"), ("a/b", "2"): (False, "")})
    rows = judged("a/b", 3, 11)
    assert estimate_share(rows, only_false=True).held == 2
    assert "| 1% | 1 or more | 3 of 10 (30.0%" in "\n".join(list_shares(rows))
