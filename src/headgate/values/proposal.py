"""What a learner offers to the one selection: an expectation, its price and its worth."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from headgate.values.expectation import Expectation

IssueId: TypeAlias = tuple[str, str]
"""A column (empty for the table) and the issue that may befall it, as text."""


class Proposal(msgspec.Struct, frozen=True):
    """An expectation with what it costs (its stated rate of false alarms) and which injected issues it catches.

    Its worth is what others do not catch. `note` says in a few words where its predicate comes from. Of proposals of
    one `family`, which differ only in how narrow they are, no more than one is chosen.
    """

    expectation: Expectation
    catches: frozenset[IssueId] = frozenset()
    note: str = ""
    pinned: bool = False

    @property
    def cost(self) -> float:
        return self.expectation.false_alarm or 0.0

    @property
    def family(self) -> str:
        return str(self.expectation.metric)

    @property
    def column(self) -> str:
        """The column that it is about; empty for the table."""
        columns = self.expectation.metric.columns
        return columns[0] if columns else ""
