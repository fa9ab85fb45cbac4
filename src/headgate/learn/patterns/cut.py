"""Vertical cuts: the segments of a grid whose patterns cost least together (Auto-Validate, section 3, Equation 11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec
import numpy as np

from headgate.learn.patterns import hashing
from headgate.learn.patterns.align import Grid
from headgate.learn.patterns.entries import ONE, Rows
from headgate.learn.patterns.hashing import Keys
from headgate.learn.patterns.lexer import Flags, Ints, Kind, Tokens
from headgate.learn.patterns.options import FULL, SHORT, menu_of
from headgate.learn.patterns.pattern import Pattern
from headgate.learn.patterns.places import place_of
from headgate.learn.patterns.weigh import Weigher

MOST_PATTERNS = 2_000  # of a segment; one with more is not looked up
_TRIED = 50  # patterns of a segment, the best first, until one is met by enough values
_WIDE = 13  # tokens beyond which segments begin and end with words: punctuation between them is free anyway
_NARROW = 8  # and are no longer than this


class Evidence(Protocol):
    """Where entries are looked up: rows of zeros for keys that are not there."""

    def found(self, keys: Keys) -> Rows: ...


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
        return min(segment.miss for segment in self.segments)


class _Span(msgspec.Struct, frozen=True):
    """Places next to each other, the choices that each has, and the keys of all their combinations."""

    start: int
    stop: int
    optional: bool
    offered: tuple[list[int], ...]
    keys: Keys


class _Found(msgspec.Struct, frozen=True):
    segment: Segment
    met: Flags


class _Best(msgspec.Struct, frozen=True):
    """The best way to cover the first places: what it costs, lets through, and the segments in reverse."""

    score: float
    cost: float
    miss: float
    last: tuple[int, int] | None
    before: _Best | None


class Cutter:
    """Cuts one grid. `vertical` allows more than one segment."""

    def __init__(
        self, tokens: Tokens, grid: Grid, weights: Ints, weigher: Weigher, tolerated: float, tau: int, vertical: bool
    ) -> None:
        self.tokens, self.weights, self.weigher = tokens, weights[grid.rows], weigher
        self.tolerated, self.tau, self.vertical = tolerated, tau, vertical
        self.overspent = False  # whether segments were found that together leave out more than is tolerated
        self.places = [place_of(tokens, grid.at[:, at], self.weights, tolerated) for at in range(grid.width)]
        self.is_symbols = [place.kind is Kind.SYMBOLS for place in self.places]

    def cut(self, evidence: Evidence) -> Cut | None:
        """The segments of least cost, or none if no cut costs less than the limit."""
        spans = list(self.spans())
        if not spans:
            return None
        rows = evidence.found(np.concatenate([span.keys for span in spans]))
        found: dict[tuple[int, int], _Found] = {}
        at = 0
        for span in spans:
            own = rows[at : at + len(span.keys)]
            at += len(span.keys)
            if (best := self.chosen(span, own)) is not None:
                found[span.start, span.stop] = best
        return self.cheapest(found)

    def spans(self) -> Iterator[_Span]:
        """Every stretch that may be a segment: of at most tau tokens, there in all values or away in the same ones."""
        width = len(self.places)
        longest = min(self.tau, _NARROW if self.vertical and width > _WIDE else self.tau)
        for start in range(width):
            for stop in range(start + 1, min(width, start + longest) + 1):
                if (self.vertical or stop - start == width) and self._may_be_cut(start, stop):
                    span = self._span(start, stop)
                    if span is not None:
                        yield span

    def _may_be_cut(self, start: int, stop: int) -> bool:
        if len(self.places) > _WIDE and stop - start > 1 and (self.is_symbols[start] or self.is_symbols[stop - 1]):
            return False
        gap = self.places[start].gap
        return all(bool((place.gap == gap).all()) for place in self.places[start + 1 : stop])

    def _is_plain(self, start: int, stop: int) -> bool:
        """Whether words stay apart in values without this stretch: else it could not be told where one ends."""
        return start == 0 or stop == len(self.places) or self.is_symbols[start - 1] or self.is_symbols[stop]

    def _span(self, start: int, stop: int) -> _Span | None:
        places = self.places[start:stop]
        menu = menu_of(len(places), len(places) - sum(self.is_symbols[start:stop]))
        if menu is None:
            return None
        if menu is SHORT and len(places) < len(self.places):
            menu = FULL  # any symbols beside the next segment could be part of either, and matching would try both
        offered = tuple(place.offered(menu) for place in places)
        if not all(offered) or np.prod([float(len(each)) for each in offered]) > MOST_PATTERNS:
            return None
        keys = np.zeros(1, dtype=np.uint64)
        for at, (place, each) in enumerate(zip(places, offered, strict=True)):
            keys = (keys[:, None] + hashing.placed(place.keys[each], at)[None, :]).reshape(-1)
        optional = bool(self.weights[places[0].gap].sum() > self.tolerated)
        return _Span(start, stop, optional, offered, hashing.mix(keys))

    def chosen(self, span: _Span, rows: Rows) -> _Found | None:
        """The pattern of least score that enough values meet."""
        if self.vertical and span.stop - span.start == 1 and self.places[span.start].is_constant:
            return self._free(span)
        weighed = self.weigher(rows)
        sizes = [len(each) for each in span.offered]
        for at in self.weigher.ranked(weighed)[:_TRIED].tolist():
            picks = [each[pick] for each, pick in zip(span.offered, np.unravel_index(at, sizes), strict=True)]
            met = self._met(span, picks)
            if self.weights[~met].sum() <= self.tolerated:
                row = rows[at]
                rate = float(row["impurity"]) / ONE / max(int(row["columns"]), 1)
                pattern = self._pattern(span, picks)
                cost, miss = float(weighed.cost[at]), float(weighed.miss[at])
                return _Found(Segment(pattern, span.optional, int(row["columns"]), rate, cost, miss), met)
        return None

    def _free(self, span: _Span) -> _Found:
        picks = [0]  # the constant is the first choice of every place
        return _Found(Segment(self._pattern(span, picks), span.optional), self._met(span, picks))

    def _met(self, span: _Span, picks: Sequence[int]) -> Flags:
        places = self.places[span.start : span.stop]
        met = np.logical_and.reduce([place.meets[:, pick] for place, pick in zip(places, picks, strict=True)])
        return np.asarray(met | places[0].gap if span.optional else met)

    def _pattern(self, span: _Span, picks: Sequence[int]) -> Pattern:
        places = self.places[span.start : span.stop]
        chosen = zip(places, picks, strict=True)
        return Pattern(tuple(atom for place, pick in chosen for atom in place.atoms(self.tokens, pick)))

    def cheapest(self, found: dict[tuple[int, int], _Found]) -> Cut | None:
        """Equation 11 from left to right: the best cut up to a place is some segment after a best cut before it."""
        best: list[_Best | None] = [_Best(0.0, 0.0, 1.0, None, None)]
        for stop in range(1, len(self.places) + 1):
            ways = [
                self._extended(best[start], found[start, stop].segment, (start, stop))
                for start in range(stop)
                if (start, stop) in found and best[start] is not None
            ]
            best.append(min(ways, key=lambda way: way.score) if ways else None)
        last = best[-1]
        if last is None or last.cost > self.weigher.limit:
            return None
        chain: list[_Found] = []
        spans: list[tuple[int, int, bool]] = []
        gaps: list[Flags] = []
        while last is not None and last.last is not None:
            chain.insert(0, found[last.last])
            spans.insert(0, (*last.last, found[last.last].segment.optional))
            gaps.insert(0, self.places[last.last[0]].gap)
            last = last.before
        met = np.logical_and.reduce([each.met for each in chain])
        self.overspent = bool(self.weights[~met].sum() > self.tolerated)
        if self.overspent or all(each.segment.columns == 0 for each in chain):
            return None
        if not all(self._is_plain(*stretch) for stretch in _optional(spans, gaps)):
            return None
        return Cut(_joined([each.segment for each in chain], gaps), met)

    def _extended(self, before: _Best | None, segment: Segment, span: tuple[int, int]) -> _Best:
        assert before is not None
        cost, miss = before.cost + segment.cost, min(before.miss, segment.miss)
        return _Best(float(self.weigher.score(cost, miss)), cost, miss, span, before)


def _optional(spans: Sequence[tuple[int, int, bool]], gaps: Sequence[Flags]) -> Iterator[tuple[int, int]]:
    """The stretches that some values are without: optional segments next to each other with the same gaps are one."""
    begun = 0
    for at, (start, stop, optional) in enumerate(spans):
        goes_on = at > 0 and spans[at - 1][2] and bool((gaps[at] == gaps[at - 1]).all())
        begun = begun if goes_on else start
        ends = at + 1 == len(spans) or not spans[at + 1][2] or not bool((gaps[at] == gaps[at + 1]).all())
        if optional and ends:
            yield begun, stop


def _joined(segments: Sequence[Segment], gaps: Sequence[Flags]) -> tuple[Segment, ...]:
    """Optional segments next to each other, which the same values are without, are one."""
    joined: list[Segment] = []
    for at, segment in enumerate(segments):
        if joined and segment.optional and joined[-1].optional and bool((gaps[at] == gaps[at - 1]).all()):
            segment = _together(joined.pop(), segment)
        joined.append(segment)
    return tuple(joined)


def _together(one: Segment, other: Segment) -> Segment:
    return Segment(
        one.pattern + other.pattern,
        True,
        min((each.columns for each in (one, other) if each.columns), default=0),
        one.fpr + other.fpr,
        one.cost + other.cost,
        min(one.miss, other.miss),
    )
