"""Cuts a token grid into the segments whose patterns cost least in total (Auto-Validate, section 3, Equation 11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Protocol

import msgspec
import numpy as np

from headgate.learn.patterns import hashing
from headgate.learn.patterns.align import TokenGrid
from headgate.learn.patterns.entries import Rows, mean_impurity
from headgate.learn.patterns.generalize import FULL_MENU, SHORT_MENU, menu_of
from headgate.learn.patterns.grid_places import place_of
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import Flags, Ints, TokenArrays, TokenKind
from headgate.learn.patterns.pattern import Pattern
from headgate.learn.patterns.scoring import EntryCosts, Scorer

_MAX_TRIED = 50  # patterns of a segment that are tried, the best first, until enough values meet one
_WIDE = 13  # in grids of more tokens, segments begin and end with words: punctuation between them is free anyway
_MAX_SEGMENT_IN_WIDE = 8  # tokens of a segment in such a grid


class PatternSource(Protocol):
    """Looks up entries; keys that are missing have rows of zeros."""

    def find_entries(self, keys: Keys) -> Rows: ...


class PatternSegment(msgspec.Struct, frozen=True):
    """A segment of a rule: its pattern, whether it is optional, and its evidence in the index.

    A constant of symbols alone needs no evidence; its `columns` is 0.
    """

    pattern: Pattern
    optional: bool = False
    columns: int = 0
    fpr: float = 0.0
    cost: float = 0.0
    miss: float = 1.0

    @classmethod
    def of(cls, pattern: Pattern, rows: Rows, costs: EntryCosts, index: int, optional: bool = False) -> PatternSegment:
        """The segment of the pattern whose entry is `rows[index]`."""
        rate, columns = float(mean_impurity(rows[index : index + 1])[0]), int(rows["columns"][index])
        return cls(pattern, optional, columns, rate, float(costs.cost[index]), float(costs.miss[index]))

    def __str__(self) -> str:
        return f"({self.pattern})?" if self.optional else str(self.pattern)

    @property
    def body(self) -> str:
        return f"(?:{self.pattern.body})?" if self.optional else self.pattern.body


class Cut(msgspec.Struct, frozen=True):
    """The segments of a grid, in order, and which of its values meet all of them."""

    segments: tuple[PatternSegment, ...]
    met: Flags

    @property
    def cost(self) -> float:
        """The sum of costs, which assumes that no value breaks two segments (Equation 8)."""
        return sum(segment.cost for segment in self.segments)

    @property
    def miss(self) -> float:
        """The miss of the strictest segment; an optional segment keeps nothing out."""
        return min((segment.miss for segment in self.segments if not segment.optional), default=1.0)


class _Span(msgspec.Struct, frozen=True):
    """Adjacent places of a grid that may be a segment.

    `offered` are the choices of each place. `sums` are the sums of terms of all combinations, from which the keys of
    patterns are made. A span is free if it is punctuation that all values have.
    """

    start: int
    stop: int
    optional: bool
    offered: tuple[list[int], ...]
    sums: Keys
    is_free: bool


class _SegmentMatch(msgspec.Struct, frozen=True):
    segment: PatternSegment
    met: Flags


class _Link(msgspec.Struct, frozen=True):
    """A segment with its position in the grid, and the values without tokens there."""

    start: int
    stop: int
    match: _SegmentMatch
    gap: Flags

    def continues(self, before: _Link) -> bool:
        """Whether both are optional and the same values lack them."""
        both = self.match.segment.optional and before.match.segment.optional
        return both and bool((self.gap == before.gap).all())


class _Path(msgspec.Struct, frozen=True):
    """The best cut of the first places of a grid: its score, cost and miss, its last span, and the path before it."""

    score: float
    cost: float
    miss: float
    last: tuple[int, int] | None
    before: _Path | None


class Cutter:
    """Cuts one grid under any scorer; entries are looked up once for all of them.

    `tolerated` is the weight of the values that need not meet the cut. `vertical` allows several segments.
    """

    def __init__(
        self,
        tokens: TokenArrays,
        grid: TokenGrid,
        weights: Ints,
        source: PatternSource,
        tolerated: float,
        tau: int,
        vertical: bool,
    ) -> None:
        self.tokens, self.weights, self.source = tokens, weights[grid.rows], source
        self.tolerated, self.tau, self.vertical = tolerated, tau, vertical
        self._terms: dict[tuple[int, int], Keys] = {}
        self.overspent = False  # whether the segments of the last cut together leave out more than is tolerated
        columns = (grid.tokens[:, column] for column in range(grid.width))
        self.places = [place_of(tokens, column, self.weights, tolerated) for column in columns]
        self.is_symbols = [place.kind is TokenKind.SYMBOLS for place in self.places]

    def cut(self, scorer: Scorer) -> Cut | None:
        """The cut with the least score, or None if it costs more than the limit."""
        self.overspent = False
        spans, rows = self.span_entries
        costs, begin = scorer(rows), 0
        matches: dict[tuple[int, int], _SegmentMatch] = {}
        for span in spans:
            own = slice(begin, begin + len(span.sums))
            begin = own.stop
            if span.is_free or costs.allowed[own].any():
                best = self.choose_pattern(span, rows[own], costs.take_part(own), scorer)
                matches |= {(span.start, span.stop): best} if best is not None else {}
        return self.find_cheapest(matches, scorer)

    @cached_property
    def span_entries(self) -> tuple[list[_Span], Rows]:
        """All spans, and the entries of their patterns, one span after the other."""
        spans = list(self.list_spans())
        sums = np.concatenate([np.zeros(0, dtype=np.uint64), *(span.sums for span in spans)])
        return spans, self.source.find_entries(hashing.mix(sums))

    def list_spans(self) -> Iterator[_Span]:
        """All spans of at most tau tokens whose places are missing in the same values."""
        width = len(self.places)
        longest = min(self.tau, _MAX_SEGMENT_IN_WIDE if self.vertical and width > _WIDE else self.tau)
        for start in range(width):
            for stop in range(start + 1, min(width, start + longest) + 1):
                if (self.vertical or stop - start == width) and self._may_be_cut(start, stop):
                    span = self._make_span(start, stop)
                    if span is not None:
                        yield span

    def _may_be_cut(self, start: int, stop: int) -> bool:
        if len(self.places) > _WIDE and stop - start > 1 and (self.is_symbols[start] or self.is_symbols[stop - 1]):
            return False
        gap = self.places[start].gap
        return all(bool((place.gap == gap).all()) for place in self.places[start + 1 : stop])

    def _make_span(self, start: int, stop: int) -> _Span | None:
        places = self.places[start:stop]
        menu = menu_of(len(places), len(places) - sum(self.is_symbols[start:stop]))
        if menu is None:
            return None
        if menu is SHORT_MENU and len(places) < len(self.places):
            menu = FULL_MENU  # <symbol>+ beside another segment could match symbols of both, and would backtrack
        offered = tuple(place.choices_on(menu) for place in places)
        if not all(offered):
            return None
        sums = np.zeros(1, dtype=np.uint64)
        for position, choices in enumerate(offered):
            sums = (sums[:, None] + self._find_terms(start + position, position)[choices][None, :]).reshape(-1)
        optional = bool(self.weights[places[0].gap].sum() > self.tolerated)
        is_free = self.vertical and len(places) == 1 and places[0].is_constant
        return _Span(start, stop, optional, offered, sums, is_free)

    def _find_terms(self, place: int, position: int) -> Keys:
        """The terms that a place's choices add to the key of a pattern in which it is the token at `position`."""
        if (place, position) not in self._terms:
            self._terms[place, position] = hashing.place_keys(self.places[place].keys, position)
        return self._terms[place, position]

    def choose_pattern(self, span: _Span, rows: Rows, costs: EntryCosts, scorer: Scorer) -> _SegmentMatch | None:
        """The pattern of least score that enough values meet."""
        if span.is_free:
            return self._choose_constant(span)
        sizes = [len(choices) for choices in span.offered]
        for index in scorer.rank_entries(costs)[:_MAX_TRIED].tolist():
            # The combinations are in row-major order, so the index of one gives the choice at each place.
            picks = [choices[pick] for choices, pick in zip(span.offered, np.unravel_index(index, sizes), strict=True)]
            met = self._find_matching(span, picks)
            if self.weights[~met].sum() <= self.tolerated:
                pattern = self._make_pattern(span, picks)
                return _SegmentMatch(PatternSegment.of(pattern, rows, costs, index, span.optional), met)
        return None

    def _choose_constant(self, span: _Span) -> _SegmentMatch:
        picks = [0]  # the constant is the first choice of every place
        return _SegmentMatch(
            PatternSegment(self._make_pattern(span, picks), span.optional), self._find_matching(span, picks)
        )

    def _find_matching(self, span: _Span, picks: Sequence[int]) -> Flags:
        places = self.places[span.start : span.stop]
        met = np.logical_and.reduce([place.meets[:, pick] for place, pick in zip(places, picks, strict=True)])
        return np.asarray(met | places[0].gap if span.optional else met)

    def _make_pattern(self, span: _Span, picks: Sequence[int]) -> Pattern:
        places = self.places[span.start : span.stop]
        chosen = zip(places, picks, strict=True)
        return Pattern(tuple(atom for place, pick in chosen for atom in place.atoms_of(self.tokens, pick)))

    def find_cheapest(self, matches: dict[tuple[int, int], _SegmentMatch], scorer: Scorer) -> Cut | None:
        """Solve Equation 11 by dynamic programming: the best cut up to a place extends a best cut before it."""
        best: list[_Path | None] = [_Path(0.0, 0.0, 1.0, None, None)]
        for stop in range(1, len(self.places) + 1):
            paths = [
                _extend_path(before, matches[start, stop].segment, (start, stop), scorer)
                for start, before in enumerate(best)
                if before is not None and (start, stop) in matches
            ]
            best.append(min(paths, key=lambda path: path.score) if paths else None)
        last = best[-1]
        if last is None or last.cost > scorer.limit:
            return None
        links = self._trace_links(last, matches)
        met = np.logical_and.reduce([link.match.met for link in links])
        self.overspent = bool(self.weights[~met].sum() > self.tolerated)
        if self.overspent or all(link.match.segment.columns == 0 for link in links):
            return None
        joined = _join_optional(links)
        if not self._is_unambiguous(joined):
            return None
        return Cut(tuple(link.match.segment for link in joined), met)

    def _trace_links(self, path: _Path | None, matches: dict[tuple[int, int], _SegmentMatch]) -> list[_Link]:
        """The segments of a path, from left to right."""
        links: list[_Link] = []
        while path is not None and path.last is not None:
            start, stop = path.last
            links.append(_Link(start, stop, matches[start, stop], self.places[start].gap))
            path = path.before
        return links[::-1]

    def _is_unambiguous(self, links: Sequence[_Link]) -> bool:
        """Whether it is always clear where a segment ends.

        At least one segment is required, and no two optional ones are adjacent. An optional segment inside has symbols
        beside it, so that the words on both sides stay apart in values without it.
        """
        optional = [link.match.segment.optional for link in links]
        if all(optional) or any(left and right for left, right in pairwise(optional)):
            return False
        inner = (link for link in links if link.match.segment.optional and not self._is_at_an_end(link))
        return all(self.is_symbols[link.start - 1] or self.is_symbols[link.stop] for link in inner)

    def _is_at_an_end(self, link: _Link) -> bool:
        return link.start == 0 or link.stop == len(self.places)


def _extend_path(before: _Path, segment: PatternSegment, span: tuple[int, int], scorer: Scorer) -> _Path:
    cost, miss = before.cost + segment.cost, min(before.miss, 1.0 if segment.optional else segment.miss)
    return _Path(float(scorer.score(cost, miss)), cost, miss, span, before)


def _join_optional(links: Sequence[_Link]) -> list[_Link]:
    """Join adjacent optional segments that the same values lack."""
    joined: list[_Link] = []
    for link in links:
        before = joined[-1] if joined else None
        if before is not None and link.continues(before):
            segment = _join_segments(before.match.segment, link.match.segment)
            link = _Link(before.start, link.stop, _SegmentMatch(segment, link.match.met), link.gap)
            joined.pop()
        joined.append(link)
    return joined


def _join_segments(left: PatternSegment, right: PatternSegment) -> PatternSegment:
    return PatternSegment(
        left.pattern + right.pattern,
        True,
        min((segment.columns for segment in (left, right) if segment.columns), default=0),
        left.fpr + right.fpr,
        left.cost + right.cost,
        min(left.miss, right.miss),
    )
