"""Scores of index entries, by mean impurity, by coverage and by backtest."""

from __future__ import annotations

import numpy as np
import pytest

from headgate.learn.patterns.entries import ENTRY, IMPURITY_ONE, Rows
from headgate.learn.patterns.scoring import ByBacktest, ByCoverage, ByImpurity, EntryCosts, critical_share


def entries(columns: list[int], rates: list[float]) -> Rows:
    rows = np.zeros(len(columns), ENTRY)
    rows["columns"] = columns
    rows["impurity"] = [int(count * rate * IMPURITY_ONE) for count, rate in zip(columns, rates, strict=True)]
    return rows


def test_between_known_shares_the_backtest_is_interpolated() -> None:
    row = np.zeros(1, ENTRY)
    row["columns"], row["led"], row["slipped"], row["strayed"], row["failed"] = 100, 98, 80, 40, 10
    costs = [float(ByBacktest(0.9, 1, share, 1_000)(row).cost[0]) for share in (0.5, 0.4, 0.2, 0.05, 0.01, 0.0001)]
    assert costs == sorted(costs)
    assert costs[0] == costs[1] == pytest.approx((10 + 1) / 100)
    assert costs[3] == pytest.approx((40 + 1) / 100)
    assert costs[-1] == pytest.approx((80 + 1) / 100)


def test_the_more_values_trained_a_rule_the_smaller_the_share_that_breaks_it() -> None:
    shares = [critical_share(seen, 0.01) for seen in (5, 10, 100, 1_000, 10_000)]
    assert shares == sorted(shares, reverse=True)


def test_impurity_ranks_by_rate_and_then_by_columns_and_leaves_out_what_is_not_allowed() -> None:
    scorer = ByImpurity(limit=0.1, coverage=5)
    costs = scorer(entries([10, 4, 50, 50, 9], [0.05, 0.0, 0.25, 0.05, 0.01]))
    assert costs.allowed.tolist() == [True, False, False, True, True]
    assert scorer.rank_entries(costs).tolist() == [4, 3, 0]


def test_coverage_ranks_the_pattern_of_the_fewest_columns_first() -> None:
    scorer = ByCoverage(limit=0.1, coverage=5)
    costs = scorer(entries([10, 4, 7, 50], [0.05, 0.0, 0.25, 0.0]))
    assert scorer.rank_entries(costs).tolist() == [0, 3]


def test_a_backtest_without_evidence_costs_the_prior() -> None:
    costs = ByBacktest(0.9, 1, 0.01, 100)(np.zeros(1, ENTRY))
    assert costs.cost.tolist() == [0.5]
    assert costs.allowed.tolist() == [False]


def test_of_nearly_equal_scores_the_backtest_takes_the_pattern_of_fewer_columns() -> None:
    scorer = ByBacktest(limit=0.5, coverage=1, critical=0.01, total=100)
    costs = EntryCosts(np.array([0.1, 0.108, 0.4]), np.array([0.01, 0.001, 0.0]), np.ones(3, dtype=bool))
    assert scorer.rank_entries(costs).tolist() == [1, 0, 2]
