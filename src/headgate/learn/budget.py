"""The one budget for false alarms of a table, spent on the proposals of all learners together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from headgate.stats.coverage import greedy, select
from headgate.values.errors import MisuseError
from headgate.values.proposal import IssueId, Proposal

READABLE = 3
"""Clauses of a column up to which money that is left buys a second opinion."""


def spend(
    proposals: Sequence[Proposal], budget: float, *, most: int | None = None, plain: bool = False
) -> list[Proposal]:
    """The proposals that catch the most issues for the budget; their stated rates of false alarms add up to no more.

    At most `most` of one column. Pinned ones are always among them. What is left of the budget when nothing more can be
    caught buys second opinions, as a real issue may differ from the injected one: other metrics that catch the same,
    for columns with few clauses. `plain` is Algorithm 1 of the paper as written, without any of that; a
    limit or a pin, which the algorithm does not know, makes it `select`.
    """
    return Basket(proposals).spend(budget, most=most, plain=plain)


class Basket:
    """Proposals laid out for selection, so that several budgets can be tried on them."""

    def __init__(self, proposals: Sequence[Proposal]) -> None:
        self.proposals = proposals
        self.costs = [each.cost for each in proposals]
        self.columns = [each.column for each in proposals]
        self.families = [each.family for each in proposals]
        self.bits = _bits(proposals)

    def spend(self, budget: float, *, most: int | None = None, plain: bool = False) -> list[Proposal]:
        """See `spend`."""
        if not 0 <= budget <= 1:
            raise MisuseError(f"a budget is a share of runs, not {budget}.", hint="Write false_alarms=0.01.")
        if plain and most is None and not any(each.pinned for each in self.proposals):
            chosen = list(greedy(self.costs, self.bits, budget).chosen)
        else:
            chosen = self._bought(range(len(self.proposals)), budget, most)
            least = READABLE if most is None else min(most, READABLE)
            while not plain and (more := self._bought_again(chosen, budget, least)):
                chosen += more
        return [self.proposals[at] for at in chosen]

    def _bought(self, offered: Sequence[int], budget: float, most: int | None) -> list[int]:
        chosen = select(
            [self.costs[at] for at in offered],
            [self.bits[at] for at in offered],
            budget,
            groups=[self.columns[at] for at in offered],
            most=most,
            exclusive=[self.families[at] for at in offered],
            taken=[place for place, at in enumerate(offered) if self.proposals[at].pinned],
        ).chosen
        return [offered[place] for place in chosen]

    def _bought_again(self, chosen: Sequence[int], budget: float, most: int) -> list[int]:
        """One more clause for each column that has fewer than this, as far as the money goes."""
        clauses = Counter(self.columns[at] for at in chosen)
        families = {self.families[at] for at in chosen}
        left = budget - sum(self.costs[at] for at in chosen)
        offered = [
            at
            for at in range(len(self.proposals))
            if self.costs[at] <= left and clauses[self.columns[at]] < most and self.families[at] not in families
        ]
        return self._bought(offered, left, 1) if offered else []


def _bits(proposals: Sequence[Proposal]) -> list[int]:
    """Each proposal's issues as a bit set."""
    places: dict[IssueId, int] = {}
    for each in proposals:
        for issue in each.catches:
            places.setdefault(issue, len(places))
    size = len(places) // 8 + 1
    return [_bit_set([places[issue] for issue in each.catches], size) for each in proposals]


def _bit_set(places: Sequence[int], size: int) -> int:
    """The whole number with these bits set, made from bytes: adding up powers of two would copy it at every step."""
    raw = bytearray(size)
    for place in places:
        raw[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(raw, "little")
