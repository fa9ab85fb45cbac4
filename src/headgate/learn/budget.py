"""Choose among the proposals of all learners within the false alarm budget of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from headgate.stats.coverage import greedy, select
from headgate.values.errors import MisuseError
from headgate.values.proposal import IssueId, Proposal

TARGET_CLAUSES = 3
"""Clauses per column up to which the rest of the budget goes to redundant proposals."""


def choose_proposals(
    proposals: Sequence[Proposal], budget: float, *, max_per_column: int | None = None, paper_algorithm: bool = False
) -> list[Proposal]:
    """The proposals that catch the most issues while their costs add up to at most `budget`.

    Pinned proposals are always chosen. At most `max_per_column` of one column are chosen. The rest of the budget then
    goes to redundant proposals, which catch the same issues by other metrics, for columns with few clauses: a real
    issue may differ from the injected one. `paper_algorithm` is Algorithm 1 of Auto-Validate-by-History, without
    redundant proposals. That algorithm has no limit per column and no pins, so with either of them `select` replaces
    it.
    """
    return BudgetSelection(proposals).choose(budget, max_per_column=max_per_column, paper_algorithm=paper_algorithm)


class BudgetSelection:
    """Proposals prepared for selection, so that several budgets can be tried on them."""

    def __init__(self, proposals: Sequence[Proposal]) -> None:
        self.proposals = proposals
        self.costs = [each.cost for each in proposals]
        self.columns = [each.column for each in proposals]
        self.families = [each.family for each in proposals]
        self.bit_positions: dict[IssueId, int] = {}
        for proposal in proposals:
            for issue in proposal.catches:
                self.bit_positions.setdefault(issue, len(self.bit_positions))
        self.issue_bits = [self._encode_issues(each.catches) for each in proposals]

    def choose(
        self, budget: float, *, max_per_column: int | None = None, paper_algorithm: bool = False
    ) -> list[Proposal]:
        """See `choose_proposals`."""
        if not 0 <= budget <= 1:
            raise MisuseError(f"a budget is a share of runs, not {budget}.", hint="Write false_alarms=0.01.")
        if paper_algorithm and max_per_column is None and not any(each.pinned for each in self.proposals):
            chosen = list(greedy(self.costs, self.issue_bits, budget).chosen)
        else:
            candidates = range(len(self.proposals))
            chosen = self._select_from(candidates, budget, max_per_column)
            target = TARGET_CLAUSES if max_per_column is None else min(max_per_column, TARGET_CLAUSES)
            while not paper_algorithm and (more := self._select_redundant(candidates, chosen, budget, target)):
                chosen += more
        return [self.proposals[index] for index in chosen]

    def _select_from(self, candidates: Sequence[int], budget: float, max_per_column: int | None) -> list[int]:
        """The indices of the proposals that are chosen among the candidates, which are indices too."""
        chosen_positions = select(
            [self.costs[index] for index in candidates],
            [self.issue_bits[index] for index in candidates],
            budget,
            groups=[self.columns[index] for index in candidates],
            most=max_per_column,
            exclusive=[self.families[index] for index in candidates],
            taken=[position for position, index in enumerate(candidates) if self.proposals[index].pinned],
        ).chosen
        return [candidates[position] for position in chosen_positions]

    def _select_redundant(
        self, offered: Sequence[int], chosen: Sequence[int], budget: float, max_clauses: int
    ) -> list[int]:
        """One more proposal for each column that has fewer than `max_clauses`, within the rest of the budget."""
        clauses = Counter(self.columns[index] for index in chosen)
        families = {self.families[index] for index in chosen}
        remaining = budget - sum(self.costs[index] for index in chosen)
        candidates = [
            index
            for index in offered
            if self.costs[index] <= remaining
            and clauses[self.columns[index]] < max_clauses
            and self.families[index] not in families
        ]
        return self._select_from(candidates, remaining, 1) if candidates else []

    def _encode_issues(self, issues: frozenset[IssueId]) -> int:
        """The issues that some proposal catches, as a bit set."""
        positions = [self.bit_positions[issue] for issue in issues if issue in self.bit_positions]
        return _make_bit_set(positions, len(self.bit_positions) // 8 + 1)


def _make_bit_set(positions: Sequence[int], size: int) -> int:
    """The integer with these bits set. It is made from bytes, because `|=` on a long integer copies it each time."""
    raw = bytearray(size)
    for position in positions:
        raw[position >> 3] |= 1 << (position & 7)
    return int.from_bytes(raw, "little")
