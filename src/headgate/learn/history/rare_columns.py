"""Propose that no column of the next batch is rarer than a limit, which the budget sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from headgate.learn.history.rarity import Rarities, make_rarity_key
from headgate.learn.history.usual_ranges import UsualRanges
from headgate.learn.rarity_limit import BatchRates, Limit, find_limit
from headgate.values.expectation import Expectation, Source
from headgate.values.predicate import Between
from headgate.values.proposal import Proposal
from headgate.values.rarity_memory import Part

SHOWN_RANGES = 3
"""Usual ranges of a column that a program prints."""


@dataclass(frozen=True)
class RareColumns:
    """The columns of a table, before a budget says how rare they may be."""

    rarities: Rarities
    batch_rates: BatchRates

    def find_limit(self, budget: float) -> Limit | None:
        """The lowest limit that the budget pays for; None if there is none."""
        return find_limit(self.batch_rates, self.rarities.memory, Part.COLUMNS, budget)

    def propose(self, limit: Limit) -> list[Proposal]:
        """For each column the limit of its rarity. All of them cost together what each states."""
        predicate = Between(high=limit.rarity)
        return [
            Proposal(
                Expectation(make_rarity_key(column), predicate, Source.HISTORY, false_alarm=limit.rate),
                note=usual,
                weight=1 / len(self.rarities.columns),
            )
            for column, usual in self._usual.items()
        ]

    @cached_property
    def _usual(self) -> dict[str, str]:
        """What is usual of each column, in words, for all budgets."""
        ranges = UsualRanges(self.rarities)
        return {
            column: "; ".join(
                f"{each.expectation.metric.name} {each.expectation.predicate}"
                for each in ranges.list_of_column(column, SHOWN_RANGES)
            )
            for column in self.rarities.columns
        }
