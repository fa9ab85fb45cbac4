"""Finds in which rows faults are, by one more scan of the batch, and names these rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from headgate.diagnose.number_queries import NUMBER_FAULTS
from headgate.diagnose.segment_queries import FaultQueries, plan_scan
from headgate.diagnose.segment_search import FoundSegment, find_segment
from headgate.diagnose.segment_wording import describe_rows
from headgate.diagnose.table_pair import TablePair
from headgate.display.numbers import format_share
from headgate.engine.segment_counts import count_segments
from headgate.engine.segment_plan import SegmentCounts
from headgate.metrics.base.hashing import hash_label
from headgate.values.diagnosis import Diagnosis, LocatedRows
from headgate.values.expectation import Segment

_ALL = 0.97  # of the rows of a segment
_CONFIDENCE = 0.75  # in a fault whose segment explains all of the change
_BETTER = 0.03  # of the change, that another fault must explain more
_PART = re.compile(r" in (about )?[0-9.]+% of (the rows|its values|their values)$")
_LOST = re.compile(r" lost [0-9.]+% of (its|their) values$")


def locate_faults(diagnoses: Sequence[Diagnosis], table: TablePair, data: Any) -> tuple[Diagnosis, ...]:
    """The diagnoses, those of a fault in one segment with the segment, after one scan of the batch.

    Values of segments are hashed if the past hides values. Nothing is read if there is nothing to find.

    Args:
        diagnoses: What happened to the batch.
        table: The batch beside the runs before.
        data: The batch, as `analyze` takes it.
    """
    scan = plan_scan(diagnoses, table)
    if scan is None:
        return tuple(diagnoses)
    counts = _order_tables(count_segments(data, scan.targets, scan.columns, pairs=scan.pairs, hidden=True))
    return tuple(
        _choose_located(diagnosis, scan.candidates.get(at, ()), counts, table.past.secret)
        for at, diagnosis in enumerate(diagnoses)
    )


def _choose_located(
    diagnosis: Diagnosis, candidates: Sequence[FaultQueries], counts: SegmentCounts, secret: bytes | None
) -> Diagnosis:
    """The diagnosis with its segment; another fault of the same values if its segment explains them better."""
    best, explained = diagnosis, 0.0
    for candidate in candidates:
        if explained > 1.0 - _BETTER:
            break
        found = _find_common_segment(candidate, counts)
        if found is not None and min(1.0, found.explained) > explained + (_BETTER if best.segment else 0.0):
            best, explained = _add_segment(candidate.diagnosis, found, counts, secret), min(1.0, found.explained)
    return best


def _order_tables(counts: SegmentCounts) -> SegmentCounts:
    """The counts with those by Spark partition last: of two that say the same, the first is named."""
    tables = sorted(counts.tables, key=lambda table: any(column.kind == "task" for column in table.columns))
    return replace(counts, tables=tuple(tables))


def _find_common_segment(candidate: FaultQueries, counts: SegmentCounts) -> FoundSegment | None:
    """The segment of a fault, if all of its columns have it in the same one."""
    if candidate.diagnosis.fault in NUMBER_FAULTS:
        # of a change that is not known exactly, a part of the right rows may explain more than all of them
        counts = replace(counts, tables=tuple(each for each in counts.tables if len(each.columns) < 2))
    found = [find_segment(counts, query) for query in candidate.queries]
    first = found[0]
    if first is None or any(each is None or set(each.segment) != set(first.segment) for each in found):
        return None
    return first


def _add_segment(diagnosis: Diagnosis, found: FoundSegment, counts: SegmentCounts, secret: bytes | None) -> Diagnosis:
    rate = found.rate_inside if found.rate_inside < _ALL else 1.0
    return replace(
        diagnosis,
        segment=hide_values(found, secret),
        share=round(found.share * rate, 4),
        located=LocatedRows(*(round(each, 4) for each in (found.share, rate, found.rate_outside))),
        confidence=max(diagnosis.confidence, round(_CONFIDENCE * min(1.0, found.explained), 3)),
        sentence=_extend_sentence(diagnosis.sentence, rate, _describe_segment(found, counts, secret)),
    )


def hide_values(found: FoundSegment, secret: bytes | None) -> Segment:
    """The segment as it is recorded: with hashes for values of a store that hides them.

    Hours and numbers of Spark partitions stay: a store keeps the first and the last time of a column too.
    """
    if secret is None:
        return found.segment
    kept = {column.label for column in found.columns if column.kind in ("hour", "task")}
    return tuple(
        (label, value if value is None or label in kept else hash_label(value, secret))
        for label, value in found.segment
    )


def _describe_segment(found: FoundSegment, counts: SegmentCounts, secret: bytes | None) -> str:
    """The rows of a segment in words that follow "all rows"."""
    recorded = hide_values(found, secret)
    words = []
    for column in found.columns:
        values = [value for label, value in recorded if label == column.label]
        every = [names[0] for table in counts.tables if table.columns == (column,) for names in table.values]
        words.append(describe_rows(column, list(dict.fromkeys(values)), every, hidden=secret is not None))
    return " and ".join([words[0], *(each.removeprefix("where ") for each in words[1:])])


def _extend_sentence(sentence: str, rate: float, rows: str) -> str:
    """The sentence with the rows instead of their share.

    >>> _extend_sentence("price looks multiplied by 100 in about 23% of the rows", 1.0, "where carrier is EV")
    'price looks multiplied by 100 in all rows where carrier is EV'
    >>> _extend_sentence("price lost 23.1% of its values", 1.0, "where carrier is EV")
    'price is empty in all rows where carrier is EV'
    """
    lost = _LOST.search(sentence)
    if lost is not None:
        name, verb = sentence[: lost.start()], "is" if lost[1] == "its" else "are"
        whole, part = f"{name} {verb} empty", f"{name} lost {format_share(rate)} of {lost[1]} values"
        return f"{whole} in all rows {rows}" if rate == 1 else f"{part} in the rows {rows}"
    part = "all" if rate == 1 else f"{format_share(rate)} of the"
    return f"{_PART.sub('', sentence)} in {part} rows {rows}"
