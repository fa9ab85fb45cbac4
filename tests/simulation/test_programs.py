"""Good batches of simulated tables exceed their limits no more often than the budget says."""

from __future__ import annotations

import pytest

from benchmarks.rarity.simulated import BUDGETS, Cell, simulate

TABLES = 40


@pytest.mark.parametrize("is_correlated", [False, True])
@pytest.mark.parametrize("columns", [10, 50])
@pytest.mark.parametrize("kind", ["smooth", "heavy-tailed"])
def test_tables_of_kinds_that_the_evidence_has_keep_their_budget(kind: str, columns: int, is_correlated: bool) -> None:
    cells = simulate(kind, columns, is_correlated, TABLES // (columns // 10), seed=1)
    for budget in BUDGETS:
        chosen = [each for each in cells if each.budget == budget]
        held, judged = sum(each.held for each in chosen), sum(each.judged for each in chosen)
        assert held <= budget * judged, chosen


def test_the_upper_bound_is_above_the_share() -> None:
    assert 0.002 < Cell("smooth", 10, False, 30, 0.01, 10_000, 20).upper < 0.004
