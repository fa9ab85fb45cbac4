"""Which values only the rows of a fault have: nulls, a placeholder, texts in another form."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from headgate.diagnose.column_pair import NULLS, ColumnPair
from headgate.diagnose.faults.placeholder import find_stand_in, was_written_for_nulls
from headgate.diagnose.planned_query import PlannedQuery, limit_rows
from headgate.diagnose.segment_search import Floats, SegmentQuery
from headgate.diagnose.table_pair import TablePair
from headgate.engine.segment_plan import SegmentColumn, Target
from headgate.metrics.completeness import Completeness
from headgate.metrics.states.counts import MatchCount
from headgate.values.diagnosis import Diagnosis
from headgate.values.schema import ORDERED, TEMPORAL, Kind

_LISTED = 0.95  # of the values, from which on all are counted by their labels
_MOST_LABELS = 400
_SOME_OF_ROWS = 0.25  # of the rows of a segment that lost their values, or have a placeholder
_SOME_ROWS = 0.6  # of the rows of a segment whose time is plainly of another day
_FORMS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "sentence": str.capitalize,
}
_CASES = {
    "lower": r"^\P{Lu}*\p{Ll}\P{Lu}*$",
    "upper": r"^\P{Ll}*\p{Lu}\P{Ll}*$",
    "title": r"^\P{L}*(\p{Lu}\p{Ll}*\P{L}+)*\p{Lu}\p{Ll}*\P{L}*$",
    "sentence": r"^\P{L}*\p{Lu}\P{Lu}*$",
}
_NO_LETTERS = r"^\P{L}*$"
_PADDED = r"^\s|\s$"
_ASCII = r"^[\x00-\x7F]*$"
_MISREAD = {
    "Latin-1": r"[\x{C2}-\x{F4}][\x{80}-\x{BF}]",
    "Windows-1252": r"[\x{C2}-\x{F4}][\x{80}-\x{BF}\x{152}-\x{192}\x{2C6}-\x{2DC}\x{2013}-\x{203A}\x{20AC}\x{2122}]",
    "unknown": r"\x{FFFD}",
}
_SYMBOLS = {
    "9": "0-9",
    "A": "A-Z",
    "a": "a-z",
    "Aa": "A-Za-z",
    "X": "A-Z0-9",
    "x": "a-z0-9",
    "Xx": "A-Za-z0-9",
}
_RUN = re.compile("(Xx|Aa|X|x|A|a|9)(é?)|(.)", re.DOTALL)


def plan_value_query(diagnosis: Diagnosis, table: TablePair, label: str) -> PlannedQuery | None:
    """The bins that only the rows of a fault have; None if no bin of a column tells them from others."""
    pair = table.pairs[label]
    match diagnosis.fault:
        case "nulls":
            return _plan_nulls(pair, table)
        case "placeholder":
            return _plan_placeholder(pair)
        case "casing" if pair.is_text:
            return _plan_casing(pair, str(diagnosis.parameters["case"]))
        case "padding" if pair.is_text:
            usual = sum(share for pattern, share in pair.before.patterns.items() if pattern != pattern.strip())
            return _plan_patterns(pair, [_PADDED], usual, affected=0)
        case "encoding" if pair.is_text:
            misread = _MISREAD[str(diagnosis.parameters["encoding"])]
            if misread == _MISREAD["unknown"]:
                return _plan_patterns(pair, [misread], 0.0, affected=0)
            return _plan_patterns(pair, [_ASCII, misread], 0.0, affected=1, neutral=0)
        case "date_format" if pair.is_text:
            return _plan_new_patterns(pair)
        case "truncated" if pair.is_text:
            return _plan_truncated(pair, int(diagnosis.parameters["characters"]))
        case "category_renamed" | "category_split" if pair.is_text:
            return _plan_new_labels(pair)
        case "day_month_swapped":
            return _plan_other_days(pair)
    return None


# --- missing values


def _plan_nulls(pair: ColumnPair, table: TablePair) -> PlannedQuery | None:
    kind = pair.now.kind
    if kind is not Kind.STRING and kind not in ORDERED:
        return None
    target = Target(pair.label, of="length" if kind is Kind.STRING else "value")
    missing, noise = 1.0 - pair.before.complete, pair.noise.get(NULLS, 0.0)
    spread = missing * (1.0 - missing) / max(noise, 1e-9) ** 2 if missing else float(pair.before.rows)

    def expect(column: SegmentColumn, value: str | None) -> Floats | None:
        """The usual shares in the rows of a segment."""
        state = table.find_segment_state(Completeness(pair.label).state_key, column, value)
        if not isinstance(state, MatchCount) or not state.seen:
            return None
        present = state.matched / state.seen
        return np.array([present, 1.0 - present, 0.0])

    query = SegmentQuery(
        0,
        np.array([1.0 - missing, missing, 0.0]),
        affected=np.array([False, True, False]),
        least_rate=_SOME_OF_ROWS,
        expected_rows=limit_rows(spread),
        expect_segment=expect if table.past.segments else None,
    )
    return PlannedQuery(target, query)


def _plan_placeholder(pair: ColumnPair) -> PlannedQuery | None:
    found = find_stand_in(pair)
    if found is None or was_written_for_nulls(pair, found[1]):
        return None
    text, usual = found[0], pair.before.values.get(pair.name_value(found[0]), 0.0)
    if pair.now.kind is Kind.STRING:
        return _plan_labels(pair, [text], {text}, {text: usual}, least_rate=_SOME_OF_ROWS)
    number = _read_number(text, pair.now.kind)
    if number is None or pair.now.kind not in ORDERED:
        return None
    width = max(abs(number) * 1e-12, 1e-300)
    target = Target(pair.label, edges=(number - width, number + width))
    expected = np.array([(1.0 - usual) / 2.0, usual, (1.0 - usual) / 2.0, 0.0, 0.0])
    places = np.arange(target.bins)
    query = SegmentQuery(
        0,
        expected,
        affected=places == 1,
        neutral=places == target.null_bin,
        expected_rows=_count_usual(pair),
        least_rate=_SOME_OF_ROWS,
    )
    return PlannedQuery(target, query)


def _read_number(text: str, kind: Kind) -> float | None:
    """The number of a value by its label, in seconds since 1970 for a time."""
    try:
        if kind not in TEMPORAL:
            return float(text)
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None


# --- texts in another form


def _plan_casing(pair: ColumnPair, case: str) -> PlannedQuery:
    form = _FORMS[case]
    if _has_all_labels(pair):

        def is_changed(text: str) -> bool:
            """Whether a run before had the text in another case, and none as it is."""
            others = (change(text) for change in _FORMS.values())
            return not pair.knows_value(text) and any(each != text and pair.knows_value(each) for each in others)

        affected = [text for text in pair.now.values if is_changed(text)]
        if affected:
            as_before = [text for text in pair.now.values if pair.knows_value(text) and text == form(text)]
            return _plan_labels(pair, [*affected, *as_before], set(affected), {}, set(as_before))
    usual = _share_form(pair.before.patterns, case)
    return _plan_patterns(pair, [_NO_LETTERS, _CASES[case]], usual, affected=1, neutral=0)


def _share_form(patterns: Mapping[str, float], case: str) -> float:
    """The share of the usual texts with letters that were written in a case already, by their patterns."""
    with_letters = {pattern: share for pattern, share in patterns.items() if re.search("[AaXx]", pattern)}
    form = _FORMS[case]
    alike = sum(share for pattern, share in with_letters.items() if case != "title" and pattern == form(pattern))
    return alike / sum(with_letters.values()) if with_letters else 0.0


def _plan_truncated(pair: ColumnPair, most: int) -> PlannedQuery:
    """Texts of just so many characters that no run had; those that are shorter, or usual, show nothing."""
    new = [text for text in pair.now.values if not pair.knows_value(text) and len(text) == most]
    if new and _has_all_labels(pair):
        short = [text for text in pair.now.values if pair.knows_value(text) and len(text) <= most]
        return _plan_labels(pair, [*new, *short], set(new), {}, set(short))
    target = Target(pair.label, edges=(float(most), float(most + 1)), of="length")
    expected = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    affected = np.arange(target.bins) == 1
    neutral = np.isin(np.arange(target.bins), (0, target.null_bin))
    query = SegmentQuery(0, expected, affected=affected, neutral=neutral, expected_rows=_count_usual(pair))
    return PlannedQuery(target, query)


def _plan_new_patterns(pair: ColumnPair) -> PlannedQuery | None:
    """Texts whose pattern is new, or much more frequent than before."""
    rose = {
        pattern: pair.before.patterns.get(pattern, 0.0)
        for pattern, share in pair.now.patterns.items()
        if share > 2.0 * pair.before.patterns.get(pattern, 0.0) + 0.01
    }
    if not rose:
        return None
    expression = "|".join(map(write_regex, rose))
    return _plan_patterns(pair, [expression], sum(rose.values()), affected=0)


def write_regex(pattern: str) -> str:
    """A regular expression of the texts with a pattern.

    >>> write_regex("9-Aa")
    '^[0-9]+\\\\-+[A-Za-z]+$'
    """

    def write_run(found: re.Match[str]) -> str:
        run, foreign, other = found.groups()
        if other:
            return rf"{re.escape(other)}+" if other != "¶" else r"[\x00-\x1F\x7F]+"
        beyond = r"\x{80}-\x{10FFFF}" if foreign else ""
        return f"[{_SYMBOLS[run]}{beyond}]+"

    return f"^{_RUN.sub(write_run, pattern)}$"


def _plan_new_labels(pair: ColumnPair) -> PlannedQuery | None:
    """Values that are new; of the others, those tell something whose share fell, and that are still there."""
    new = [text for text in pair.now.values if not pair.knows_value(text)]
    fell = [
        text
        for text, share in pair.now.values.items()
        if pair.knows_value(text) and share < 0.9 * pair.before.values.get(pair.name_value(text), 0.0) - 0.005
    ]
    if not new or not fell or not _has_all_labels(pair):
        return None
    others = [text for text in pair.now.values if text not in new and text not in fell]
    return _plan_labels(pair, [*new, *others], set(new), {}, set(others))


def _plan_other_days(pair: ColumnPair) -> PlannedQuery | None:
    """Dates outside of where dates usually lie."""
    if pair.before.numbers is None or pair.now.kind not in TEMPORAL:
        return None
    low, high = (end + pair.step for end in (pair.before.numbers.low, pair.before.numbers.high))
    target = Target(pair.label, edges=(low - 2 * 86_400.0, high + 2 * 86_400.0))
    affected = np.array([True, False, True, False, False])
    query = SegmentQuery(
        0,
        np.array([0.0, 1.0, 0.0, 0.0, 0.0]),
        affected=affected,
        neutral=np.arange(target.bins) == target.null_bin,
        least_rate=_SOME_ROWS,
    )
    return PlannedQuery(target, query)


# --- bins of texts


def _has_all_labels(pair: ColumnPair) -> bool:
    return min(pair.now.listed, pair.before.listed) >= _LISTED and len(pair.now.values) <= _MOST_LABELS


def _count_usual(pair: ColumnPair) -> int:
    return limit_rows(pair.before.present)


def _plan_labels(
    pair: ColumnPair,
    labels: Sequence[str],
    affected: Collection[str],
    usual: Mapping[str, float],
    neutral: Collection[str] = (),
    least_rate: float = 0.8,
) -> PlannedQuery:
    """A query by labels: those of affected rows, and those that show nothing. `usual` are shares in good batches."""
    target = Target(pair.label, labels=tuple(labels))
    shares = [usual.get(text, 0.0) for text in labels]
    expected = np.array([*shares, max(0.0, 1.0 - sum(shares)), 0.0])
    query = SegmentQuery(
        0,
        expected,
        affected=np.array([*(text in affected for text in labels), False, False]),
        neutral=np.array([*(text in neutral for text in labels), False, True]),
        expected_rows=_count_usual(pair),
        least_rate=least_rate,
    )
    return PlannedQuery(target, query)


def _plan_patterns(
    pair: ColumnPair, patterns: Sequence[str], usual: float, affected: int, neutral: int | None = None
) -> PlannedQuery:
    """A query by regular expressions. `usual` is the share of affected texts in good batches."""
    target = Target(pair.label, patterns=tuple(patterns))
    places = np.arange(target.bins)
    expected = np.zeros(target.bins)
    expected[affected], expected[len(patterns)] = usual, 1.0 - usual
    query = SegmentQuery(
        0,
        expected,
        affected=places == affected,
        neutral=(places == target.null_bin) | (places == (-1 if neutral is None else neutral)),
        expected_rows=_count_usual(pair),
    )
    return PlannedQuery(target, query)
