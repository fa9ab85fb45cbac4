"""What a learner proposes: an expectation with its cost and its benefit, from which the selection chooses."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from headgate.values.expectation import Expectation

IssueId: TypeAlias = tuple[str, str]
"""A column (empty for the table) and an issue that can occur in it, as text."""


class Proposal(msgspec.Struct, frozen=True):
    """An expectation with its cost (a bound on its false alarm rate) and the injected issues that it catches.

    `weight` is the part of that rate that counts towards the budget of a table. It is below 1 for expectations that
    share one limit, because the sum of their rates would count one alarm many times. `note` says where the predicate
    comes from, `pinned` that a person fixed it. Of the proposals of one `family`, which differ only in how narrow they
    are, at most one is chosen. `runs_held` and `runs_broken` count the good runs that met a rule about texts and those
    that broke it, since it was learned.
    """

    expectation: Expectation
    catches: frozenset[IssueId] = frozenset()
    note: str = ""
    pinned: bool = False
    weight: float = 1.0
    runs_held: int = 0
    runs_broken: int = 0

    @property
    def cost(self) -> float:
        """The part of the false alarm budget that it uses."""
        return self.weight * (self.expectation.false_alarm or 0.0)

    @property
    def family(self) -> str:
        return str(self.expectation.metric)

    @property
    def column(self) -> str:
        """The column of its metric; empty for the table."""
        columns = self.expectation.metric.columns
        return columns[0] if columns else ""
