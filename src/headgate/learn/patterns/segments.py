"""Vertical cuts: the segments of a grid whose patterns cost least together (Auto-Validate, section 3, Equation 11)."""

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
from headgate.learn.patterns.generalize import FULL, SHORT, menu_of
from headgate.learn.patterns.grid_places import place_of
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import Flags, Ints, TokenArrays, TokenKind
from headgate.learn.patterns.pattern import Pattern
from headgate.learn.patterns.scoring import EntryCosts, Scorer

_TRIED = 50  # patterns of a segment, the best first, until one is met by enough values
_WIDE = 13  # tokens beyond which segments begin and end with words: punctuation between them is free anyway
_NARROW = 8  # and are no longer than this


class Evidence(Protocol):
    """Where entries are looked up: rows of zeros for keys that are not there."""

    def find_entries(self, keys: Keys) -> Rows: ...


class Segment(msgspec.Struct, frozen=True):
    """A stretch of a rule: its pattern, whether a value may be without it, and what the index says of it.

    A constant of symbols alone needs no evidence: `columns` is 0 then.
    """

    pattern: Pattern
    optional: bool = False
    columns: int = 0
    fpr: float = 0.0
    cost: float = 0.0
    miss: float = 1.0

    @classmethod
    def of(cls, pattern: Pattern, rows: Rows, costs: EntryCosts, at: int, optional: bool = False) -> Segment:
        """The pattern whose entry is row `at`."""
        rate, columns = float(mean_impurity(rows[at : at + 1])[0]), int(rows["columns"][at])
        return cls(pattern, optional, columns, rate, float(costs.cost[at]), float(costs.miss[at]))

    def __str__(self) -> str:
        return f"({self.pattern})?" if self.optional else str(self.pattern)

    @property
    def body(self) -> str:
        return f"(?:{self.pattern.body})?" if self.optional else self.pattern.body


class Cut(msgspec.Struct, frozen=True):
    """Segments that follow one another, and which values of the grid meet all of them."""

    segments: tuple[Segment, ...]
    met: Flags

    @property
    def cost(self) -> float:
        """The sum, as if no two segments were broken by the same value (Equation 8)."""
        return sum(segment.cost for segment in self.segments)

    @property
    def miss(self) -> float:
        """That of the segment that lets the least through; what is optional keeps nothing out."""
        return min((segment.miss for segment in self.segments if not segment.optional), default=1.0)


class _Span(msgspec.Struct, frozen=True):
    """Places next to each other, the choices that each has, and the sums that the keys of all combinations are made of.

    It is free where it is punctuation that all values have.
    """

    start: int
    stop: int
    optional: bool
    offered: tuple[list[int], ...]
    sums: Keys
    is_free: bool


class _SegmentMatch(msgspec.Struct, frozen=True):
    segment: Segment
    met: Flags


class _Link(msgspec.Struct, frozen=True):
    """A segment where it stands, and the values that have nothing there."""

    start: int
    stop: int
    found: _SegmentMatch
    gap: Flags

    def goes_on(self, before: _Link) -> bool:
        both = self.found.segment.optional and before.found.segment.optional
        return both and bool((self.gap == before.gap).all())


class _Best(msgspec.Struct, frozen=True):
    """The best way to cover the first places: what it costs, lets through, and the segments in reverse."""

    score: float
    cost: float
    miss: float
    last: tuple[int, int] | None
    before: _Best | None


class Cutter:
    """Cuts one grid, by any measure: what is looked up for it is looked up once. `vertical` allows several segments."""

    def __init__(
        self,
        tokens: TokenArrays,
        grid: TokenGrid,
        weights: Ints,
        evidence: Evidence,
        tolerated: float,
        tau: int,
        vertical: bool,
    ) -> None:
        self.tokens, self.weights, self.evidence = tokens, weights[grid.rows], evidence
        self.tolerated, self.tau, self.vertical = tolerated, tau, vertical
        self._terms: dict[tuple[int, int], Keys] = {}
        self.overspent = False  # whether the last cut found segments that together leave out more than is tolerated
        self.places = [place_of(tokens, grid.at[:, at], self.weights, tolerated) for at in range(grid.width)]
        self.is_symbols = [place.kind is TokenKind.SYMBOLS for place in self.places]

    def cut(self, scorer: Scorer) -> Cut | None:
        """The segments of least cost, or none if no cut costs less than the limit."""
        self.overspent = False
        spans, rows = self.span_entries
        costs, begin = scorer(rows), 0
        found: dict[tuple[int, int], _SegmentMatch] = {}
        for span in spans:
            own = slice(begin, begin + len(span.sums))
            begin = own.stop
            if span.is_free or costs.allowed[own].any():
                best = self.choose_pattern(span, rows[own], costs.take_part(own), scorer)
                found |= {(span.start, span.stop): best} if best is not None else {}
        return self.find_cheapest(found, scorer)

    @cached_property
    def span_entries(self) -> tuple[list[_Span], Rows]:
        """Every stretch that may be a segment, and the entries of their patterns, one stretch after the other."""
        spans = list(self.list_spans())
        sums = np.concatenate([np.zeros(0, dtype=np.uint64), *(span.sums for span in spans)])
        return spans, self.evidence.find_entries(hashing.mix(sums))

    def list_spans(self) -> Iterator[_Span]:
        """Every stretch that may be a segment: of at most tau tokens, there in all values or away in the same ones."""
        width = len(self.places)
        longest = min(self.tau, _NARROW if self.vertical and width > _WIDE else self.tau)
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
        if menu is SHORT and len(places) < len(self.places):
            menu = FULL  # any symbols beside the next segment could be part of either, and matching would try both
        offered = tuple(place.choices_on(menu) for place in places)
        if not all(offered):
            return None
        sums = np.zeros(1, dtype=np.uint64)
        for at, each in enumerate(offered):
            sums = (sums[:, None] + self._find_terms(start + at, at)[each][None, :]).reshape(-1)
        optional = bool(self.weights[places[0].gap].sum() > self.tolerated)
        is_free = self.vertical and len(places) == 1 and places[0].is_constant
        return _Span(start, stop, optional, offered, sums, is_free)

    def _find_terms(self, place: int, at: int) -> Keys:
        """What the choices of a place add to the key of a pattern in which it is the token `at`."""
        if (place, at) not in self._terms:
            self._terms[place, at] = hashing.place_keys(self.places[place].keys, at)
        return self._terms[place, at]

    def choose_pattern(self, span: _Span, rows: Rows, costs: EntryCosts, scorer: Scorer) -> _SegmentMatch | None:
        """The pattern of least score that enough values meet."""
        if span.is_free:
            return self._choose_constant(span)
        sizes = [len(each) for each in span.offered]
        for at in scorer.rank_entries(costs)[:_TRIED].tolist():
            picks = [each[pick] for each, pick in zip(span.offered, np.unravel_index(at, sizes), strict=True)]
            met = self._find_matching(span, picks)
            if self.weights[~met].sum() <= self.tolerated:
                return _SegmentMatch(Segment.of(self._make_pattern(span, picks), rows, costs, at, span.optional), met)
        return None

    def _choose_constant(self, span: _Span) -> _SegmentMatch:
        picks = [0]  # the constant is the first choice of every place
        return _SegmentMatch(Segment(self._make_pattern(span, picks), span.optional), self._find_matching(span, picks))

    def _find_matching(self, span: _Span, picks: Sequence[int]) -> Flags:
        places = self.places[span.start : span.stop]
        met = np.logical_and.reduce([place.meets[:, pick] for place, pick in zip(places, picks, strict=True)])
        return np.asarray(met | places[0].gap if span.optional else met)

    def _make_pattern(self, span: _Span, picks: Sequence[int]) -> Pattern:
        places = self.places[span.start : span.stop]
        chosen = zip(places, picks, strict=True)
        return Pattern(tuple(atom for place, pick in chosen for atom in place.atoms_of(self.tokens, pick)))

    def find_cheapest(self, found: dict[tuple[int, int], _SegmentMatch], scorer: Scorer) -> Cut | None:
        """Equation 11 from left to right: the best cut up to a place is some segment after a best cut before it."""
        best: list[_Best | None] = [_Best(0.0, 0.0, 1.0, None, None)]
        for stop in range(1, len(self.places) + 1):
            ways = [
                _extend_path(before, found[start, stop].segment, (start, stop), scorer)
                for start, before in enumerate(best)
                if before is not None and (start, stop) in found
            ]
            best.append(min(ways, key=lambda way: way.score) if ways else None)
        last = best[-1]
        if last is None or last.cost > scorer.limit:
            return None
        links = self._trace_links(last, found)
        met = np.logical_and.reduce([link.found.met for link in links])
        self.overspent = bool(self.weights[~met].sum() > self.tolerated)
        if self.overspent or all(link.found.segment.columns == 0 for link in links):
            return None
        joined = _join_optional(links)
        if not self._is_plain(joined):
            return None
        return Cut(tuple(link.found.segment for link in joined), met)

    def _trace_links(self, last: _Best | None, found: dict[tuple[int, int], _SegmentMatch]) -> list[_Link]:
        """The segments of the best way, from left to right."""
        links: list[_Link] = []
        while last is not None and last.last is not None:
            start, stop = last.last
            links.append(_Link(start, stop, found[start, stop], self.places[start].gap))
            last = last.before
        return links[::-1]

    def _is_plain(self, links: Sequence[_Link]) -> bool:
        """Whether it can always be told where a segment ends: something is required, and stands between what is not.

        Words must also stay apart in values without an optional stretch.
        """
        optional = [link.found.segment.optional for link in links]
        if all(optional) or any(one and other for one, other in pairwise(optional)):
            return False
        inner = (link for link, may in zip(links, optional, strict=True) if may and not self._is_at_an_end(link))
        return all(self.is_symbols[link.start - 1] or self.is_symbols[link.stop] for link in inner)

    def _is_at_an_end(self, link: _Link) -> bool:
        return link.start == 0 or link.stop == len(self.places)


def _extend_path(before: _Best, segment: Segment, span: tuple[int, int], scorer: Scorer) -> _Best:
    cost, miss = before.cost + segment.cost, min(before.miss, 1.0 if segment.optional else segment.miss)
    return _Best(float(scorer.score(cost, miss)), cost, miss, span, before)


def _join_optional(links: Sequence[_Link]) -> list[_Link]:
    """Optional segments next to each other, which the same values are without, are one."""
    joined: list[_Link] = []
    for link in links:
        before = joined[-1] if joined else None
        if before is not None and link.goes_on(before):
            segment = _join_segments(before.found.segment, link.found.segment)
            link = _Link(before.start, link.stop, _SegmentMatch(segment, link.found.met), link.gap)
            joined.pop()
        joined.append(link)
    return joined


def _join_segments(one: Segment, other: Segment) -> Segment:
    return Segment(
        one.pattern + other.pattern,
        True,
        min((each.columns for each in (one, other) if each.columns), default=0),
        one.fpr + other.fpr,
        one.cost + other.cost,
        min(one.miss, other.miss),
    )
