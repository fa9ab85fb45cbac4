"""Numbers from made-up rows: shares, intervals by feeds, recall at a share of clean runs held."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.history.protocol import Judged, Point
from benchmarks.history.summary import (
    at_rate,
    by_feed,
    interval,
    of_budget,
    of_form,
    of_method,
    recall_again,
    score_points,
    share,
    thinned,
)


def judged(clean: dict[str, list[float]], broken: dict[str, list[float]]) -> Judged:
    """Scores by feed; all issues are nulls, of numeric columns."""
    tests, cases = [np.concatenate([np.array(each) for each in part.values()]) for part in (clean, broken)]
    clean_feeds, broken_feeds = [
        np.repeat(list(part), [len(each) for each in part.values()]) for part in (clean, broken)
    ]
    numeric = [np.full(len(each), "numeric") for each in (tests, cases)]
    issues = np.full(len(cases), "nulls(0.5)")
    changed = np.ones(len(cases), bool)
    weights = np.ones(len(tests))
    return Judged(
        "made up", tests, weights, clean_feeds, numeric[0], cases, broken_feeds, numeric[1], issues, changed, 1.0
    )


def row(what: str, feed: str, held: tuple[str, ...] = (), **more: object) -> dict[str, object]:
    return {"what": what, "feed": feed, "held": dict.fromkeys(held, ("why",)), **more}


def test_feeds_that_agree_leave_no_doubt():
    assert interval(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])) == pytest.approx((0.1, 0.1))


def test_feeds_that_differ_leave_all_doubt():
    low, high = interval(np.array([0.0, 10.0]), np.array([10.0, 10.0]))
    assert (low, high) == (0.0, 1.0)


def test_an_interval_is_the_same_each_time():
    parts, wholes = np.array([1.0, 5.0, 2.0]), np.array([9.0, 9.0, 9.0])
    assert interval(parts, wholes) == interval(parts, wholes)


def test_a_feed_without_tests_does_not_break_the_interval():
    low, high = interval(np.array([0.0, 4.0]), np.array([0.0, 8.0]))
    assert (low, high) == (0.5, 0.5)


def test_counts_are_told_feed_by_feed():
    caught, alarms, broken, clean = by_feed(judged({"a": [0, 3], "b": [1]}, {"a": [5], "b": [0, 2]}), np.array([2.0]))
    assert caught.ravel().tolist() == [1, 1]
    assert alarms.ravel().tolist() == [1, 0]
    assert broken.tolist() == [1, 2]
    assert clean.tolist() == [2, 1]


def test_a_budget_holds_what_a_smaller_budget_holds_too():
    tests = judged({"a": [0.0] * 18 + [2.0, 3.0]}, {"a": [0.0, 2.0, 3.0, 3.0]})
    told = of_budget(tests, 0.01)
    assert told["recall"] == 0.75
    assert told["false_alarms"] == 0.1
    assert told["precision"] == 0.6
    assert of_budget(tests, 0.001)["recall"] == 0.5


def test_a_method_that_parts_all_has_full_recall_at_every_precision():
    told = of_method(judged({"a": [0.0] * 9, "b": [0.1] * 9}, {"a": [1.0, 2.0], "b": [3.0]}))
    assert told["at"]["0.98"]["recall"] == 1.0
    assert told["at"]["0.98"]["interval"] == (1.0, 1.0)
    assert told["issues"] == {"nulls": 1.0}
    assert told["clean"] == 18
    assert told["changed"] == 3


def test_a_method_that_parts_nothing_has_no_point():
    told = of_method(judged({"a": [1.0] * 50}, {"a": [1.0]}))
    assert told["at"]["0.95"] is None
    assert told["issues"] == {}


def test_recall_that_hangs_on_one_feed_is_doubtful():
    tests = judged({"a": [0.0] * 50, "b": [9.0] * 50}, {"a": [5.0] * 10, "b": [5.0] * 10})
    low, high = recall_again(tests, [0.95])["0.95"]
    assert (low, high) == (0.0, 1.0)


def test_a_thinned_curve_keeps_its_ends():
    points = [Point(float(at), 1.0, at / 100, 0.0) for at in range(100)]
    chosen = thinned(points, 5)
    assert [each.threshold for each in chosen] == [0, 25, 50, 74, 99]
    assert thinned([], 5) == []


def test_a_share_of_nothing_is_not_a_number():
    found = share([], lambda _: True)
    assert found["share"] is None
    assert found["of"] == 0


def test_a_form_is_told_in_all_and_in_parts():
    about = {"clauses": {"headgate 0.01": 6}, "costs": {"headgate 0.01": 0.008}, "columns": 3, "shape": 3}
    rows = [
        row("clean", "x/a", **about),
        row("clean", "x/a", ("headgate 0.01",), **about),
        row("clean", "y/b", **about),
        row("case", "x/a", ("headgate 0.01",), issue="nulls(0.5)"),
        row("case", "y/b", ("headgate 0.05",), issue="nulls(0.1)"),
        row("incident", "y/b", ("headgate 0.01",)),
    ]
    told = of_form(rows, "headgate 0.01", frozenset({"y/b"}))
    assert told["budget"] == 0.01
    assert told["clean"]["share"] == pytest.approx(1 / 3)
    assert told["clean_unseen"]["share"] == 0.0
    assert told["cases"]["share"] == 0.5
    assert told["cases_by_feed"]["x/a"]["share"] == 1.0
    assert told["cases_by_issue"]["nulls"]["of"] == 2
    assert told["clauses_a_column"] == 1.0
    assert told["stated_cost"] == pytest.approx(0.008)


def test_recall_between_two_budgets_is_linear_in_the_logarithm_of_the_rate():
    assert at_rate([0.1, 0.001], [0.8, 0.4], 0.01) == (pytest.approx(0.6), True)


def test_below_its_smallest_rate_a_form_is_heeded_in_part_and_marked():
    assert at_rate([0.02, 0.1], [0.4, 0.8], 0.005) == (pytest.approx(0.1), False)


def test_above_its_largest_rate_a_form_keeps_its_recall_and_is_marked():
    assert at_rate([0.02, 0.1], [0.4, 0.8], 0.5) == (pytest.approx(0.8), False)


def test_a_form_that_holds_no_clean_run_keeps_its_recall():
    assert at_rate([0.0, 0.0], [0.3, 0.5], 0.0) == (0.5, True)


def test_scores_give_a_rate_and_a_recall_at_each_threshold():
    rates, recalls = score_points(np.array([0.0, 1.0, 2.0, 3.0]), np.array([2.5, 9.0]))
    assert rates.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert recalls.tolist() == [0.5, 0.5, 1, 1, 1]
    assert at_rate(rates, recalls, 0.5) == (1.0, True)


def test_equal_scores_are_alarms_together():
    rates, recalls = score_points(np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0]))
    assert at_rate(rates, recalls, 0.25) == (0.25, True)
