"""Learn the program for the next batch of a table from its last accepted runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from headgate.learn.budget import choose_proposals
from headgate.learn.copies import propose_no_copy
from headgate.learn.history.basic_bands import BasicBands
from headgate.learn.history.coarse_bands import CoarseBands, narrow_by_coarse
from headgate.learn.history.dates import propose_dates
from headgate.learn.history.forecast import MIN_RUNS
from headgate.learn.history.paper import PaperBounds
from headgate.learn.history.paper_proposals import PaperProposals
from headgate.learn.history.program import Clause, Program, exclude_pinned, make_program
from headgate.learn.history.rare_columns import RareColumns
from headgate.learn.history.rarity import Rarities
from headgate.learn.history.replayed_memory import replay_memory
from headgate.learn.history.schema import propose_schema
from headgate.learn.issue_effects import IssueEffect, measure_effects
from headgate.learn.past import Past
from headgate.learn.pooled_rates import PooledRates, load_pooled_rates
from headgate.learn.rarity_limit import find_working_budget
from headgate.values.errors import MisuseError
from headgate.values.key import MetricKey
from headgate.values.proposal import Proposal
from headgate.values.rarity_memory import Part, RarityMemory

DEFAULT_FALSE_ALARMS = 0.01
BASIC_SHARES = {Part.ROWS: 0.15, Part.BASICS: 0.2, Part.NULLS: 0.08}
"""The shares of the budget for the ranges of the row count, of the other basics, and of nulls."""
COARSE_SHARE, EARLY_SHARE = 0.04, 0.7
"""The share of the budget for coarse limits; the second while there are too few runs for anything else."""
NOVELTY_SHARE = 0.02
"""The share of the budget for the limit of novelty."""
OTHERS_SHARE = 0.06
"""The share of the budget for the proposals of other learners. While there are few runs, they may use the rest."""


def learn_program(
    past: Past,
    *,
    false_alarms: float = DEFAULT_FALSE_ALARMS,
    bounds: Literal["rarity", "paper"] = "rarity",
    budget: Literal["table", "column"] = "table",
    clauses: int | None = None,
    pins: Sequence[Clause] = (),
    schema: bool = True,
    proposals: Sequence[Proposal] = (),
    issue_effects: Sequence[IssueEffect] | None = None,
    pooled_rates: PooledRates | None = None,
) -> Program:
    """Learn what the next batch of a table must meet, from the table's past alone.

    Rows, complete columns, keys, times and nulls get ranges. Each column gets a limit of rarity: of how far all its
    metrics together may lie from their forecasts. The budget sets how narrow they are, by how often good batches of
    other tables and of this one lie beyond.

    Args:
        past: The accepted runs of the table. With fewer than 7 of them the program has coarse limits only.
        false_alarms: The budget: the share of good batches that may be held. Default 0.01.
        bounds: How the program is found. `"rarity"` is the default; `"paper"` gives each metric a range, after
            Propositions 1 to 3 of Auto-Validate-by-History.
        budget: Whether `false_alarms` is the budget of the whole table or, as in that paper, of each column.
        clauses: The largest number of clauses per column, in the paper's form. Default: no limit.
        pins: Pinned clauses of an earlier program. They are kept as they are and cost nothing.
        schema: Whether to add clauses about which columns exist and what types they have, and that the batch is no
            copy of an earlier one. They cost nothing.
        proposals: Proposals of other learners. They share the budget.
        issue_effects: What injected issues do to the metrics, which chooses among the paper's ranges. Default:
            `measure_effects(past)`.
        pooled_rates: False alarm rates observed on many other tables. Default: those that ship with the package.

    >>> import pyarrow as pa, headgate as hg
    >>> runs = [hg.analyze(pa.table({"id": list(range(1000 + day % 7))})) for day in range(28)]
    >>> program = learn_program(Past.of(runs), false_alarms=0.05)
    >>> [str(clause.metric) for clause in program.clauses if clause.metric.name == "rarity"]
    ['rarity(id)']
    """
    free = propose_free(past) if schema else []
    if bounds == "paper":
        effects = issue_effects if issue_effects is not None else measure_effects(past) if _is_long(past) else []
        paper_proposals = PaperProposals.of(past, PaperBounds(), effects, proposals)
        return paper_proposals.build_program(false_alarms, budget=budget, max_clauses=clauses, pins=pins, free=free)
    if bounds != "rarity":
        raise MisuseError(f"there are no bounds {bounds!r}.", hint='Write bounds="rarity" or bounds="paper".')
    if budget != "table" or clauses is not None:
        raise MisuseError(
            'budget="column" and clauses= are for the form of the paper.',
            hint='Write bounds="paper", or leave them out.',
        )
    pinned = {each.metric for each in pins}
    proposal_set = ProposalSet.of(
        past, pooled_rates or load_pooled_rates(), others=proposals, is_learned=lambda metric: metric not in pinned
    )
    return proposal_set.build_program(false_alarms, pins=pins, free=free)


@dataclass(frozen=True)
class ProposalSet:
    """All proposals for the next batch, before a budget chooses among them."""

    past: Past
    rare_columns: RareColumns | None
    basic_bands: BasicBands | None
    coarse_bands: CoarseBands | None
    novelty_limits: tuple[Proposal, ...] = ()
    others: tuple[Proposal, ...] = ()

    @classmethod
    def of(
        cls,
        past: Past,
        pooled_rates: PooledRates,
        memory: RarityMemory | None = None,
        *,
        novelty_limits: Sequence[Proposal] = (),
        others: Sequence[Proposal] = (),
        is_learned: Callable[[MetricKey], bool] = lambda _: True,
    ) -> ProposalSet:
        """The proposals after a past.

        Args:
            past: The runs. Fewer than 7 have coarse limits alone.
            pooled_rates: The false alarm rates observed on many other tables.
            memory: What is remembered of how rare the runs were. Default: what a replay of them tells.
            novelty_limits: Limits of the novelty of a batch.
            others: The proposals of other learners.
            is_learned: Whether a metric counts.
        """
        coarse_bands = CoarseBands.of(past, pooled_rates, is_learned)
        rare_columns, basic_bands = None, None
        if _is_long(past):
            known = replay_memory(past, pooled_rates, is_learned) if memory is None else memory
            rarities = Rarities.of(past, pooled_rates, known, is_learned)
            rare_columns = RareColumns(rarities, pooled_rates.batch_rates(Part.COLUMNS, len(past)))
            basic_bands = BasicBands(rarities, pooled_rates)
        return cls(past, rare_columns, basic_bands, coarse_bands, tuple(novelty_limits), tuple(others))

    @property
    def rarities(self) -> Rarities | None:
        return None if self.rare_columns is None else self.rare_columns.rarities

    def build_program(
        self,
        false_alarms: float,
        *,
        pins: Sequence[Clause] = (),
        free: Sequence[Proposal] = (),
        counts_alarms: bool = True,
    ) -> Program:
        """The program that the budget pays for. What is not spent on other clauses is for the rarity of columns.

        Args:
            false_alarms: The budget.
            pins: Pinned clauses. There are no other clauses about their metrics.
            free: Proposals that are always chosen, and come first.
            counts_alarms: Whether false alarms so far lower the working budget.
        """
        if not 0 <= false_alarms <= 1:
            raise MisuseError(f"a budget is a share of runs, not {false_alarms}.", hint="Write false_alarms=0.01.")
        budget = false_alarms
        if self.rarities is not None and counts_alarms:
            budget = find_working_budget(false_alarms, self.rarities.memory)
        chosen: list[Proposal] = []
        limits: dict[Part, float] = {}
        for part, share in BASIC_SHARES.items():
            bands = self.basic_bands
            if bands is not None and (limit := bands.find_limit(part, share * budget)) is not None:
                limits[part] = limit.rarity
                chosen += bands.propose(part, limit)
        if self.coarse_bands is not None:
            share = EARLY_SHARE if self.rare_columns is None else COARSE_SHARE
            chosen = narrow_by_coarse(chosen, self.coarse_bands.choose(share * budget))
            chosen += self.coarse_bands.propose_finite()
        for share, choose in ((OTHERS_SHARE, self._choose_others), (NOVELTY_SHARE, self._choose_novelty)):
            rest = budget - _add_costs(chosen)
            chosen += choose(rest if self.rare_columns is None else min(rest, share * budget))
        chosen = exclude_pinned(chosen, pins)
        rest = budget - _add_costs(chosen)
        if self.rare_columns is not None and (limit := self.rare_columns.find_limit(rest)) is not None:
            limits[Part.COLUMNS] = limit.rarity
            chosen += exclude_pinned(self.rare_columns.propose(limit), pins)
        program = make_program(self.past, chosen, false_alarms, pins=pins, free=free)
        if self.rarities is None:
            return program
        return msgspec.structs.replace(program, working_budget=budget, memory=self.rarities.memory, limits=limits)

    def _choose_others(self, budget: float) -> list[Proposal]:
        return choose_proposals(self.others, max(0.0, budget))

    def _choose_novelty(self, budget: float) -> list[Proposal]:
        """The lowest limit that the budget pays for."""
        return [each for each in self.novelty_limits if each.cost <= budget][:1]


def propose_free(past: Past) -> list[Proposal]:
    """What is expected of every batch and costs nothing: its columns, their types, its dates, and that it is new."""
    return [*propose_schema(past), *propose_dates(past), *propose_no_copy(past)]


def _is_long(past: Past) -> bool:
    return len(past) >= MIN_RUNS


def _add_costs(proposals: Sequence[Proposal]) -> float:
    return sum(each.cost for each in proposals)
