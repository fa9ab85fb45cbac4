"""Every column has the same limit, and all of them cost together what each states."""

from __future__ import annotations

import pytest

from headgate.learn.history.rare_columns import SHOWN_RANGES, RareColumns
from headgate.learn.history.rarity import Rarities
from headgate.learn.history.replayed_memory import replay_memory
from headgate.learn.pooled_rates import load_pooled_rates
from headgate.learn.rarity_limit import BatchRates
from headgate.values.proposal import Proposal
from headgate.values.rarity_memory import Part
from tests.learn.histories import orders


def columns(rates: BatchRates | None = None) -> RareColumns:
    pooled = load_pooled_rates()
    rarities = Rarities.of(orders(), pooled, replay_memory(orders(), pooled))
    return RareColumns(rarities, pooled.batch_rates(Part.COLUMNS, len(orders())) if rates is None else rates)


def propose(rare: RareColumns, budget: float) -> list[Proposal]:
    limit = rare.find_limit(budget)
    assert limit is not None
    assert limit.rate <= budget
    return rare.propose(limit)


@pytest.mark.parametrize("budget", [0.01, 0.05, 0.2])
def test_each_column_has_the_limit_that_the_budget_pays_for(budget: float) -> None:
    found = propose(columns(), budget)
    assert [str(each.expectation.metric) for each in found] == [
        "rarity(id)",
        "rarity(price)",
        "rarity(country)",
        "rarity(code)",
    ]
    assert len({each.expectation.predicate for each in found}) == 1
    assert 0 < sum(each.cost for each in found) <= budget


def test_the_note_says_what_is_usual() -> None:
    notes = {str(each.expectation.metric): each.note for each in propose(columns(), 0.05)}
    assert notes["rarity(price)"].count(";") == SHOWN_RANGES - 1
    assert "mean within " in notes["rarity(price)"]


def test_without_evidence_or_budget_there_is_no_limit() -> None:
    assert columns(BatchRates()).find_limit(0.05) is None
    assert columns().find_limit(0.0) is None
