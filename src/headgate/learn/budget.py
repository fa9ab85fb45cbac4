"""The one budget for false alarms of a table, spent on the proposals of all learners together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from headgate.stats.coverage import greedy, select
from headgate.values.errors import MisuseError
from headgate.values.proposal import IssueId, Proposal

TARGET_CLAUSES = 3
"""Clauses of a column up to which money that is left buys a second opinion."""


def choose_proposals(
    proposals: Sequence[Proposal], budget: float, *, max_per_column: int | None = None, paper_algorithm: bool = False
) -> list[Proposal]:
    """The proposals that catch the most issues for the budget; their stated rates of false alarms add up to no more.

    At most `most` of one column. Pinned ones are always among them. What is left of the budget when nothing more can be
    caught buys second opinions, as a real issue may differ from the injected one: other metrics that catch the same,
    for columns with few clauses. `plain` is Algorithm 1 of the paper as written, without any of that; a
    limit or a pin, which the algorithm does not know, makes it `select`.
    """
    return BudgetSelection(proposals).choose(budget, max_per_column=max_per_column, paper_algorithm=paper_algorithm)


class BudgetSelection:
    """Proposals laid out for selection, so that several budgets can be tried on them."""

    def __init__(self, proposals: Sequence[Proposal]) -> None:
        self.proposals = proposals
        self.costs = [each.cost for each in proposals]
        self.columns = [each.column for each in proposals]
        self.families = [each.family for each in proposals]
        self.issue_bits = _encode_issues(proposals)

    def choose(
        self, budget: float, *, max_per_column: int | None = None, paper_algorithm: bool = False
    ) -> list[Proposal]:
        """See `spend`."""
        if not 0 <= budget <= 1:
            raise MisuseError(f"a budget is a share of runs, not {budget}.", hint="Write false_alarms=0.01.")
        if paper_algorithm and max_per_column is None and not any(each.pinned for each in self.proposals):
            chosen = list(greedy(self.costs, self.issue_bits, budget).chosen)
        else:
            chosen = self._select_from(range(len(self.proposals)), budget, max_per_column)
            target = TARGET_CLAUSES if max_per_column is None else min(max_per_column, TARGET_CLAUSES)
            while not paper_algorithm and (more := self._select_redundant(chosen, budget, target)):
                chosen += more
        return [self.proposals[at] for at in chosen]

    def _select_from(self, candidates: Sequence[int], budget: float, max_per_column: int | None) -> list[int]:
        chosen = select(
            [self.costs[at] for at in candidates],
            [self.issue_bits[at] for at in candidates],
            budget,
            groups=[self.columns[at] for at in candidates],
            most=max_per_column,
            exclusive=[self.families[at] for at in candidates],
            taken=[place for place, at in enumerate(candidates) if self.proposals[at].pinned],
        ).chosen
        return [candidates[place] for place in chosen]

    def _select_redundant(self, chosen: Sequence[int], budget: float, max_clauses: int) -> list[int]:
        """One more clause for each column that has fewer than this, as far as the money goes."""
        clauses = Counter(self.columns[at] for at in chosen)
        families = {self.families[at] for at in chosen}
        remaining = budget - sum(self.costs[at] for at in chosen)
        candidates = [
            at
            for at in range(len(self.proposals))
            if self.costs[at] <= remaining
            and clauses[self.columns[at]] < max_clauses
            and self.families[at] not in families
        ]
        return self._select_from(candidates, remaining, 1) if candidates else []


def _encode_issues(proposals: Sequence[Proposal]) -> list[int]:
    """Each proposal's issues as a bit set."""
    bit_positions: dict[IssueId, int] = {}
    for each in proposals:
        for issue in each.catches:
            bit_positions.setdefault(issue, len(bit_positions))
    size = len(bit_positions) // 8 + 1
    return [_make_bit_set([bit_positions[issue] for issue in each.catches], size) for each in proposals]


def _make_bit_set(positions: Sequence[int], size: int) -> int:
    """The whole number with these bits set, made from bytes: adding up powers of two would copy it at every step."""
    raw = bytearray(size)
    for place in positions:
        raw[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(raw, "little")
