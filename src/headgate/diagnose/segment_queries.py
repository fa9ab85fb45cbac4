"""Plans the scan that finds in which rows faults are: what is counted, by which columns, and what each fault does."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate, combinations
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from headgate.diagnose.column_pair import ColumnPair
from headgate.diagnose.diagnose import write_sentence
from headgate.diagnose.fault import Fit, faults
from headgate.diagnose.mixture import NEARLY_ALL
from headgate.diagnose.number_queries import NUMBER_FAULTS, plan_number_query
from headgate.diagnose.planned_query import PlannedQuery
from headgate.diagnose.segment_search import SegmentQuery
from headgate.diagnose.table_pair import TablePair
from headgate.diagnose.value_queries import plan_value_query
from headgate.engine.segment_fold import MOST_VALUES
from headgate.engine.segment_plan import SegmentColumn, Target
from headgate.values.diagnosis import Diagnosis
from headgate.values.schema import Column, Kind

MOST_COLUMNS, MOST_TARGETS = 40, 10
_MOST_IN_ALL = 4_000  # values of all segment columns
_MOST_HOURS, _HOUR_COLUMNS = 1_000, 3
_PAIRED, _MOST_OF_PAIRED = 4, 40  # columns that are paired, and their values
_REPEATED = 0.5  # of the rows, that a column may have different values, so that they are no segments
_LEAST_SHARE = 0.01  # of the rows, that the most frequent value of a segment column has
_OFTEN_SHARE, _OFTEN_ROWS = 0.1, 5  # of a value that is a segment beside many that have one row each
_SHARE_UNKNOWN = frozenset({"truncated", "encoding"})
"""Faults whose share of the rows is not that of the affected rows."""
_ALIKE = ("scaled", "shifted", "sign_flipped", "unit_with_offset")
"""Faults of a part of the rows that are told apart best once the rows are known."""
_MAX_SCORE, _MOST_ALIKE = 0.6, 3
_BY_CHANCE = 2.0  # the distance of two samples, times sqrt(1 / n + 1 / m), that chance hardly exceeds


class FaultQueries(NamedTuple):
    """A diagnosis, and a query for each of its columns."""

    diagnosis: Diagnosis
    queries: tuple[SegmentQuery, ...]


class SegmentScan(NamedTuple):
    """What one scan counts. `candidates` are those of each diagnosis by its position: the diagnosis, then others."""

    targets: tuple[Target, ...]
    columns: tuple[SegmentColumn, ...]
    pairs: tuple[tuple[SegmentColumn, SegmentColumn], ...]
    candidates: dict[int, list[FaultQueries]]


def plan_scan(diagnoses: Sequence[Diagnosis], table: TablePair) -> SegmentScan | None:
    """The scan that finds the rows of these faults; None if there is nothing to find."""
    targets: list[Target] = []
    candidates: dict[int, list[FaultQueries]] = {}
    asked = [(at, diagnosis) for at, diagnosis in enumerate(diagnoses) if _may_be_partial(diagnosis)]
    alike = [(at, other) for at, diagnosis in asked for other in _list_alike(diagnosis, table)]
    for at, diagnosis in [*asked, *alike]:
        planned = _plan_queries(diagnosis, table)
        wanted = list(dict.fromkeys([*targets, *(each.target for each in planned)]))
        if planned and len(wanted) <= MOST_TARGETS:
            targets = wanted
            queries = tuple(replace(each.query, target=targets.index(each.target)) for each in planned)
            candidates.setdefault(at, []).append(FaultQueries(diagnosis, queries))
    changed = {label for at in candidates for label in diagnoses[at].columns}
    columns = choose_segment_columns(table, changed)
    if not candidates or not columns:
        return None
    return SegmentScan(tuple(targets), tuple(columns), tuple(_pair_columns(columns, table)), candidates)


def _may_be_partial(diagnosis: Diagnosis) -> bool:
    return not diagnosis.segment and (diagnosis.share < NEARLY_ALL or diagnosis.fault in _SHARE_UNKNOWN)


def _list_alike(diagnosis: Diagnosis, table: TablePair) -> list[Diagnosis]:
    """Other faults that may have happened to a part of the numbers of a column instead, the likelier first."""
    if diagnosis.fault not in _ALIKE or len(diagnosis.columns) != 1 or diagnosis.columns[0] not in table.pairs:
        return []
    pair = table.pairs[diagnosis.columns[0]]
    fits = [fit for name in _ALIKE for fit in faults()[name].fit_column(pair) if fit.share < NEARLY_ALL]
    fits += _fit_in_segment(table, pair)
    others = [fit for fit in fits if (fit.fault, fit.parameters) != (diagnosis.fault, diagnosis.parameters)]
    likely = sorted((fit for fit in others if fit.score <= _MAX_SCORE), key=lambda fit: fit.score)[:_MOST_ALIKE]
    return [
        replace(
            diagnosis,
            fault=fit.fault,
            sentence=write_sentence(fit),
            parameters=fit.parameters,
            share=round(fit.share, 4),
            others=tuple(dict.fromkeys(name for name in (diagnosis.fault, *diagnosis.others) if name != fit.fault)),
            repairable=faults()[fit.fault].repairs,
            estimated=fit.estimated,
        )
        for fit in likely
    ]


def _fit_in_segment(table: TablePair, pair: ColumnPair) -> list[Fit]:
    """The faults of the whole segment whose numbers changed the most, among those whose history is kept."""
    changed: list[tuple[float, ColumnPair]] = []
    for segment in table.list_segment_pairs(pair.label):
        if segment.is_numeric and segment.now.present and segment.before.present:
            distance = float(np.abs(segment.cdf_now - segment.cdf_before).max())
            chance = _BY_CHANCE * np.sqrt(1 / segment.now.present + 1 / segment.before.present)
            changed += [(distance * segment.now.present, segment)] if distance > chance else []
    if not changed:
        return []
    _, segment = max(changed, key=lambda each: each[0])
    share = segment.now.present / max(1, pair.now.present)
    fits = [fit for name in _ALIKE for fit in faults()[name].fit_column(segment) if fit.share >= NEARLY_ALL]
    return [replace(fit, share=share) for fit in fits if share < NEARLY_ALL]


def _plan_queries(diagnosis: Diagnosis, table: TablePair) -> list[PlannedQuery]:
    """A query for each column of a diagnosis; none if one of them cannot be asked."""
    plan = plan_number_query if diagnosis.fault in NUMBER_FAULTS else plan_value_query
    found = [plan(diagnosis, table, label) for label in diagnosis.columns if label in table.pairs]
    known = [each for each in found if each is not None]
    return known if len(known) == len(diagnosis.columns) else []


def choose_segment_columns(table: TablePair, without: Collection[str] = ()) -> list[SegmentColumn]:
    """The columns with the fewest values, by the states of the batch, and the hours of timestamps.

    Args:
        table: The batch.
        without: Columns of which some rows are changed: these rows have values of their own in them.
    """
    every = [column for column in table.schema.columns if column.label not in without]
    counted = [(_count_values(column, table), at, column) for at, column in enumerate(every)]
    fewest = sorted((each for each in counted if each[0]), key=lambda each: each[:2])[:MOST_COLUMNS]
    sums = accumulate(count for count, _, _ in fewest)
    usable = [each for each, so_far in zip(fewest, sums, strict=True) if so_far <= _MOST_IN_ALL]
    chosen = [SegmentColumn(column.label) for _, _, column in sorted(usable, key=lambda each: each[1])]
    hours = [SegmentColumn(column.label, "hour") for column in every if _has_few_hours(column, table)]
    return [*chosen, *hours[:_HOUR_COLUMNS]]


def _count_values(column: Column, table: TablePair) -> int:
    """About how many different values a column has, nulls included; 0 if they do not divide the rows."""
    if column.repeated or column.kind in (Kind.OTHER, Kind.BINARY):
        return 0
    profile = table.profile(column.label)
    if column.kind in (Kind.FLOAT, Kind.DECIMAL) and (profile.numbers is None or not profile.numbers.whole):
        return 0
    largest = max([*profile.values.values(), 1.0 - profile.complete])
    if largest < _LEAST_SHARE:
        return 0
    count = round(profile.distinct) + (profile.present < profile.rows)
    divides = count <= max(2.0, _REPEATED * profile.rows)
    divides |= largest >= _OFTEN_SHARE and largest * profile.rows >= _OFTEN_ROWS
    return count if 2 <= count <= MOST_VALUES and divides else 0


def _has_few_hours(column: Column, table: TablePair) -> bool:
    if column.kind is not Kind.TIMESTAMP or column.repeated:
        return False
    numbers = table.profile(column.label).numbers
    return numbers is not None and 3600.0 < numbers.high - numbers.low < 3600.0 * _MOST_HOURS


def _pair_columns(columns: Sequence[SegmentColumn], table: TablePair) -> list[tuple[SegmentColumn, SegmentColumn]]:
    """Pairs of the columns with the fewest values."""
    counts = {each: table.profile(each.column).distinct for each in columns if each.kind == "value"}
    few = sorted((each for each in counts if counts[each] <= _MOST_OF_PAIRED), key=lambda each: counts[each])
    return list(combinations(few[:_PAIRED], 2))
