"""From the last accepted runs of a table to a program for its next batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from headgate.learn.budget import BudgetSelection
from headgate.learn.history.bounds import Bounds, FiniteSampleBounds
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.paper import PaperBounds
from headgate.learn.history.program import Clause, Program, propose_pins
from headgate.learn.history.schema import propose_schema
from headgate.learn.issue_effects import IssueEffect, apply_to_latest, measure_effects
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates, load_pooled_rates
from headgate.values.errors import MisuseError
from headgate.values.proposal import IssueId, Proposal

DEFAULT_FALSE_ALARMS = 0.01


def learn_program(
    past: Past,
    *,
    false_alarms: float = DEFAULT_FALSE_ALARMS,
    bounds: Literal["finite_sample", "paper"] = "finite_sample",
    budget: Literal["table", "column"] = "table",
    clauses: int | None = None,
    pins: Sequence[Clause] = (),
    schema: bool = True,
    proposals: Sequence[Proposal] = (),
    issue_effects: Sequence[IssueEffect] | None = None,
    pooled_rates: PooledRates | None = None,
) -> Program:
    """The program for the next batch of a table, from its past alone.

    `false_alarms` is the share of good batches that may be held: of the table, or with `budget="column"` of each
    column, as in Auto-Validate-by-History. `bounds="paper"` are that paper's Propositions 1 to 3. `clauses` is the most
    clauses of a column. `pins` of an earlier program are kept as they are. `schema=False` leaves out the clauses about
    columns and types. `proposals` are those of other learners, which share the budget; a past that is too short for
    ranges leaves all of it to them. `damage` is what issues do to the table's metrics; without it, they are
    injected into likenesses made from the states of the newest run. `tails` is other evidence than that which comes
    with the package.

    >>> import pyarrow as pa, headgate as hg
    >>> runs = [hg.analyze(pa.table({"id": list(range(1000 + day % 7))})) for day in range(28)]
    >>> program = learn_program(Past.of(runs), false_alarms=0.05)
    >>> any(clause.metric.name == "size" for clause in program.clauses)
    True
    """
    if issue_effects is None:
        issue_effects = measure_effects(past) if len(past) >= MIN_RUNS else []
    proposal_set = ProposalSet.of(past, _make_bounds(bounds, pooled_rates, false_alarms), issue_effects, proposals)
    return proposal_set.build_program(
        false_alarms, budget=budget, max_clauses=clauses, pins=pins, schema=schema, paper_algorithm=bounds == "paper"
    )


@dataclass(frozen=True)
class ProposalSet:
    """All that a history proposes for the next batch, before any budget is spent."""

    past: Past
    proposals: tuple[Proposal, ...]
    issues: tuple[IssueId, ...]

    @classmethod
    def of(
        cls, past: Past, bounds: Bounds, effects: Sequence[IssueEffect], other_proposals: Sequence[Proposal] = ()
    ) -> ProposalSet:
        applied_effects = apply_to_latest(effects, past) if len(past) >= MIN_RUNS else []
        issues = tuple(issue for each in applied_effects for befallen in each.issue_ids for issue in befallen)
        return cls(past, (*bounds.propose_bands(past, applied_effects), *other_proposals), issues)

    @cached_property
    def _selection(self) -> BudgetSelection:
        return BudgetSelection(self.proposals)

    def build_program(
        self,
        false_alarms: float,
        *,
        budget: str = "table",
        max_clauses: int | None = None,
        pins: Sequence[Clause] = (),
        schema: bool = True,
        paper_algorithm: bool = False,
    ) -> Program:
        """The program that this budget buys."""
        if budget == "table":
            selection = (
                BudgetSelection([*propose_pins(pins), *_exclude_pinned(self.proposals, pins)])
                if pins
                else self._selection
            )
            chosen = selection.choose(false_alarms, max_per_column=max_clauses, paper_algorithm=paper_algorithm)
        elif budget == "column":
            candidates = [*propose_pins(pins), *_exclude_pinned(self.proposals, pins)]
            chosen = self._choose_by_column(candidates, false_alarms, max_clauses, paper_algorithm)
        else:
            raise MisuseError(f"there is no budget for a {budget!r}.", hint='Write budget="table" or budget="column".')
        too_short = len(self.past) < MIN_RUNS
        column_order = {label: at for at, label in enumerate(self.past.schema.labels)}
        chosen.sort(key=lambda each: (column_order.get(each.column, -1), each.family))
        schema_rules = _exclude_pinned(propose_schema(self.past), pins) if schema else []
        return Program(
            clauses=(*map(Clause.of, schema_rules), *pins, *(Clause.of(each) for each in chosen if not each.pinned)),
            runs=0 if too_short else len(self.past),
            why=f"{len(self.past)} accepted runs of {MIN_RUNS} that it takes" if too_short else "",
            upto=self.past.partitions[-1],
            budget=false_alarms,
            issues=len(self.issues),
            caught=len(frozenset(self.issues) & frozenset[IssueId]().union(*(each.catches for each in chosen))),
        )

    def _choose_by_column(
        self, candidates: Sequence[Proposal], budget: float, max_clauses: int | None, paper_algorithm: bool
    ) -> list[Proposal]:
        """The same budget for each column; the row count is a metric of every one of them."""
        by_column: dict[str, list[Proposal]] = {column: [] for column, _ in self.issues}
        for each in candidates:
            by_column.setdefault(each.column, []).append(each)
        chosen: dict[str, Proposal] = {}
        for column, proposals in by_column.items():
            table_proposals = by_column.get("", []) if column else []
            found = BudgetSelection([*proposals, *table_proposals]).choose(
                budget, max_per_column=max_clauses, paper_algorithm=paper_algorithm
            )
            for each in found:
                name = (
                    str(each.expectation) if paper_algorithm else each.family
                )  # of two widths of the row count, the narrower
                if name not in chosen or each.catches > chosen[name].catches:
                    chosen[name] = each
        return list(chosen.values())


def _make_bounds(name: str, pooled_rates: PooledRates | None, max_cost: float) -> Bounds:
    if name == "paper":
        return PaperBounds()
    if name == "finite_sample":
        return FiniteSampleBounds(pooled_rates or load_pooled_rates(), max_cost)
    raise MisuseError(f"there are no bounds {name!r}.", hint='Write bounds="finite_sample" or bounds="paper".')


def _exclude_pinned(proposals: Iterable[Proposal], pins: Sequence[Clause]) -> list[Proposal]:
    """Those about metrics that no person has pinned."""
    pinned_metrics = {each.metric for each in pins}
    return [each for each in proposals if each.expectation.metric not in pinned_metrics]
