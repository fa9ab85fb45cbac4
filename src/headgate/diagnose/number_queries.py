"""What a fault of numbers or times does to the bins of its column, so that its rows can be found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headgate.diagnose.column_pair import ColumnPair, Floats
from headgate.diagnose.column_profile import ColumnContents
from headgate.diagnose.planned_query import PlannedQuery, limit_rows
from headgate.diagnose.segment_search import SegmentQuery, split_bins
from headgate.diagnose.table_pair import TablePair
from headgate.engine.segment_plan import SegmentColumn, Target
from headgate.metrics.completeness import Completeness
from headgate.metrics.states.counts import MatchCount
from headgate.metrics.states.quantiles import Quantiles
from headgate.values.diagnosis import Diagnosis, FaultParameters
from headgate.values.key import MetricKey

Change = Callable[[Floats], Floats]

NUMBER_FAULTS = frozenset({"scaled", "shifted", "sign_flipped", "unit_with_offset", "time_shifted"})

_BINS = 32
_BEYOND = 0.1  # of the range of the usual numbers, that others lie beyond it by chance
_ALIKE = 1.6  # by how many times 1 / sqrt(n) the newest run may differ from all runs by chance
_MIN_RUNS = 6
_DISTANCE_BY_CHANCE = 1.36  # that one of twenty distances of two samples exceeds, times sqrt(1 / n + 1 / m)


def plan_number_query(diagnosis: Diagnosis, table: TablePair, label: str) -> PlannedQuery | None:
    """The bins that show in which rows the numbers of a column were changed; None if those of the past are unknown."""
    pair = table.pairs[label]
    numbers = _choose_reference(pair, ColumnContents.of(table.old_columns[label], table.past.merged))
    if numbers is None or not pair.is_ordered or pair.now.numbers is None:
        return None
    change, inverse = _find_change(diagnosis.fault, diagnosis.parameters)
    edges = choose_edges(numbers)
    falls = diagnosis.fault == "sign_flipped"
    sources = inverse(edges + pair.step) - pair.step
    below = 1.0 - numbers.share_up_to(sources) if falls else numbers.share_below(sources)
    finer, keep, undo = split_bins(edges + pair.step, change)
    query = SegmentQuery(
        0,
        _share_bins(numbers.share_below(edges), pair.now.complete),
        undo=undo,
        keep=keep,
        changed=_share_bins(below, pair.now.complete),
        expected_rows=_count_expected(table, pair, numbers.total),
        expect_segment=_expect_segments(table, label, edges) if table.past.segments and not pair.step else None,
    )
    return PlannedQuery(Target(pair.label, edges=tuple(finer.tolist())), query)


def _expect_segments(
    table: TablePair, label: str, edges: Floats
) -> Callable[[SegmentColumn, str | None], Floats | None]:
    """Tells the usual shares of the bins in the rows of a segment."""

    def expect(column: SegmentColumn, value: str | None) -> Floats | None:
        numbers = table.find_segment_state(MetricKey("quantiles", (label,)), column, value)
        counted = table.find_segment_state(Completeness(label).state_key, column, value)
        if not isinstance(numbers, Quantiles) or not numbers.total or not isinstance(counted, MatchCount):
            return None
        return _share_bins(numbers.share_below(edges), counted.matched / max(1, counted.seen))

    return expect


def _find_change(fault: str, parameters: FaultParameters) -> tuple[Change, Change]:
    """What a fault does to numbers, and what undoes it."""
    match fault:
        case "scaled":
            factor = float(parameters["factor"])
            return lambda numbers: numbers * factor, lambda numbers: numbers / factor
        case "sign_flipped":
            return np.negative, np.negative
        case "unit_with_offset" if parameters["unit"] == "fahrenheit":
            return lambda numbers: numbers * 1.8 + 32.0, lambda numbers: (numbers - 32.0) / 1.8
        case "unit_with_offset":
            return lambda numbers: (numbers - 32.0) / 1.8, lambda numbers: numbers * 1.8 + 32.0
    offset = float(parameters["offset" if fault == "shifted" else "seconds"])
    return lambda numbers: numbers + offset, lambda numbers: numbers - offset


def choose_edges(numbers: Quantiles) -> Floats:
    """Edges between which about equal shares of the numbers lie, none of them a number that occurs, and both ends.

    >>> choose_edges(Quantiles.of(np.array([1.0, 2.0, 2.0, 4.0]))).tolist()
    [0.5, 1.5, 3.0, 4.5]
    """
    bins = numbers.bins()
    low, high = numbers.low, numbers.high
    between = (bins.upper_ends[:-1] + bins.lower_ends[1:]) / 2.0
    between = between[(low < between) & (between < high)]
    shares = numbers.share_below(between)
    ranks = np.arange(1, _BINS) / _BINS
    places = np.searchsorted(shares, ranks)
    chosen = np.unique(np.minimum(places, len(between) - 1)) if len(between) else np.empty(0, np.int64)
    margin = _BEYOND * (high - low) or abs(high) or 1.0
    margin = max(margin, 0.5) if numbers.whole else margin
    return np.concatenate([[low - margin], between[chosen], [high + margin]])


def _share_bins(below: Floats, complete: float) -> Floats:
    """The shares of the bins between edges, then of nulls and of NaN, from the shares below the edges."""
    shares = np.diff(np.concatenate([[0.0], below, [1.0]]))
    return np.concatenate([np.maximum(shares, 0.0) * complete, [1.0 - complete, 0.0]])


def _choose_reference(pair: ColumnPair, usual: ColumnContents) -> Quantiles | None:
    """The numbers of all runs, if the newest run is like them; else those of the newest run."""
    newest, every = pair.before.numbers, usual.numbers
    if newest is None or every is None or pair.step:
        return newest
    points = pair.before.points
    distance = float(np.abs(newest.share_up_to(points) - every.share_up_to(points)).max())
    return every if distance <= _ALIKE / np.sqrt(newest.total) else newest


def _count_expected(table: TablePair, pair: ColumnPair, rows: int) -> int:
    """For how many rows the expected shares stand: fewer if they differ from run to run by more than chance."""
    key = MetricKey("ks_dist", (pair.label,))
    series = table.past.series(key) if any(each.key == key for each in table.past.metrics) else np.empty(0)
    distances = series[np.isfinite(series)]
    if len(distances) < _MIN_RUNS or pair.step:
        return limit_rows(rows)
    usual = float(np.quantile(distances, 0.95)) / _DISTANCE_BY_CHANCE
    by_day = max(0.0, usual**2 / 2.0 - 1.0 / max(1, pair.before.present))
    return limit_rows(1.0 / (by_day + 1.0 / max(1, rows)))
