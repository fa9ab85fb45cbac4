"""The one budget for false alarms of a table, spent on the proposals of all learners together."""

from __future__ import annotations

from collections.abc import Sequence

from headgate.stats.coverage import greedy, select
from headgate.values.errors import MisuseError
from headgate.values.proposal import Proposal


def spend(
    proposals: Sequence[Proposal], budget: float, *, most: int | None = None, plain: bool = False
) -> list[Proposal]:
    """The proposals that catch the most issues for the budget; their stated rates of false alarms add up to no more.

    At most `most` of one column. Pinned ones are always among them. `plain` is Algorithm 1 of the paper as written,
    without what `select` betters.
    """
    if not 0 <= budget <= 1:
        raise MisuseError(f"a budget is a share of runs, not {budget}.", hint="Write false_alarms=0.01 for 1 in 100.")
    costs = [each.cost for each in proposals]
    catches = _bits(proposals)
    if plain:
        chosen = greedy(costs, catches, budget).chosen
    else:
        chosen = select(
            costs,
            catches,
            budget,
            groups=[each.column for each in proposals],
            most=most,
            exclusive=[each.family for each in proposals],
            taken=[at for at, each in enumerate(proposals) if each.pinned],
        ).chosen
    return [proposals[at] for at in chosen]


def _bits(proposals: Sequence[Proposal]) -> list[int]:
    """Each proposal's issues as a bit set."""
    places: dict[object, int] = {}
    known: dict[frozenset[tuple[str, str]], int] = {}
    for each in proposals:
        if each.catches not in known:
            known[each.catches] = sum(1 << places.setdefault(issue, len(places)) for issue in each.catches)
    return [known[each.catches] for each in proposals]
