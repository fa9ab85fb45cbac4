"""Lists the candidate rules for a column: one pattern, one with optional parts, or a union, each with its cost.

Tested by `tests/learn/patterns/test_infer.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from headgate.learn.patterns import whole_values
from headgate.learn.patterns.align import MAX_GROUPS, MAX_WIDTH, Group, TokenGrid, align_groups, grid_of, group_values
from headgate.learn.patterns.entries import Rows
from headgate.learn.patterns.lexer import MAX_LENGTH, Flags, Ints, TokenArrays, lex
from headgate.learn.patterns.pattern import Atom, AtomKind, Pattern
from headgate.learn.patterns.rule import Branch
from headgate.learn.patterns.scoring import Scorer
from headgate.learn.patterns.segments import Cut, Cutter, PatternSegment, PatternSource
from headgate.learn.patterns.settings import InferenceSettings, Method

MAX_BRANCHES = 4
_MIN_BRANCH = 2  # values of a branch: a single one may be an error
_MAX_OPTIONAL = 2  # optional segments: with more, nearly every value matches
_LOOSE_MISS = 0.5  # share of the lake's columns: if a pattern lets more pass, a union is searched for
_MAX_SPECIAL_SHARE = 0.5  # share of the values that special values may have


class Candidate(msgspec.Struct, frozen=True):
    """Branches that could be the rule, their cost, the share of columns they let pass, and the share they tolerate."""

    branches: tuple[Branch, ...]
    cost: float
    miss: float
    tolerated: float = 0.0

    @property
    def worth(self) -> float:
        """The probability that a wrong batch is caught and a correct one passes, reduced by the share tolerated."""
        return (1.0 - self.cost) * (1.0 - self.miss) * (1.0 - self.tolerated)


class LexedColumn:
    """A column: distinct values, how often each occurs, their tokens, and caches of what was computed for them."""

    def __init__(self, values: Mapping[str, int], source: PatternSource, settings: InferenceSettings) -> None:
        self.texts, self.source, self.settings = list(values), source, settings
        self.weights: Ints = np.fromiter(values.values(), dtype=np.int64, count=len(values))
        self.tokens: TokenArrays = lex(self.texts)
        self.groups: list[Group] = group_values(self.tokens, self.weights)
        self._cutters: dict[tuple[bytes, float], Cutter] = {}
        self._grids: dict[tuple[Any, ...], TokenGrid | None] = {}

    def make_cutter(self, rows: Ints, tolerated: float) -> Cutter:
        """The cutter for values with the same number of tokens."""
        return self._get_cutter(rows.tobytes(), tolerated, grid_of(self.tokens, rows))

    def make_aligned_cutters(self, chosen: Sequence[Group], tolerated: float) -> Iterator[Cutter]:
        """The cutters for values of several skeletons, which are aligned with late gaps and with early gaps."""
        if max(len(group.sequence) for group in chosen) > MAX_WIDTH:
            return
        for late in (True, False):
            key = (late, *(group.sequence for group in chosen))
            if key not in self._grids:
                self._grids[key] = align_groups(self.tokens, chosen, late)
            if (grid := self._grids[key]) is not None:
                yield self._get_cutter(bytes([late]) + grid.rows.tobytes(), tolerated, grid)

    def _get_cutter(self, grid_key: bytes, tolerated: float, grid: TokenGrid) -> Cutter:
        key = (grid_key, tolerated)
        if key not in self._cutters:
            tau, vertical = self.settings.tau, self.settings.cuts_vertically
            self._cutters[key] = Cutter(self.tokens, grid, self.weights, self.source, tolerated, tau, vertical)
        return self._cutters[key]

    @cached_property
    def whole_patterns(self) -> tuple[dict[Pattern, Flags], Rows]:
        """Patterns of whole values, which values have each, and their entries."""
        patterns = whole_values.find_whole_patterns(self.tokens, self.texts)
        if whole_values.URL in patterns:
            host, having = whole_values.commonest_host(self.texts, patterns[whole_values.URL], self.weights)
            patterns[host] = having
        return patterns, self.source.find_entries(whole_values.keys_of(list(patterns)))


class Candidates:
    """The candidates of a column under one scorer. The paper's methods have only those from the grid."""

    def __init__(self, column: LexedColumn, scorer: Scorer) -> None:
        self.column, self.scorer, self.settings = column, scorer, column.settings
        self.tokens, self.groups, self.texts = column.tokens, column.groups, column.texts
        self.weights, self.weight = column.weights, int(column.weights.sum())
        self.tolerated = self.settings.tolerance * self.weight if self.settings.cuts_horizontally else 0.0

    def find_best(self) -> Candidate | None:
        """The candidate with the least score that costs at most the limit, if there is one."""
        candidates = [*self.from_grid()]
        if self.settings.method in (Method.TAG, Method.HEADGATE):
            candidates += self.from_wholes()
        if self.settings.method is Method.HEADGATE:
            # Alignment and unions take longer, so they are tried only if the cheaper searches find nothing or
            # (for unions) only loose patterns.
            if not candidates:
                candidates += self.from_alignment()
            if not candidates or min(map(self.score, candidates)) > self.score(Candidate((), 0.0, _LOOSE_MISS)):
                candidates += self.from_union()
        allowed = [candidate for candidate in candidates if candidate.cost <= self.settings.limit]
        return min(allowed, key=self.score) if allowed else None

    def score(self, candidate: Candidate) -> float:
        return float(self.scorer.score(candidate.cost, candidate.miss))

    def from_grid(self) -> Iterator[Candidate]:
        """One pattern for values with the same skeleton, or at least with the same number of tokens."""
        if not self.groups:
            return
        rows = self.groups[0].rows
        if self.weight - self.groups[0].weight > self.tolerated:
            rows = self._same_width()
        cut = self._cut_rows(rows)
        if cut is not None:
            yield Candidate((Branch(cut.segments),), cut.cost, cut.miss)

    def _same_width(self) -> Ints:
        """The rows with the most frequent number of tokens."""
        count = self.tokens.count
        width = int(np.bincount(count[count > 0], weights=self.weights[count > 0]).argmax())
        return np.flatnonzero(count == width)

    def _cut_rows(self, rows: Ints) -> Cut | None:
        tolerated = self.tolerated - (self.weight - int(self.weights[rows].sum()))
        if tolerated < 0 or int(self.tokens.count[rows[0]]) > MAX_WIDTH:
            return None
        cutter = self.column.make_cutter(rows, tolerated)
        cut = cutter.cut(self.scorer)
        # Each segment kept to the tolerance but all together did not: cut again, with segments that tolerate nothing.
        return self.column.make_cutter(rows, 0.0).cut(self.scorer) if cutter.overspent else cut

    def from_wholes(self) -> Iterator[Candidate]:
        """One pattern of whole values, such as phrases and URLs."""
        for branch, having in self.whole_branches:
            if self.weight - int(self.weights[having].sum()) <= self.tolerated:
                yield Candidate((branch,), branch.segments[0].cost, branch.segments[0].miss)

    @cached_property
    def whole_branches(self) -> list[tuple[Branch, Flags]]:
        """Patterns of whole values that the scorer allows, and which values have each."""
        allowed: list[tuple[Branch, Flags]] = []
        patterns, entries = self.column.whole_patterns
        costs = self.scorer(entries)
        for index, (pattern, having) in enumerate(patterns.items()):
            if costs.allowed[index]:
                allowed.append((Branch((PatternSegment.of(pattern, entries, costs, index),)), having))
        return allowed

    def from_alignment(self) -> Iterator[Candidate]:
        """One pattern for several skeletons, aligned: a part that some of them lack becomes optional."""
        chosen = self._find_covering_groups()
        if chosen is None or len(chosen) < 2:
            return
        left = self.tolerated - (self.weight - sum(group.weight for group in chosen))
        for cutter in self.column.make_aligned_cutters(chosen, max(left, 0.0)):
            cut = cutter.cut(self.scorer)
            if cut is not None and sum(segment.optional for segment in cut.segments) <= _MAX_OPTIONAL:
                yield Candidate((Branch(cut.segments),), cut.cost, cut.miss)

    def _find_covering_groups(self) -> list[Group] | None:
        """The most frequent skeletons that together leave out no more than is tolerated, if they are few."""
        chosen: list[Group] = []
        covered = 0
        for group in self.groups[:MAX_GROUPS]:
            chosen.append(group)
            covered += group.weight
            if self.weight - covered <= self.tolerated:
                return chosen
        return None

    def from_union(self) -> Iterator[Candidate]:
        """A union of a few patterns: the one for most values first, then patterns for the values left over.

        Each further branch adds the share of one value to the cost, because the values do not prove that there are no
        other branches.
        """
        left = np.ones(len(self.texts), dtype=bool)
        branches: list[Branch] = []
        if (empty := [row for row, text in enumerate(self.texts) if not text]) and self.weights[empty].sum() > 1:
            branches.append(Branch((), float(self.weights[empty].sum()) / self.weight))
            left[empty] = False
        while len(branches) < MAX_BRANCHES and self.weights[left].sum() > self.tolerated:
            way = self._next_branch(left) or self._special_value(left)
            if way is None:
                return
            branch, having = way
            share = float(self.weights[having & left].sum()) / self.weight
            branches.append(Branch(branch.segments, share))
            left &= ~having
        if len(branches) > 1 and self.weights[left].sum() <= self.tolerated:
            cost = sum(branch.share * sum(segment.cost for segment in branch.segments) for branch in branches)
            miss = sum(min((segment.miss for segment in branch.segments), default=0.0) for branch in branches)
            yield Candidate(tuple(branches), cost + (len(branches) - 1) / self.weight, min(miss, 1.0))

    def _next_branch(self, left: Flags) -> tuple[Branch, Flags] | None:
        """The branch that explains most of the values left, and which values have it."""
        heaviest = max(
            self.groups, key=lambda group: int(self.weights[group.rows[left[group.rows]]].sum()), default=None
        )
        if heaviest is not None and len(heaviest.rows) == 1 and (special := self._special_value(left)) is not None:
            return special
        ways = list(self.whole_branches)
        if heaviest is not None and left[heaviest.rows].any() and len(heaviest.sequence) <= MAX_WIDTH:
            rows = heaviest.rows[left[heaviest.rows]]
            cut = self.column.make_cutter(rows, 0.0).cut(self.scorer)
            if cut is not None:
                having = np.zeros(len(left), dtype=bool)
                having[rows] = cut.met
                ways.append((Branch(cut.segments), having))
        ways = [way for way in ways if self.weights[way[1] & left].sum() >= _MIN_BRANCH]
        return max(ways, key=lambda way: self._branch_worth(way, left), default=None)

    def _special_value(self, left: Flags) -> tuple[Branch, Flags] | None:
        """A repeated value that fits no pattern, such as a marker for missing values (section 4).

        It needs no evidence from the index, as long as most values follow a pattern.
        """
        if self.weights[left].sum() > _MAX_SPECIAL_SHARE * self.weight:
            return None
        row = int(np.where(left, self.weights, 0).argmax())
        if self.weights[row] < _MIN_BRANCH or not 0 < len(self.texts[row]) <= MAX_LENGTH:
            return None
        having = np.zeros(len(left), dtype=bool)
        having[row] = True
        return Branch((PatternSegment(Pattern((Atom(AtomKind.CONST, text=self.texts[row]),)), miss=0.0),)), having

    def _branch_worth(self, way: tuple[Branch, Flags], left: Flags) -> float:
        """The weight of the values that a branch explains, reduced by the share of columns it lets pass."""
        branch, having = way
        miss = min((segment.miss for segment in branch.segments if not segment.optional), default=1.0)
        return float(self.weights[having & left].sum()) * (1.0 - miss)
