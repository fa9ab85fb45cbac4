"""Names the value whose rows are missing or are there twice, by the frequent values of a batch and of the past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from headgate.diagnose.column_pair import VALUES, ColumnPair, measure_difference
from headgate.diagnose.faults.rows_missing import find_lost_values
from headgate.diagnose.segment_search import MOST_NAMED
from headgate.diagnose.segment_wording import describe_rows
from headgate.diagnose.table_pair import TablePair
from headgate.display.numbers import format_share
from headgate.engine.segment_plan import SegmentColumn
from headgate.values.diagnosis import Diagnosis
from headgate.values.expectation import Segment

_LISTED = 0.95
_LEFT = 0.4  # of the difference of the values, that repeated rows of one value leave
_NEAR, _NEAR_PART = 0.03, 0.15  # by which the share of a value may differ from that of the repeated rows
_MIN_SHARE = 0.02


class _Repeated(NamedTuple):
    """A value whose rows may be there twice, and the part of the difference of its column that this leaves."""

    left: float
    label: str
    name: str


def name_row_segments(diagnoses: Iterable[Diagnosis], table: TablePair) -> tuple[Diagnosis, ...]:
    """The diagnoses, those of rows that are missing or repeated with the values of these rows, if these are known."""
    return tuple(_name_segment(each, table) for each in diagnoses)


def _name_segment(diagnosis: Diagnosis, table: TablePair) -> Diagnosis:
    if diagnosis.fault == "rows_missing" and len(diagnosis.columns) == 1 and diagnosis.columns[0] in table.pairs:
        return _name_lost_values(diagnosis, table.pairs[diagnosis.columns[0]], hidden=table.past.secret is not None)
    if diagnosis.fault == "rows_duplicated" and "share" in diagnosis.parameters:
        return _name_repeated_value(diagnosis, table)
    return diagnosis


def _name_lost_values(diagnosis: Diagnosis, pair: ColumnPair, hidden: bool) -> Diagnosis:
    lost = find_lost_values(pair)
    if not 0 < len(lost) <= MOST_NAMED or diagnosis.parameters.get("share") != round(sum(lost.values()), 6):
        return diagnosis
    names = sorted(lost, key=lambda name: -lost[name])
    rows = describe_rows(SegmentColumn(pair.label), names, hidden=hidden)
    sentence = f"the rows {rows} are missing ({format_share(diagnosis.share)} of the rows)"
    return replace(diagnosis, sentence=sentence, segment=_make_segment(pair.label, names))


def _name_repeated_value(diagnosis: Diagnosis, table: TablePair) -> Diagnosis:
    found = [each for pair in table.pairs.values() for each in _find_repeated(pair, diagnosis.share)]
    if not found:
        return diagnosis
    best = min(found)
    rows = describe_rows(SegmentColumn(best.label), [best.name], hidden=table.past.secret is not None)
    sentence = f"all rows {rows} are there twice ({format_share(diagnosis.share)} of the rows)"
    return replace(diagnosis, sentence=sentence, segment=_make_segment(best.label, [best.name]))


def _make_segment(label: str, names: Iterable[str]) -> Segment:
    return tuple((label, name) for name in names)


def _find_repeated(pair: ColumnPair, repeated: float) -> Iterator[_Repeated]:
    """The values of a column whose rows make up the repeated ones, and whose share rose as if they were there twice."""
    before, changed = pair.before.values, measure_difference(pair.named, pair.before.values)
    if min(pair.now.listed, pair.before.listed) < _LISTED or not pair.baseline.get(VALUES):
        return
    for name, share in before.items():
        added = share / (1.0 + share)
        if share < _MIN_SHARE or abs(added - repeated) > _NEAR + _NEAR_PART * repeated:
            continue
        left = measure_difference(pair.named, _repeat_value(before, name)) / changed
        if left < _LEFT:
            yield _Repeated(left, pair.label, name)


def _repeat_value(shares: Mapping[str, float], name: str) -> dict[str, float]:
    """The shares of values if the rows with one of them are there twice."""
    rows = 1.0 + shares[name]
    return {each: share * (2.0 if each == name else 1.0) / rows for each, share in shares.items()}
