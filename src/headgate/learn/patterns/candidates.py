"""All that could be the rule for a column: one pattern, one with optional parts, or a union, each with its cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from headgate.learn.patterns import whole_values
from headgate.learn.patterns.align import MOST_GROUPS, WIDEST, Group, TokenGrid, align_groups, grid_of, group_values
from headgate.learn.patterns.entries import Rows
from headgate.learn.patterns.lexer import LONGEST, Flags, Ints, TokenArrays, lex
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.learn.patterns.rule import Branch
from headgate.learn.patterns.scoring import Scorer
from headgate.learn.patterns.segments import Cut, Cutter, Evidence, Segment
from headgate.learn.patterns.settings import InferenceSettings, Method

MOST_BRANCHES = 4
_LEAST_BRANCH = 2  # values of a branch: one alone may be a slip
_MOST_OPTIONAL = 2  # stretches that a value may be without; with more, nearly everything matches
_LOOSE = 0.5  # of all columns of the lake: a pattern that lets more through is worth a search for several
_SPECIAL = 0.5  # of the values: no more of them may be special ones


class Candidate(msgspec.Struct, frozen=True):
    """Branches that could be the rule, what they cost and let through, and the share outside that they tolerate."""

    branches: tuple[Branch, ...]
    cost: float
    miss: float
    tolerated: float = 0.0

    @property
    def worth(self) -> float:
        """The chance that a wrong batch is noticed and a right one let through; less, the more is tolerated."""
        return (1.0 - self.cost) * (1.0 - self.miss) * (1.0 - self.tolerated)


class LexedColumn:
    """A column: distinct values, how often each occurs, their tokens, and what was looked up for them."""

    def __init__(self, values: Mapping[str, int], evidence: Evidence, settings: InferenceSettings) -> None:
        self.texts, self.evidence, self.settings = list(values), evidence, settings
        self.weights: Ints = np.fromiter(values.values(), dtype=np.int64, count=len(values))
        self.tokens: TokenArrays = lex(self.texts)
        self.groups: list[Group] = group_values(self.tokens, self.weights)
        self._cutters: dict[tuple[bytes, float], Cutter] = {}
        self._grids: dict[tuple[Any, ...], TokenGrid | None] = {}

    def make_cutter(self, rows: Ints, tolerated: float) -> Cutter:
        """For values with the same number of tokens."""
        return self._get_cutter(rows.tobytes(), tolerated, grid_of(self.tokens, rows))

    def make_aligned_cutters(self, chosen: Sequence[Group], tolerated: float) -> Iterator[Cutter]:
        """For values of several skeletons, aligned in two ways."""
        if max(len(group.sequence) for group in chosen) > WIDEST:
            return
        for late in (True, False):
            named = (late, *(group.sequence for group in chosen))
            if named not in self._grids:
                self._grids[named] = align_groups(self.tokens, chosen, late)
            if (grid := self._grids[named]) is not None:
                yield self._get_cutter(bytes([late]) + grid.rows.tobytes(), tolerated, grid)

    def _get_cutter(self, named: bytes, tolerated: float, grid: TokenGrid) -> Cutter:
        key = (named, tolerated)
        if key not in self._cutters:
            tau, vertical = self.settings.tau, self.settings.cuts_vertically
            self._cutters[key] = Cutter(self.tokens, grid, self.weights, self.evidence, tolerated, tau, vertical)
        return self._cutters[key]

    @cached_property
    def whole_patterns(self) -> tuple[dict[Pattern, Flags], Rows]:
        """Patterns of whole values, which values have them, and their entries."""
        found = whole_values.find_whole_patterns(self.tokens, self.texts)
        if whole_values.URL in found:
            host, having = whole_values.commonest_host(self.texts, found[whole_values.URL], self.weights)
            found[host] = having
        return found, self.evidence.find_entries(whole_values.keys_of(list(found)))


class Candidates:
    """The candidates of a column under one measure; of the paper's methods there is only the grid."""

    def __init__(self, column: LexedColumn, scorer: Scorer) -> None:
        self.column, self.scorer, self.settings = column, scorer, column.settings
        self.tokens, self.groups, self.texts = column.tokens, column.groups, column.texts
        self.weights, self.weight = column.weights, int(column.weights.sum())
        self.tolerated = self.settings.tolerance * self.weight if self.settings.cuts_horizontally else 0.0

    def find_best(self) -> Candidate | None:
        found = [*self.from_grid()]
        if self.settings.method in (Method.TAG, Method.HEADGATE):
            found += self.from_wholes()
        if self.settings.method is Method.HEADGATE:
            if not found:
                found += self.from_alignment()
            if not found or min(map(self.score, found)) > self.score(Candidate((), 0.0, _LOOSE)):
                found += self.from_union()
        found = [each for each in found if each.cost <= self.settings.limit]
        return min(found, key=self.score) if found else None

    def score(self, candidate: Candidate) -> float:
        return float(self.scorer.score(candidate.cost, candidate.miss))

    def from_grid(self) -> Iterator[Candidate]:
        """Values with the same skeleton, or at least with the same number of tokens."""
        if not self.groups:
            return
        rows = self.groups[0].rows
        if self.weight - self.groups[0].weight > self.tolerated:
            rows = self._same_width()
        found = self._cut_rows(rows)
        if found is not None:
            yield Candidate((Branch(found.segments),), found.cost, found.miss)

    def _same_width(self) -> Ints:
        """The rows with the most frequent number of tokens."""
        count = self.tokens.count
        width = int(np.bincount(count[count > 0], weights=self.weights[count > 0]).argmax())
        return np.flatnonzero(count == width)

    def _cut_rows(self, rows: Ints) -> Cut | None:
        tolerated = self.tolerated - (self.weight - int(self.weights[rows].sum()))
        if tolerated < 0 or int(self.tokens.count[rows[0]]) > WIDEST:
            return None
        cutter = self.column.make_cutter(rows, tolerated)
        found = cutter.cut(self.scorer)
        return self.column.make_cutter(rows, 0.0).cut(self.scorer) if cutter.overspent else found

    def from_wholes(self) -> Iterator[Candidate]:
        for branch, having in self.whole_branches:
            if self.weight - int(self.weights[having].sum()) <= self.tolerated:
                yield Candidate((branch,), branch.segments[0].cost, branch.segments[0].miss)

    @cached_property
    def whole_branches(self) -> list[tuple[Branch, Flags]]:
        """Patterns of whole values that the index allows, with the values that have them."""
        allowed: list[tuple[Branch, Flags]] = []
        found, entries = self.column.whole_patterns
        costs = self.scorer(entries)
        for at, (pattern, having) in enumerate(found.items()):
            if costs.allowed[at]:
                allowed.append((Branch((Segment.of(pattern, entries, costs, at),)), having))
        return allowed

    def from_alignment(self) -> Iterator[Candidate]:
        """Skeletons of which one is another with something more or less: what some are without becomes optional."""
        chosen = self._find_covering_groups()
        if chosen is None or len(chosen) < 2:
            return
        left = self.tolerated - (self.weight - sum(group.weight for group in chosen))
        for cutter in self.column.make_aligned_cutters(chosen, max(left, 0.0)):
            found = cutter.cut(self.scorer)
            if found is not None and sum(segment.optional for segment in found.segments) <= _MOST_OPTIONAL:
                yield Candidate((Branch(found.segments),), found.cost, found.miss)

    def _find_covering_groups(self) -> list[Group] | None:
        """The heaviest skeletons that together leave out no more than is tolerated, if they are few."""
        chosen: list[Group] = []
        covered = 0
        for group in self.groups[:MOST_GROUPS]:
            chosen.append(group)
            covered += group.weight
            if self.weight - covered <= self.tolerated:
                return chosen
        return None

    def from_union(self) -> Iterator[Candidate]:
        """A few patterns, each for its own share of the values: the heaviest first, then what it leaves over.

        Each further branch costs one value's share: a few values do not prove that the branches are all there are.
        """
        left = np.ones(len(self.texts), dtype=bool)
        branches: list[Branch] = []
        if (empty := [at for at, text in enumerate(self.texts) if not text]) and self.weights[empty].sum() > 1:
            branches.append(Branch((), float(self.weights[empty].sum()) / self.weight))
            left[empty] = False
        while len(branches) < MOST_BRANCHES and self.weights[left].sum() > self.tolerated:
            found = self._next_branch(left) or self._special_value(left)
            if found is None:
                return
            branch, having = found
            share = float(self.weights[having & left].sum()) / self.weight
            branches.append(Branch(branch.segments, share))
            left &= ~having
        if len(branches) > 1 and self.weights[left].sum() <= self.tolerated:
            cost = sum(each.share * sum(segment.cost for segment in each.segments) for each in branches)
            miss = sum(min((each.miss for each in branch.segments), default=0.0) for branch in branches)
            yield Candidate(tuple(branches), cost + (len(branches) - 1) / self.weight, min(miss, 1.0))

    def _next_branch(self, left: Flags) -> tuple[Branch, Flags] | None:
        heaviest = max(
            self.groups, key=lambda group: int(self.weights[group.rows[left[group.rows]]].sum()), default=None
        )
        if heaviest is not None and len(heaviest.rows) == 1 and (special := self._special_value(left)) is not None:
            return special
        ways = list(self.whole_branches)
        if heaviest is not None and left[heaviest.rows].any() and len(heaviest.sequence) <= WIDEST:
            rows = heaviest.rows[left[heaviest.rows]]
            found = self.column.make_cutter(rows, 0.0).cut(self.scorer)
            if found is not None:
                having = np.zeros(len(left), dtype=bool)
                having[rows] = found.met
                ways.append((Branch(found.segments), having))
        ways = [way for way in ways if self.weights[way[1] & left].sum() >= _LEAST_BRANCH]
        return max(ways, key=lambda way: self._branch_worth(way, left), default=None)

    def _special_value(self, left: Flags) -> tuple[Branch, Flags] | None:
        """A value that is there again and again and fits nothing else, such as a mark for what is missing (section 4).

        That it was seen is all the evidence it needs, as long as most values follow a pattern.
        """
        if self.weights[left].sum() > _SPECIAL * self.weight:
            return None
        at = int(np.where(left, self.weights, 0).argmax())
        if self.weights[at] < _LEAST_BRANCH or not 0 < len(self.texts[at]) <= LONGEST:
            return None
        having = np.zeros(len(left), dtype=bool)
        having[at] = True
        return Branch((Segment(Pattern((Atom(AtomKind.CONST, text=self.texts[at]),)), miss=0.0),)), having

    def _branch_worth(self, way: tuple[Branch, Flags], left: Flags) -> float:
        """What a branch explains, less what it lets through."""
        branch, having = way
        miss = min((segment.miss for segment in branch.segments if not segment.optional), default=1.0)
        return float(self.weights[having & left].sum()) * (1.0 - miss)
