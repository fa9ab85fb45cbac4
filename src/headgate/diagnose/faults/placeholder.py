"""One value stands where others were: a placeholder, a default."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import ClassVar

import numpy as np

from headgate.diagnose.column_pair import (
    DISTINCT,
    LENGTHS,
    NULLS,
    PATTERNS,
    SHAPE,
    VALUES,
    ColumnPair,
    measure_difference,
)
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.display.numbers import format_share
from headgate.values.schema import NUMERIC, Kind

KNOWN = frozenset(
    {
        *("0", "-1", "1", "99", "999", "9999", "99999", "-99", "-999", "-9999"),
        *("", "n/a", "na", "none", "null", "nan", "unknown", "undefined", "missing", "test", "tbd"),
        *("?", "-", "--", ".", "xxx"),
        *("1970-01-01", "1900-01-01", "0001-01-01", "9999-12-31"),
        *("1970-01-01 00:00:00.000000", "1900-01-01 00:00:00.000000"),
        *("0001-01-01 00:00:00.000000", "9999-12-31 00:00:00.000000"),
    }
)
"""What is written for a value that is not known."""

_MIN_SHARE = 0.01
_UNKNOWN_COST, _SPIKE_COST = 0.46, 0.2  # any change of one group of texts looks like this
_OTHER_COST = 0.25
_SPIKE = 0.2
_CONSTANT = 0.98
_OTHER_ROWS = 0.5  # by how much of their share rows that were hit may be unlike others
_MAX_SHARE_BEFORE = 0.5


@fault
class Placeholder(KnownFault):
    """A part of the values is replaced by one value."""

    name: ClassVar = "placeholder"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        found = find_stand_in(pair)
        if found is None:
            return
        text, share = found
        was_null = was_written_for_nulls(pair, share)
        if _is_constant(pair, share):
            return
        is_known = stands_for_unknown(text)
        if _is_clipped(pair, text, share) or _is_rounded(pair):
            return
        value = f"the value {text!r}" if text == "" or not text.strip() else f"the value {text.strip()}"
        where = "where it was null" if was_null else f"in {format_share(share)} of its values"
        yield Fit(
            self.name,
            f"has {value if is_known else 'one and the same value'} {where}",
            measure_replaced(pair, text, share, was_null),
            (pair.label,),
            {"share": round(share, 6), **({"value": text} if is_known else {})},
            share,
            0.0 if is_known else _find_cost(pair, share, was_null),
        )


@fault
class Constant(KnownFault):
    """All values are replaced by one value."""

    name: ClassVar = "constant"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        found = find_stand_in(pair)
        if found is not None and _is_constant(pair, found[1]) and pair.before.distinct > 1.5:
            text = found[0]
            is_known = stands_for_unknown(text)
            shown = f", {text.strip() or repr(text)}" if is_known else ""
            what = f"has one value in all rows{shown}"
            is_other = pair.before.kind is not pair.now.kind or (not is_known and _may_be_cut(pair, text))
            cost = _OTHER_COST * is_other  # a change of the type, or of the length, says more
            yield Fit(self.name, what, 0.0, (pair.label,), {"value": text} if is_known else {}, cost=cost)


def _may_be_cut(pair: ColumnPair, text: str) -> bool:
    """Whether the one value is shorter than any before: all values may be cut off, and alike then."""
    before = pair.before.lengths
    return pair.is_text and before is not None and before.low is not None and len(text) < before.low


def _find_cost(pair: ColumnPair, share: float, was_null: bool) -> float:
    """What it costs that the value is none of those that are known to stand for others."""
    if was_null:
        return 0.05
    return _SPIKE_COST if pair.is_numeric and share >= _SPIKE else _UNKNOWN_COST


def stands_for_unknown(text: str) -> bool:
    """Whether a value is one of those that are known to stand for others.

    >>> stands_for_unknown("N/A"), stands_for_unknown("-99.0"), stands_for_unknown("Berlin")
    (True, True, False)
    """
    return text.strip().lower().removesuffix(".0") in KNOWN


def _is_constant(pair: ColumnPair, share: float) -> bool:
    """Whether nearly all values are one; where nulls were, and a few others are still there, it is no constant."""
    return share == 1 or (share >= _CONSTANT and not was_written_for_nulls(pair, share))


def was_written_for_nulls(pair: ColumnPair, share: float) -> bool:
    """Whether a value that this share of the values has stands where nulls were."""
    filled = pair.now.complete - pair.before.complete
    return filled > 0.5 * share * pair.now.complete and pair.baseline.get(NULLS, 0.0) > 0


def find_stand_in(pair: ColumnPair) -> tuple[str, float] | None:
    """The value whose share rose the most, and the part of the other values that it replaced."""
    rose = {}
    for text, share in pair.now.values.items():
        before = _find_share_before(pair, text)
        if before > _MAX_SHARE_BEFORE or share - before < _MIN_SHARE:
            continue
        if not pair.may_be_left(share * pair.now.present, before * pair.before.present):
            rose[text] = (share - before) / (1 - before)
    if not rose:
        return None
    best = max(rose, key=lambda text: rose[text])
    known = [text for text in rose if stands_for_unknown(text) and rose[text] > 0.5 * rose[best]]
    chosen = max(known, key=lambda text: rose[text], default=best)
    return chosen, rose[chosen]


def _find_share_before(pair: ColumnPair, text: str) -> float:
    """The usual share of a value; of one that is text now, also that of the number which it is."""
    names = [pair.name_value(text)]
    if pair.now.kind is Kind.STRING and pair.before.kind in NUMERIC:
        with suppress(ValueError):
            names.append(pair.name_value(repr(float(text))))
    return max(pair.before.values.get(name, 0.0) for name in names)


def measure_replaced(pair: ColumnPair, text: str, share: float, was_null: bool) -> float:
    """What is left if a part of the values was replaced by one."""
    name = pair.name_value(text)
    kept = {label: (1 - share) * part for label, part in pair.before.values.items()}
    expected = {**kept, name: kept.get(name, 0.0) + share}
    left = {VALUES: measure_difference(pair.named, expected)}
    if pair.is_ordered and pair.grid.size:
        number = _find_number(pair, text)
        if number is not None:
            cdf = (1 - share) * pair.cdf_before + share * (pair.grid >= number - abs(number) * 1e-9)
            left[SHAPE] = pair.compare_shape(cdf)
    if pair.is_text:
        left |= {LENGTHS: 0.0, PATTERNS: _compare_patterns(pair, share)}
    left[DISTINCT] = 0.0
    if was_null:
        left[NULLS] = 0.0
    return pair.measure_unexplained(_OTHER_ROWS * share, **left)


def _is_clipped(pair: ColumnPair, text: str, share: float) -> bool:
    """Whether a number is the largest or the smallest one, and stands for those that usually lie beyond it."""
    if not pair.is_numeric or pair.now.numbers is None:
        return False
    number = _find_number(pair, text)
    if number is None or number not in (pair.now.numbers.low, pair.now.numbers.high):
        return False
    above = 1 - float(pair.before.share_up_to(np.array([number]))[0])
    return (above if number == pair.now.numbers.high else 1 - above) > 0.5 * share


def _is_rounded(pair: ColumnPair) -> bool:
    """Whether all numbers are whole now, and were not before: then many may be 0."""
    now, before = pair.now.numbers, pair.before.numbers
    return pair.is_numeric and now is not None and before is not None and now.whole and not before.whole


def _find_number(pair: ColumnPair, text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        pass
    now = pair.now.numbers  # a time: its number is where the distribution jumps
    if now is None:
        return None
    bins = now.bins()
    at = int(bins.counts.argmax())
    return float(bins.lower_ends[at])


def _compare_patterns(pair: ColumnPair, share: float) -> float:
    """How far patterns lie apart if one pattern more has this share."""
    rest = {
        pattern: part / (1 - share)
        for pattern, part in pair.now.patterns.items()
        if part - share < 0.9 * part or part < share
    }
    return min(
        measure_difference(rest, pair.before.patterns),
        max(0.0, measure_difference(pair.now.patterns, pair.before.patterns) - share),
    )
