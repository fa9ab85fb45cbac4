"""From the last accepted runs of a table to a program for its next batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from headgate.learn.budget import Basket
from headgate.learn.history.bounds import Bounds, FiniteSample
from headgate.learn.history.forecast import FEWEST
from headgate.learn.history.paper import Paper
from headgate.learn.history.program import Clause, Program, kept
from headgate.learn.history.schema import schema_proposals
from headgate.learn.issue_effects import Damage, applied, damages
from headgate.learn.past import Past
from headgate.learn.pooled_rates import Tails, pooled
from headgate.values.errors import MisuseError
from headgate.values.proposal import IssueId, Proposal

FALSE_ALARMS = 0.01


def learn_program(
    past: Past,
    *,
    false_alarms: float = FALSE_ALARMS,
    bounds: Literal["finite_sample", "paper"] = "finite_sample",
    budget: Literal["table", "column"] = "table",
    clauses: int | None = None,
    pins: Sequence[Clause] = (),
    schema: bool = True,
    proposals: Sequence[Proposal] = (),
    damage: Sequence[Damage] | None = None,
    tails: Tails | None = None,
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
    if damage is None:
        damage = damages(past) if len(past) >= FEWEST else []
    offers = Offers.of(past, _bounds(bounds, tails, false_alarms), damage, proposals)
    return offers.program(
        false_alarms, budget=budget, clauses=clauses, pins=pins, schema=schema, plain=bounds == "paper"
    )


@dataclass(frozen=True)
class Offers:
    """All that a history proposes for the next batch, before any budget is spent."""

    past: Past
    proposals: tuple[Proposal, ...]
    issues: tuple[IssueId, ...]

    @classmethod
    def of(cls, past: Past, bounds: Bounds, damage: Sequence[Damage], others: Sequence[Proposal] = ()) -> Offers:
        hurt = applied(damage, past) if len(past) >= FEWEST else []
        issues = tuple(issue for each in hurt for befallen in each.ids for issue in befallen)
        return cls(past, (*bounds.proposals(past, hurt), *others), issues)

    @cached_property
    def _basket(self) -> Basket:
        return Basket(self.proposals)

    def program(
        self,
        false_alarms: float,
        *,
        budget: str = "table",
        clauses: int | None = None,
        pins: Sequence[Clause] = (),
        schema: bool = True,
        plain: bool = False,
    ) -> Program:
        """The program that this budget buys."""
        if budget == "table":
            basket = Basket([*kept(pins), *_unpinned(self.proposals, pins)]) if pins else self._basket
            chosen = basket.spend(false_alarms, most=clauses, plain=plain)
        elif budget == "column":
            offered = [*kept(pins), *_unpinned(self.proposals, pins)]
            chosen = self._by_column(offered, false_alarms, clauses, plain)
        else:
            raise MisuseError(f"there is no budget for a {budget!r}.", hint='Write budget="table" or budget="column".')
        short = len(self.past) < FEWEST
        places = {label: at for at, label in enumerate(self.past.schema.labels)}
        chosen.sort(key=lambda each: (places.get(each.column, -1), each.family))
        laws = _unpinned(schema_proposals(self.past), pins) if schema else []
        return Program(
            clauses=(*map(Clause.of, laws), *pins, *(Clause.of(each) for each in chosen if not each.pinned)),
            runs=0 if short else len(self.past),
            why=f"{len(self.past)} accepted runs of {FEWEST} that it takes" if short else "",
            upto=self.past.partitions[-1],
            budget=false_alarms,
            issues=len(self.issues),
            caught=len(frozenset(self.issues) & frozenset[IssueId]().union(*(each.catches for each in chosen))),
        )

    def _by_column(self, offered: Sequence[Proposal], share: float, clauses: int | None, plain: bool) -> list[Proposal]:
        """The same budget for each column; the row count is a metric of every one of them."""
        of_column: dict[str, list[Proposal]] = {column: [] for column, _ in self.issues}
        for each in offered:
            of_column.setdefault(each.column, []).append(each)
        chosen: dict[str, Proposal] = {}
        for column, proposals in of_column.items():
            shared = of_column.get("", []) if column else []
            found = Basket([*proposals, *shared]).spend(share, most=clauses, plain=plain)
            for each in found:
                name = str(each.expectation) if plain else each.family  # of two widths of the row count, the narrower
                if name not in chosen or each.catches > chosen[name].catches:
                    chosen[name] = each
        return list(chosen.values())


def _bounds(name: str, tails: Tails | None, dearest: float) -> Bounds:
    if name == "paper":
        return Paper()
    if name == "finite_sample":
        return FiniteSample(tails or pooled(), dearest)
    raise MisuseError(f"there are no bounds {name!r}.", hint='Write bounds="finite_sample" or bounds="paper".')


def _unpinned(proposals: Iterable[Proposal], pins: Sequence[Clause]) -> list[Proposal]:
    """Those about metrics that no person has pinned."""
    taken = {each.metric for each in pins}
    return [each for each in proposals if each.expectation.metric not in taken]
