"""The one budget for false alarms of a table, spent on the proposals of all learners together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from headgate.stats.coverage import greedy, select
from headgate.values.errors import MisuseError
from headgate.values.proposal import Proposal

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
    if not 0 <= budget <= 1:
        raise MisuseError(f"a budget is a share of runs, not {budget}.", hint="Write false_alarms=0.01 for 1 in 100.")
    if plain and most is None and not any(each.pinned for each in proposals):
        chosen = greedy([each.cost for each in proposals], _bits(proposals), budget).chosen
        return [proposals[at] for at in chosen]
    bought = _bought(proposals, budget, most)
    if plain:
        return bought
    least = READABLE if most is None else min(most, READABLE)
    while more := _bought_again(proposals, bought, budget, least):
        bought += more
    return bought


def _bought(proposals: Sequence[Proposal], budget: float, most: int | None) -> list[Proposal]:
    chosen = select(
        [each.cost for each in proposals],
        _bits(proposals),
        budget,
        groups=[each.column for each in proposals],
        most=most,
        exclusive=[each.family for each in proposals],
        taken=[at for at, each in enumerate(proposals) if each.pinned],
    ).chosen
    return [proposals[at] for at in chosen]


def _bought_again(
    proposals: Sequence[Proposal], bought: Sequence[Proposal], budget: float, most: int
) -> list[Proposal]:
    """One more clause for each column that has fewer than this, as far as the money goes."""
    clauses = Counter(each.column for each in bought)
    families = {each.family for each in bought}
    left = budget - sum(each.cost for each in bought)
    offered = [each for each in proposals if clauses[each.column] < most and each.family not in families]
    return _bought(offered, left, 1) if left > 0 and offered else []


def _bits(proposals: Sequence[Proposal]) -> list[int]:
    """Each proposal's issues as a bit set."""
    places: dict[object, int] = {}
    known: dict[frozenset[tuple[str, str]], int] = {}
    for each in proposals:
        if each.catches not in known:
            known[each.catches] = sum(1 << places.setdefault(issue, len(places)) for issue in each.catches)
    return [known[each.catches] for each in proposals]
