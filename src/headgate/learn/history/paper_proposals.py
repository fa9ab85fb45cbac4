"""Choose among the ranges of the paper Auto-Validate-by-History (AVH): Algorithms 1 and 2.

Tested by `tests/learn/history/test_paper.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from headgate.learn.budget import BudgetSelection
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.paper import PaperBounds
from headgate.learn.history.program import Clause, Program, exclude_pinned, make_program, propose_pins
from headgate.learn.issue_effects import IssueEffect, apply_to_latest
from headgate.learn.past import Past
from headgate.values.errors import MisuseError
from headgate.values.proposal import IssueId, Proposal


@dataclass(frozen=True)
class PaperProposals:
    """The ranges of a past, before a budget chooses among them, and all issues that were injected."""

    past: Past
    proposals: tuple[Proposal, ...]
    issues: tuple[IssueId, ...]

    @classmethod
    def of(
        cls, past: Past, bounds: PaperBounds, effects: Sequence[IssueEffect], others: Sequence[Proposal] = ()
    ) -> PaperProposals:
        """The ranges of a past and the proposals of other learners. A past of fewer than 7 runs has no ranges.

        Args:
            past: The runs.
            bounds: What proposes ranges.
            effects: What injected issues do to the metrics.
            others: The proposals of other learners.
        """
        applied_effects = apply_to_latest(effects, past) if len(past) >= MIN_RUNS else []
        issues = tuple(issue for effect in applied_effects for issue_ids in effect.issue_ids for issue in issue_ids)
        return cls(past, (*bounds.propose_bands(past, applied_effects), *others), issues)

    def build_program(
        self,
        false_alarms: float,
        *,
        budget: str = "table",
        max_clauses: int | None = None,
        pins: Sequence[Clause] = (),
        free: Sequence[Proposal] = (),
    ) -> Program:
        """The program of the proposals that catch the most issues within the budget.

        Args:
            false_alarms: The budget.
            budget: Whether it is that of the table or of each column.
            max_clauses: The largest number of clauses per column.
            pins: Pinned clauses.
            free: Proposals that are always chosen, and come first.
        """
        candidates = [*propose_pins(pins), *exclude_pinned(self.proposals, pins)]
        if budget == "table":
            chosen = _choose(candidates, false_alarms, max_clauses)
        elif budget == "column":
            chosen = self._choose_by_column(candidates, false_alarms, max_clauses)
        else:
            raise MisuseError(f"there is no budget for a {budget!r}.", hint='Write budget="table" or budget="column".')
        caught = frozenset(self.issues) & frozenset[IssueId]().union(*(each.catches for each in chosen))
        program = make_program(self.past, chosen, false_alarms, pins=pins, free=free)
        return msgspec.structs.replace(program, issues=len(self.issues), caught=len(caught))

    def _choose_by_column(
        self, candidates: Sequence[Proposal], budget: float, max_clauses: int | None
    ) -> list[Proposal]:
        """Spend the budget once per column. Proposals about the whole table compete in every column."""
        by_column: dict[str, list[Proposal]] = {column: [] for column, _ in self.issues}
        for proposal in candidates:
            by_column.setdefault(proposal.column, []).append(proposal)
        chosen: dict[str, Proposal] = {}
        for column, proposals in by_column.items():
            table_proposals = by_column.get("", []) if column else []
            for proposal in _choose([*proposals, *table_proposals], budget, max_clauses):
                chosen[str(proposal.expectation)] = proposal
        return list(chosen.values())


def _choose(proposals: Sequence[Proposal], budget: float, max_clauses: int | None) -> list[Proposal]:
    return BudgetSelection(proposals).choose(budget, max_per_column=max_clauses, paper_algorithm=True)
