"""Learn the program for the next batch of a table from its last accepted runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import msgspec

from headgate.learn.budget import BudgetSelection
from headgate.learn.copies import propose_no_copy
from headgate.learn.history.bounds import Bounds, FiniteSampleBounds
from headgate.learn.history.dates import propose_dates
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.guards import GuardBands
from headgate.learn.history.paper import PaperBounds
from headgate.learn.history.program import Clause, Program, propose_pins
from headgate.learn.history.schema import propose_schema
from headgate.learn.issue_effects import IssueEffect, apply_to_latest, measure_effects
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates, load_pooled_rates
from headgate.values.errors import MisuseError
from headgate.values.predicate import Between
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
    """Learn what the next batch of a table must meet, from the table's past alone.

    Each metric gets bands: ranges in which its next value should lie, each with a stated false alarm rate. Issues are
    injected into synthetic columns to see which of them each band catches. The program holds the bands that catch the
    most issues while their false alarm rates add up to no more than the budget.

    Args:
        past: The accepted runs of the table. With fewer than 7 of them the program has no bands.
        false_alarms: The budget: the share of good batches that may be held. Default 0.01.
        bounds: How bands and their rates are found. `"finite_sample"` is the default; `"paper"` follows Propositions 1
            to 3 of Auto-Validate-by-History.
        budget: Whether `false_alarms` is the budget of the whole table or, as in that paper, of each column.
        clauses: The largest number of clauses per column. Default: no limit. With one there are no guards.
        pins: Pinned clauses of an earlier program. They are kept as they are and cost nothing.
        schema: Whether to add clauses about which columns exist and what types they have, and that the batch is no
            copy of an earlier one. They cost nothing.
        proposals: Proposals of other learners. They share the budget.
        issue_effects: What injected issues do to the metrics. Default: `measure_effects(past)`.
        pooled_rates: False alarm rates observed on many other tables. Default: those that ship with the package.

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
    """All proposals for the next batch, before a budget chooses among them, and all issues that were injected."""

    past: Past
    proposals: tuple[Proposal, ...]
    issues: tuple[IssueId, ...]
    guards: GuardBands | None = None

    @classmethod
    def of(
        cls, past: Past, bounds: Bounds, effects: Sequence[IssueEffect], other_proposals: Sequence[Proposal] = ()
    ) -> ProposalSet:
        """The bands of a past and the proposals of other learners. A past of fewer than `MIN_RUNS` has no bands."""
        applied_effects = apply_to_latest(effects, past) if len(past) >= MIN_RUNS else []
        issues = tuple(issue for effect in applied_effects for issue_ids in effect.issue_ids for issue in issue_ids)
        proposals = (*bounds.propose_bands(past, applied_effects), *other_proposals)
        return cls(past, proposals, issues, bounds.make_guards(past, applied_effects))

    @cached_property
    def _selections(self) -> dict[tuple[Clause, ...], BudgetSelection]:
        """The selections by their pins, kept because a backtest tries many budgets on them."""
        return {}

    def _prepare_selection(self, pins: tuple[Clause, ...]) -> BudgetSelection:
        if pins not in self._selections:
            self._selections[pins] = BudgetSelection(self._with_pins(pins))
        return self._selections[pins]

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
        """The program of the guards and of the proposals that catch the most issues within the rest of the budget."""
        if budget == "table":
            selection = self._prepare_selection(tuple(pins))
            guards, coarse = ([], []) if max_clauses is not None else self._choose_guards(false_alarms, pins)
            rest = false_alarms - sum(each.cost for each in (*guards, *coarse))
            chosen = selection.choose(rest, max_per_column=max_clauses, paper_algorithm=paper_algorithm, guards=guards)
            chosen = _narrow_by_coarse(_join_guards(chosen, guards), coarse)
        elif budget == "column":
            chosen = self._choose_by_column(self._with_pins(pins), false_alarms, max_clauses, paper_algorithm)
        else:
            raise MisuseError(f"there is no budget for a {budget!r}.", hint='Write budget="table" or budget="column".')
        too_short = len(self.past) < MIN_RUNS
        column_order = {label: index for index, label in enumerate(self.past.schema.labels)}
        chosen.sort(key=lambda proposal: (column_order.get(proposal.column, -1), proposal.family))
        free_proposals = (
            [*propose_schema(self.past), *propose_dates(self.past), *propose_no_copy(self.past)] if schema else []
        )
        return Program(
            clauses=(
                *map(Clause.of, _exclude_pinned(free_proposals, pins)),
                *pins,
                *(Clause.of(each) for each in chosen if not each.pinned),
            ),
            runs=0 if too_short else len(self.past),
            why=f"{len(self.past)} accepted runs of {MIN_RUNS} that it takes" if too_short else "",
            upto=self.past.partitions[-1],
            budget=false_alarms,
            issues=len(self.issues),
            caught=len(frozenset(self.issues) & frozenset[IssueId]().union(*(each.catches for each in chosen))),
        )

    def _choose_guards(self, budget: float, pins: Sequence[Clause]) -> tuple[list[Proposal], list[Proposal]]:
        """The guards and the coarse limits of what is not pinned."""
        if self.guards is None:
            return [], []
        chosen = self.guards.choose(budget), self.guards.choose_coarse(budget)
        return _exclude_pinned(chosen[0], pins), _exclude_pinned(chosen[1], pins)

    def _with_pins(self, pins: Sequence[Clause]) -> list[Proposal]:
        """The pinned clauses as proposals, and the proposals about all other metrics."""
        return [*propose_pins(pins), *_exclude_pinned(self.proposals, pins)]

    def _choose_by_column(
        self, candidates: Sequence[Proposal], budget: float, max_clauses: int | None, paper_algorithm: bool
    ) -> list[Proposal]:
        """Spend the budget once per column. Proposals about the whole table compete in every column."""
        by_column: dict[str, list[Proposal]] = {column: [] for column, _ in self.issues}
        for proposal in candidates:
            by_column.setdefault(proposal.column, []).append(proposal)
        chosen: dict[str, Proposal] = {}
        for column, proposals in by_column.items():
            table_proposals = by_column.get("", []) if column else []
            chosen_here = BudgetSelection([*proposals, *table_proposals]).choose(
                budget, max_per_column=max_clauses, paper_algorithm=paper_algorithm
            )
            for proposal in chosen_here:
                # Two columns may choose bands of the row count that differ in width: keep the narrower one, which
                # catches more. The paper's algorithm keeps both.
                name = str(proposal.expectation) if paper_algorithm else proposal.family
                if name not in chosen or proposal.catches > chosen[name].catches:
                    chosen[name] = proposal
        return list(chosen.values())


def _join_guards(chosen: Sequence[Proposal], guards: Sequence[Proposal]) -> list[Proposal]:
    """The chosen proposals and the guards. Of a metric that has both, the chosen one catches more."""
    return list(({each.family: each for each in guards} | {each.family: each for each in chosen}).values())


def _narrow_by_coarse(chosen: Sequence[Proposal], coarse: Sequence[Proposal]) -> list[Proposal]:
    """The chosen proposals and the coarse limits; of a metric that has both, what is within both."""
    narrowed = {each.family: each for each in chosen}
    for limit in coarse:
        band = narrowed.get(limit.family)
        narrowed[limit.family] = limit if band is None else _narrow_band(band, limit)
    return list(narrowed.values())


def _narrow_band(band: Proposal, limit: Proposal) -> Proposal:
    """The band without what is beyond the limit."""
    inner, outer = band.expectation.predicate, limit.expectation.predicate
    if not isinstance(inner, Between) or not isinstance(outer, Between):
        return band
    lows, highs = ([end for end in ends if end is not None] for ends in zip(_ends(inner), _ends(outer), strict=True))
    low, high = max(lows, default=None), min(highs, default=None)
    if (low, high) == _ends(inner) or (low is not None and high is not None and low > high):
        return band
    rate = (band.cost + limit.cost) / band.weight
    expectation = msgspec.structs.replace(
        band.expectation, predicate=Between(low, high, inner.moments), false_alarm=rate
    )
    return msgspec.structs.replace(band, expectation=expectation)


def _ends(range_: Between) -> tuple[float | None, float | None]:
    return range_.low, range_.high


def _make_bounds(name: str, pooled_rates: PooledRates | None, max_cost: float) -> Bounds:
    if name == "paper":
        return PaperBounds()
    if name == "finite_sample":
        return FiniteSampleBounds(pooled_rates or load_pooled_rates(), max_cost)
    raise MisuseError(f"there are no bounds {name!r}.", hint='Write bounds="finite_sample" or bounds="paper".')


def _exclude_pinned(proposals: Iterable[Proposal], pins: Sequence[Clause]) -> list[Proposal]:
    """The proposals about metrics that have no pinned clause."""
    pinned_metrics = {each.metric for each in pins}
    return [each for each in proposals if each.expectation.metric not in pinned_metrics]
