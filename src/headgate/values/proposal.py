"""What a learner offers to the one selection: an expectation, its price and its worth."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from headgate.values.expectation import Expectation

IssueId: TypeAlias = tuple[str, str]
"""A column (empty for the table) and the issue that may befall it, as text."""


class Proposal(msgspec.Struct, frozen=True):
    """An expectation with what it costs (its stated rate of false alarms) and which injected issues it catches.

    `weight` is how much of that rate counts among the others of a table: less than 1 where expectations are known to
    fail together, so that adding up their rates counts one alarm many times. Its worth is what others do not catch.
    `note` says in a few words where its predicate comes from. Of proposals of one `family`, which differ only in how
    narrow they are, no more than one is chosen.
    """

    expectation: Expectation
    catches: frozenset[IssueId] = frozenset()
    note: str = ""
    pinned: bool = False
    weight: float = 1.0

    @property
    def cost(self) -> float:
        """What it takes from the budget."""
        return self.weight * (self.expectation.false_alarm or 0.0)

    @property
    def family(self) -> str:
        return str(self.expectation.metric)

    @property
    def column(self) -> str:
        """The column that it is about; empty for the table."""
        columns = self.expectation.metric.columns
        return columns[0] if columns else ""
