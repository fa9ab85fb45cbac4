"""A change of texts that can be undone value by value: what is undone must be values or patterns that were there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from headgate.diagnose.column_pair import (
    DISTINCT,
    LENGTHS,
    PATTERNS,
    VALUES,
    ColumnPair,
    map_shares,
    measure_difference,
)

Undo = Callable[[str], str]
_FEWEST = 0.005  # of the values
_MOST = 0.2
_EXACT = 0.4


class TextChange(NamedTuple):
    """How many of the values a change happened to, and what it leaves."""

    share: float
    unexplained: float


def fit_text_change(
    pair: ColumnPair, undo: Undo, pattern_change: Undo, forward: bool = True, all_changed: bool = False
) -> TextChange | None:
    """A change by the values and by the patterns of a column; None if neither shows it.

    Args:
        pair: The column.
        undo: Gives the value before the change.
        pattern_change: What happens to a pattern, or what undoes it.
        forward: Whether `pattern_change` makes the patterns of the batch out of those of the past.
        all_changed: Whether all values look as after the change, so that those that cannot be restored do, too.
    """
    of_values, of_patterns = _fit_by_values(pair, undo), _fit_by_patterns(pair, pattern_change, forward)
    if of_values is None and (of_patterns is None or not _has_rare_values(pair)):
        return None
    share, values_left = of_values or (0.0, 0.0)
    share_of_patterns, patterns_left = of_patterns or (0.0, 1.0)
    by_share = max(0.0, measure_difference(pair.now.patterns, pair.before.patterns) - share)
    left = {PATTERNS: min(patterns_left, by_share), LENGTHS: 0.0, DISTINCT: 0.0}
    is_known = of_values is not None and not (all_changed and share > _MOST)
    if is_known or _has_rare_values(pair) or all_changed:
        left[VALUES] = 0.0 if not is_known else values_left
    unexplained = pair.measure_unexplained(**left)
    if of_values is not None:
        unexplained *= _EXACT  # that changed values are just values that were known is no chance
    return TextChange(1.0 if all_changed else max(share, share_of_patterns), unexplained)


def _has_rare_values(pair: ColumnPair) -> bool:
    """Whether most values of a column tell nothing, since each batch has others."""
    return min(pair.now.listed, pair.before.listed) < 0.9 or pair.noise.get(VALUES, 0.0) > 0.4


def _fit_by_values(pair: ColumnPair, undo: Undo) -> tuple[float, float] | None:
    """The share of values that no run had and that are known once they are undone, and what is left then."""
    changed = {
        text: restored
        for text in pair.now.values
        if not pair.knows_value(text) and (restored := undo(text)) != text and pair.knows_value(restored)
    }
    share = sum(pair.now.values[text] for text in changed)
    if share < _FEWEST:
        return None
    restored_values = map_shares(pair.now.values, lambda text: pair.name_value(changed.get(text, text)))
    return share, measure_difference(restored_values, pair.before.values)


def _fit_by_patterns(pair: ColumnPair, change: Undo, forward: bool) -> tuple[float, float] | None:
    """The share of the values that the patterns show a change of, and what is left of the patterns then."""
    now, before = pair.now.patterns, pair.before.patterns
    source = before if forward else now
    if not pair.baseline.get(PATTERNS) or all(change(pattern) == pattern for pattern in source):
        return None
    whole = map_shares(source, change)
    left = measure_difference(now, whole) if forward else measure_difference(whole, before)
    if not forward:
        return sum(share for pattern, share in now.items() if change(pattern) != pattern), left
    share = _fit_share(now, before, whole)
    if share < _FEWEST:
        return None
    if left <= 0.1 * measure_difference(now, before):
        return 1.0, left
    names = {*before, *whole}
    mixed = {each: (1 - share) * before.get(each, 0.0) + share * whole.get(each, 0.0) for each in names}
    return share, min(left, measure_difference(now, mixed))


def _fit_share(now: Mapping[str, float], before: Mapping[str, float], whole: Mapping[str, float]) -> float:
    """The part of a mixture that is changed, by least squares."""
    names = {*now, *before, *whole}
    toward = [whole.get(each, 0.0) - before.get(each, 0.0) for each in names]
    wanted = [now.get(each, 0.0) - before.get(each, 0.0) for each in names]
    length = sum(each * each for each in toward)
    found = sum(one * two for one, two in zip(toward, wanted, strict=True)) / length if length else 0.0
    return min(1.0, max(0.0, found))
