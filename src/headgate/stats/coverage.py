"""Budgeted maximum coverage: which candidates to buy so that a budget catches as much as it can."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from operator import index as as_int

import numpy as np


@dataclass(frozen=True, slots=True)
class Selection:
    """What was chosen, in order of choice (those taken beforehand first), and what each added to those before it."""

    chosen: tuple[int, ...]
    cost: float
    covered: int
    gains: tuple[int, ...]


def greedy(costs: Sequence[float], catches: Sequence[int], budget: float) -> Selection:
    """Algorithm 1 of Auto-Validate-by-History as written (Khuller, Moss and Naor 1999): greedy, or one candidate.

    Takes the best gain per cost again and again, skips what does not fit, and falls back to the best single candidate
    if that one catches more. It catches at least (1/2 - 1/2e) of what is possible within the budget (Proposition 4).

    >>> greedy([1.0, 10.0], [0b0000011, 0b1111111], budget=10.0)
    Selection(chosen=(1,), cost=10.0, covered=127, gains=(7,))
    """
    return _algorithm_1(_Problem(costs, catches, budget)).selection()


def select(
    costs: Sequence[float],
    catches: Sequence[int],
    budget: float,
    *,
    groups: Sequence[Hashable] | None = None,
    most: int | None = None,
    exclusive: Sequence[Hashable] | None = None,
    taken: Sequence[int] = (),
) -> Selection:
    """Candidates whose costs add up to at most the budget and that together catch much: `greedy`, then improved.

    `catches[i]` is a bit set: candidate i catches element e if bit e is set. At most `most` candidates of one of the
    `groups` are chosen, and one of each `exclusive` family. Those `taken` beforehand stay whatever the limits say, and
    are paid first; if they alone exceed the budget, nothing joins them.

    The improvement drops what others have made redundant, replaces one of a family by a cheaper one
    where nothing is lost, and spends what that refunds, until nothing changes. It never loses coverage.

    Guaranteed is what `greedy` guarantees, (1/2 - 1/2e) of the best that contains `taken`, only without `most` and
    `exclusive`. With either of them the limits and the budget hold, but the worth is that of a heuristic.

    >>> select([1.0, 2.0, 2.0], [0b0111, 0b0011, 0b1100], budget=4.0)
    Selection(chosen=(0, 2), cost=3.0, covered=15, gains=(3, 1))
    >>> narrow, wide = 0b111, 0b011
    >>> select([1.0, 3.0], [wide, narrow], budget=3.0, exclusive=["mean", "mean"]).chosen
    (1,)
    """
    current = _algorithm_1(_Problem(costs, catches, budget, groups, most, exclusive, taken))
    # Ends: each pass catches more, or as much for less money, or as much for as much money with fewer candidates.
    while current.shed() or current.fill(current.offers()):
        pass
    return current.selection()


class _Problem:
    """The arguments of a selection, checked, and what is looked up often."""

    def __init__(
        self,
        costs: Sequence[float],
        catches: Sequence[int],
        budget: float,
        groups: Sequence[Hashable] | None = None,
        most: int | None = None,
        exclusive: Sequence[Hashable] | None = None,
        taken: Sequence[int] = (),
    ) -> None:
        self.costs: list[float] = np.asarray(costs, dtype=float).tolist()
        self.catches = [as_int(caught) for caught in catches]
        self.budget, self.groups, self.most, self.family_of = float(budget), groups, most, exclusive
        self.pins = dict.fromkeys(as_int(pin) for pin in taken)
        self._check()
        self.sizes = [caught.bit_count() for caught in self.catches]
        self.members: dict[Hashable, list[int]] = defaultdict(list)
        for candidate, family in enumerate(exclusive if exclusive is not None else ()):
            self.members[family].append(candidate)

    def _check(self) -> None:
        size = len(self.catches)
        if any(len(given) != size for given in (self.costs, self.groups, self.family_of) if given is not None):
            raise ValueError("no selection: costs, catches, groups and exclusive have one entry for each candidate")
        if not all(0 <= amount < math.inf for amount in (self.budget, *self.costs)):
            raise ValueError("no selection: costs and the budget are finite and not negative")
        if min(self.catches, default=0) < 0:
            raise ValueError("no selection: a bit set is not negative")
        if self.most is not None and (self.groups is None or self.most < 0):
            raise ValueError("no selection: most is a count of candidates of one group; give groups too")
        if not all(0 <= pin < size for pin in self.pins):
            raise ValueError(f"no selection: taken are positions among {size} candidates")


class _Tally:
    """How many of the chosen catch each element: plane k holds bit k of every element's count."""

    def __init__(self) -> None:
        self.planes: list[int] = []
        self.covered = 0
        self.once = 0

    def add(self, caught: int) -> None:
        for level, plane in enumerate(self.planes):
            self.planes[level], caught = plane ^ caught, plane & caught
        if caught:
            self.planes.append(caught)
        self._sum_up()

    def remove(self, caught: int) -> None:
        for level, plane in enumerate(self.planes):
            changed = plane ^ caught
            self.planes[level], caught = changed, changed & caught
        self._sum_up()

    def _sum_up(self) -> None:
        several = 0
        for plane in self.planes[1:]:
            several |= plane
        ones = self.planes[0] if self.planes else 0
        self.covered = ones | several
        self.once = self.covered ^ several


# What a candidate would bring now: minus gain per cost, minus gain, candidate; the smallest is the best.
# A plain tuple: a large selection makes and compares millions of them.
_Offer = tuple[float, int, int]


class _GreedySelection:
    """A selection in the making."""

    def __init__(self, problem: _Problem) -> None:
        self.problem = problem
        self.chosen: dict[int, None] = {}
        self.tally = _Tally()
        self.in_group: Counter[Hashable] = Counter()
        self.holder: dict[Hashable, int] = {}
        # Exact, so that thousands of costs and refunds cannot drift over the budget.
        self.room = Fraction(problem.budget)
        self.reach = problem.budget  # the largest float that is not more than the room
        for pin in problem.pins:
            self.add(pin)

    def add(self, candidate: int) -> None:
        self.chosen[candidate] = None
        self.tally.add(self.problem.catches[candidate])
        if self.problem.family_of is not None:
            self.holder[self.problem.family_of[candidate]] = candidate
        self._account(candidate, 1)

    def drop(self, candidate: int) -> None:
        del self.chosen[candidate]
        self.tally.remove(self.problem.catches[candidate])
        if self.problem.family_of is not None:
            del self.holder[self.problem.family_of[candidate]]
        self._account(candidate, -1)

    def _account(self, candidate: int, change: int) -> None:
        if self.problem.groups is not None:
            self.in_group[self.problem.groups[candidate]] += change
        self.room -= change * Fraction(self.problem.costs[candidate])
        self.reach = float(self.room)
        if self.reach > self.room:
            self.reach = math.nextafter(self.reach, -math.inf)

    def rival(self, candidate: int) -> int | None:
        """The chosen one of the candidate's family, which would have to go."""
        family_of = self.problem.family_of
        return None if family_of is None else self.holder.get(family_of[candidate])

    def is_excluded(self, candidate: int, rival: int | None) -> bool:
        """Whether a limit keeps the candidate out even if its rival goes."""
        problem = self.problem
        if rival is not None and rival in problem.pins:
            return True
        groups, most = problem.groups, problem.most
        if most is None or groups is None:
            return False
        freed = rival is not None and groups[rival] == groups[candidate]
        return self.in_group[groups[candidate]] - freed >= most

    def offer(self, candidate: int) -> _Offer | None:
        """None if the candidate brings nothing, does not fit or is kept out."""
        problem = self.problem
        caught = problem.catches[candidate]
        gain = problem.sizes[candidate] - (caught & self.tally.covered).bit_count()
        if not gain:
            return None
        rival = self.rival(candidate)
        cost = problem.costs[candidate] - (0.0 if rival is None else problem.costs[rival])
        if cost > self.reach or self.is_excluded(candidate, rival):
            return None
        if rival is not None:
            held = problem.catches[rival] & self.tally.once
            gain -= (held ^ (held & caught)).bit_count()
        if gain <= 0:
            return None
        return (-gain / cost if cost > 0 else -math.inf, -gain, candidate)

    def offers(self, candidates: Iterable[int] | None = None) -> list[_Offer]:
        among = range(len(self.problem.costs)) if candidates is None else candidates
        return [offer for offer in map(self.offer, among) if offer is not None]

    def take(self, candidate: int) -> bool:
        """Put the candidate in the place of its rival, unless the exact sum forbids what the float allowed."""
        rival = self.rival(candidate)
        if rival is not None:
            costs = self.problem.costs
            if Fraction(costs[candidate]) - Fraction(costs[rival]) > self.room:
                return False
            self.drop(rival)
        self.add(candidate)
        return True

    def fill(self, heap: list[_Offer]) -> bool:
        """Take the best offer until there is none; whether any was taken.

        Lazy: gains only shrink as the selection grows, so an old offer is an upper bound and only the top is renewed.
        """
        heapify(heap)
        grown = False
        while heap:
            candidate = heappop(heap)[2]
            offer = self.offer(candidate)
            if offer is None:
                continue
            if heap and offer > heap[0]:
                heappush(heap, offer)
            elif self.take(candidate):
                grown = True
                # The one exception: the family now pays only the difference, which can make it a better offer.
                for better in self.offers(self._family(candidate)):
                    heappush(heap, better)
        return grown

    def shed(self) -> bool:
        """Drop or cheapen what is chosen, the most expensive first, where nothing is lost; whether anything changed."""
        costs, changed = self.problem.costs, False
        for candidate in sorted(self.chosen.keys() - self.problem.pins.keys(), key=lambda one: (-costs[one], one)):
            needed = self.problem.catches[candidate] & self.tally.once
            cheaper = self._cheaper(candidate, needed) if needed else None
            if needed and cheaper is None:
                continue
            self.drop(candidate)
            changed = True
            if cheaper is not None:
                self.add(cheaper)
        return changed

    def _family(self, candidate: int) -> list[int]:
        problem = self.problem
        return [] if problem.family_of is None else problem.members[problem.family_of[candidate]]

    def _cheaper(self, candidate: int, needed: int) -> int | None:
        costs, catches = self.problem.costs, self.problem.catches
        enough = [
            (costs[other], other)
            for other in self._family(candidate)
            if costs[other] < costs[candidate]
            and needed & catches[other] == needed
            and not self.is_excluded(other, candidate)
        ]
        return min(enough)[1] if enough else None

    def selection(self) -> Selection:
        covered, gains = 0, []
        for candidate in self.chosen:
            caught = self.problem.catches[candidate]
            gains.append(self.problem.sizes[candidate] - (caught & covered).bit_count())
            covered |= caught
        spent = float(Fraction(self.problem.budget) - self.room)
        return Selection(tuple(self.chosen), spent, covered, tuple(gains))


def _algorithm_1(problem: _Problem) -> _GreedySelection:
    current, single = _GreedySelection(problem), _GreedySelection(problem)
    offers = current.offers()
    if not offers:
        return current
    _, _, best = min(offers, key=lambda offer: (offer[1], problem.costs[offer[2]], offer[2]))
    current.fill(offers)
    single.take(best)
    return single if single.tally.covered.bit_count() > current.tally.covered.bit_count() else current
