"""Finds the segment whose rows a fault has changed, in the counts of one scan."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from headgate.diagnose.segment_evidence import AffectedBins, SegmentEvidence, UndoneBins
from headgate.engine.segment_plan import SegmentColumn, SegmentCounts, SegmentTable, Values
from headgate.values.expectation import Segment

Floats: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]

MOST_NAMED = 3
"""A segment is named by at most so many values of one column, or by a run of consecutive hours."""
_SEEDS = 8  # values of a table that are looked at
_GROWN = 4  # and to which others are added
_ALL_RUNS = 48
_MARGIN = 3.0  # bits by which a segment must be better than none
_MORE = 6.0  # bits by which a further value or column must improve a segment, beyond the cost of naming it
_LEAST_EXPLAINED = 0.75


class SegmentQuery(msgspec.Struct, frozen=True, eq=False):
    """What a fault does to the bins of a target. Either `undo` or `affected` is given.

    Args:
        target: The position of the target among those of the scan.
        expected: The share of each bin in a good batch; with `keep` and `undo`, of each bin after them.
        undo: For each bin of an affected row, the shares of the bins it had before: an array of bins x good bins.
        keep: The same for a row that is not affected: for bins that are finer than those of `expected`.
        changed: The share of each bin if the fault were in all rows; by default estimated from `undo`.
        affected: The bins that only affected rows have, but for the share of them in `expected`.
        neutral: Bins of rows that cannot show whether they are affected, such as nulls, or texts without letters.
        expected_rows: The number of rows behind `expected`. Shares also differ from day to day, so it has a limit.
        least_rate: The least share of the rows of a segment that have an affected bin.
        expect_segment: Tells the expected shares of a single segment, where its history is kept.
    """

    target: int
    expected: Floats
    undo: Floats | None = None
    keep: Floats | None = None
    changed: Floats | None = None
    affected: Mask | None = None
    neutral: Mask | None = None
    expected_rows: int = 20_000
    least_rate: float = 0.8
    expect_segment: Callable[[SegmentColumn, str | None], Floats | None] | None = None


class FoundSegment(msgspec.Struct, frozen=True):
    """The segment that explains a fault.

    Several pairs of the same column mean one of these values. `share` is its part of the rows. `rate_inside` and
    `rate_outside` are the shares of affected rows; they are 1 and 0 where a fault can only be seen in the distribution.
    `explained` is the part of the change that it explains, `bits` the evidence for it beyond the cost of naming it.
    `also` are other segments that explain it as well, or nearly.
    """

    segment: Segment
    columns: tuple[SegmentColumn, ...]
    share: float
    rate_inside: float
    rate_outside: float
    explained: float
    bits: float
    also: tuple[Segment, ...] = ()


class _ScoredSegment(NamedTuple):
    """Some values of a table, and the bits by which they are better than no segment."""

    table: SegmentTable
    rows: tuple[int, ...]
    bits: float
    evidence: SegmentEvidence


def find_segment(counts: SegmentCounts, query: SegmentQuery) -> FoundSegment | None:
    """The smallest description of the rows that a fault has changed; None if it is spread over the rows.

    A candidate is the better, the nearer the batch comes to what is expected once its rows are restored, and the more
    its own rows look changed. What it takes to name it, in bits, is the price.
    """
    singles = [table for table in counts.tables if len(table.columns) == 1 and len(table.values) > 1]
    pairs = [table for table in counts.tables if len(table.columns) > 1]
    if not singles and not pairs:
        return None
    found = [each for table in singles for each in _search_table(table, query, len(singles))]
    best = max(found, key=lambda each: each.bits, default=None)
    both = [each for table in pairs for each in _search_table(table, query, len(pairs))]
    better = max(both, key=lambda each: each.bits, default=None)
    if better is not None and (best is None or better.bits > best.bits + _MORE):
        best = better
    if best is None or best.bits < _MARGIN:
        return None
    return _describe(best, [*found, *both], counts)


def _search_table(table: SegmentTable, query: SegmentQuery, tables: int) -> Iterator[_ScoredSegment]:
    """The single values and the sets of values of a table that explain the fault."""
    evidence = _measure_evidence(table, query)
    naming, value_bits = math.log2(tables) + 2.0, math.log2(len(table.values))
    singles = np.arange(len(table.values))[:, None]
    worth = evidence.score_sets(singles) / math.log(2)
    seeds = np.argsort(-worth, kind="stable")[:_SEEDS].tolist()
    for seed in seeds:
        yield from _admit_candidate(table, (seed,), float(worth[seed]) - naming - value_bits, evidence)
    if len(table.columns) > 1:
        return
    for seed in seeds[:_GROWN]:
        yield from _grow_set(table, seed, evidence, naming)
    if table.columns[0].kind == "hour":
        yield from _search_runs(table, evidence, naming + 2 * value_bits)


def _grow_set(table: SegmentTable, seed: int, evidence: SegmentEvidence, naming: float) -> Iterator[_ScoredSegment]:
    """Sets of values: the value that explains most is added, while something is left to explain."""
    rows: tuple[int, ...] = (seed,)
    count = len(table.values)
    for size in range(2, min(MOST_NAMED, count - 1) + 1):
        if evidence.is_complete(rows):
            return
        others = np.array([row for row in range(count) if row not in rows])
        added = evidence.score_sets(np.column_stack([np.tile(rows, (len(others), 1)), others])) / math.log(2)
        best = int(np.argmax(added))
        rows = (*rows, int(others[best]))
        price = naming + 1.0 + size * math.log2(count) - math.log2(math.factorial(size)) + _MORE * (size - 1)
        yield from _admit_candidate(table, rows, float(added[best]) - price, evidence)


def _measure_evidence(table: SegmentTable, query: SegmentQuery) -> SegmentEvidence:
    counts = table.counts[query.target].astype(np.float64)
    own = [query.expect_segment and query.expect_segment(table.columns[0], names[0]) for names in table.values]
    if len(table.columns) > 1:
        own = [None] * len(own)
    if query.affected is None:
        assert query.undo is not None
        kept = counts if query.keep is None else counts @ query.keep
        known = [None if each is None else (each, _change_shares(each, query)) for each in own]
        changed = _change_shares(query.expected, query) if query.changed is None else query.changed
        return UndoneBins(kept, counts @ query.undo, query.expected, changed, known, query.expected_rows)
    decisive = np.ones(len(query.affected)) if query.neutral is None else (~query.neutral).astype(np.float64)
    hit = decisive * query.affected

    def find_rate(shares: Floats) -> float:
        return float(shares @ hit) / max(float(shares @ decisive), 1e-12)

    rates = [None if each is None else find_rate(each) for each in own]
    return AffectedBins(
        counts @ decisive, counts @ hit, find_rate(query.expected), rates, query.expected_rows, query.least_rate
    )


def _change_shares(shares: Floats, query: SegmentQuery) -> Floats:
    """About the shares of the bins if the fault were in all rows: those of a bin spread evenly over where it goes."""
    assert query.undo is not None
    sources = query.undo / np.maximum(query.undo.sum(0), 1e-12)
    affected: Floats = sources @ shares
    return affected if query.keep is None else affected @ query.keep


def _search_runs(table: SegmentTable, evidence: SegmentEvidence, price: float) -> Iterator[_ScoredSegment]:
    """The best run of consecutive hours; of many hours, one that begins with the first or ends with the last."""
    count = len(table.values)
    ends = [(0, end) for end in range(2, count)] + [(start, count) for start in range(1, count - 1)]
    if count <= _ALL_RUNS:
        ends = [(start, end) for start in range(count) for end in range(start + 2, count + 1)]
    if not ends:
        return
    places = np.arange(count)
    starts, stops = np.array(ends).T[:, :, None]
    sets = np.where((starts <= places) & (places < stops), places, -1)
    scores = evidence.score_sets(sets)
    best = int(np.argmax(scores))
    rows = tuple(range(*ends[best]))
    yield from _admit_candidate(table, rows, float(scores[best]) / math.log(2) - price - _MORE, evidence)


def _admit_candidate(
    table: SegmentTable, rows: tuple[int, ...], bits: float, evidence: SegmentEvidence
) -> Iterator[_ScoredSegment]:
    if bits > 0 and len(rows) < len(table.values) and evidence.explains(rows, _LEAST_EXPLAINED):
        yield _ScoredSegment(table, rows, bits, evidence)


def _describe(best: _ScoredSegment, found: Sequence[_ScoredSegment], counts: SegmentCounts) -> FoundSegment:
    inside, outside = best.evidence.measure_rates(best.rows)
    as_good = [each for each in found if each is not best and each.bits > 0.9 * best.bits - 1]
    as_good = [each for each in as_good if each.table.columns != best.table.columns and len(each.table.columns) == 1]
    size = int(best.table.counts[-1][list(best.rows)].sum())
    return FoundSegment(
        _name(best),
        best.table.columns,
        size / counts.rows,
        inside,
        outside,
        best.evidence.measure_explained(best.rows),
        best.bits,
        tuple(_name(each) for each in sorted(as_good, key=lambda each: -each.bits))[:3],
    )


def _name(found: _ScoredSegment) -> Segment:
    values: list[Values] = [found.table.values[row] for row in found.rows]
    labels = [column.label for column in found.table.columns]
    return tuple((label, value) for names in values for label, value in zip(labels, names, strict=True))


def split_bins(edges: Sequence[float] | Floats, change: Callable[[Floats], Floats]) -> tuple[Floats, Floats, Floats]:
    """The edges to count by, and `keep` and `undo` for them, so that a fault of numbers is undone without loss.

    The edges to count by are those given and those after the change. `keep` and `undo` include the bins of nulls and
    NaN, which stay as they are.

    >>> finer, keep, undo = split_bins([10.0], lambda values: values * 2)
    >>> finer.tolist(), keep[:3, :2].tolist(), undo[:3, :2].tolist()
    ([10.0, 20.0], [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])

    Args:
        edges: The edges of the bins of `expected`, in rising order.
        change: What the fault does to a value: a function that only rises, or only falls.
    """
    given = np.asarray(edges, np.float64)
    moved = np.asarray(change(given), np.float64)
    falls = len(given) > 1 and moved[-1] < moved[0]
    if falls or (len(given) == 1 and change(given + 1.0)[0] < moved[0]):
        falls, moved = True, np.nextafter(moved, np.inf)
    finer = np.unique(np.concatenate([given, moved]))
    # the bins before and after each finer edge, by the edges that are at or below its lower end
    lower = np.concatenate([[-np.inf], finer])
    kept = np.searchsorted(given, lower, "right")
    undone = np.searchsorted(np.sort(moved), lower, "right")
    return finer, _as_matrix(kept, len(given)), _as_matrix(len(given) - undone if falls else undone, len(given))


def _as_matrix(places: npt.NDArray[np.intp], edges: int) -> Floats:
    matrix = np.zeros((len(places) + 2, edges + 3))
    matrix[np.arange(len(places)), places] = 1.0
    matrix[len(places), edges + 1] = matrix[len(places) + 1, edges + 2] = 1.0
    return matrix
