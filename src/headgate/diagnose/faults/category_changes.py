"""Values of a category are renamed, merged or split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from headgate.diagnose.column_pair import DISTINCT, LENGTHS, PATTERNS, VALUES, ColumnPair, measure_difference
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.display.numbers import format_share

_MIN_SHARE = 0.005
_COST = 0.06
_NEARLY_ALL, _ALL_COST = 0.9, 0.25  # another fault of all values is likelier than that each is renamed
_MOST_VALUES = 400
_MOST_PARTS = 5  # that a value is split into
_NAMED, _LONGEST = 3, 30  # values that a sentence names, and characters of each
_KEPT = 0.25  # of its share, that a value keeps at most where it is merged into another or split


class _Changes(NamedTuple):
    """The shares of values that fell or rose, by what the past knows them by."""

    fell: dict[str, float]
    rose: dict[str, float]
    new: dict[str, float]


@fault
class CategoryRenamed(KnownFault):
    """One value, or several, are written in another way: each share is there under another name."""

    name: ClassVar = "category_renamed"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        changes = _find_changes(pair)
        if changes is None or not changes.new or not changes.fell:
            return
        matched = _match(changes)
        if not matched:
            return
        back = {new: old for old, new in matched.items()}
        moved = sum(changes.new[new] for new in back)
        subject, part = _write_subject(pair, list(back.values())), format_share(moved)
        what = f"{subject} ({part}) {'is' if len(back) == 1 else 'are'} written in another way"
        if len(back) == 1 and pair.secret is None:
            what = f"{subject} is now {_shorten(next(iter(back)))} ({part})"
        left = _measure_left(pair, back)
        is_all = sum(changes.new.values()) > _NEARLY_ALL or (len(back) > 1 and moved > _NEARLY_ALL)
        cost = _COST * (1 + len(back)) + _ALL_COST * is_all
        yield Fit(self.name, f": {what}", left, (pair.label,), {}, moved, cost)


@fault
class CategoriesMerged(KnownFault):
    """Several values became one."""

    name: ClassVar = "categories_merged"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        changes = _find_changes(pair)
        if changes is None or not changes.rose or not changes.fell:
            return
        into, gained = max(changes.rose.items(), key=lambda each: each[1])
        lost = sum(changes.fell.values())
        needed = 1 if into not in changes.new else 2
        if len(changes.fell) < needed or not 0.7 * gained <= lost <= 1.4 * gained:
            return
        # what fell is still there, in the value that rose
        expected = dict(pair.before.values)
        for name, share in changes.fell.items():
            expected[name] = max(0.0, expected.get(name, 0.0) - share)
            expected[into] = expected.get(into, 0.0) + share
        left = _compare(pair, expected)
        subject, other = _write_subject(pair, sorted(changes.fell)), "one with another"
        what = f": {subject} ({format_share(lost)}) became {_shorten(into) if pair.secret is None else other}"
        yield Fit(self.name, what, left, (pair.label,), {}, lost, 0.1)


@fault
class CategorySplit(KnownFault):
    """One value became several."""

    name: ClassVar = "category_split"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        changes = _find_changes(pair)
        if changes is None or not changes.new or not changes.fell:
            return
        source, lost = max(changes.fell.items(), key=lambda each: each[1])
        gained = sum(changes.new.values())
        is_kept = pair.named.get(source, 0.0) > 0
        if len(changes.new) < (1 if is_kept else 2) or not 0.7 * lost <= gained <= 1.4 * lost:
            return
        expected = dict(pair.before.values)
        expected[source] = max(0.0, expected.get(source, 0.0) - gained)
        for name, share in changes.new.items():
            expected[name] = expected.get(name, 0.0) + share
        parts = len(changes.new) + is_kept
        if parts > _MOST_PARTS:
            return
        part = format_share(pair.before.values.get(source, 0.0))
        what = f": {_write_subject(pair, [source])} ({part}) became {parts} values"
        yield Fit(self.name, what, _compare(pair, expected), (pair.label,), {}, gained, 0.1 + 0.02 * is_kept)


def _find_changes(pair: ColumnPair) -> _Changes | None:
    if pair.now.listed < 0.9 or pair.before.listed < 0.9 or len(pair.now.values) > _MOST_VALUES:
        return None
    if not pair.is_text or not pair.baseline.get(VALUES):
        return None
    least = max(_MIN_SHARE, pair.noise.get(VALUES, 0.0) * 0.5)
    fell, rose, new = {}, {}, {}
    for name in {*pair.named, *pair.before.values}:
        now, before = pair.named.get(name, 0.0), pair.before.values.get(name, 0.0)
        if before - now > least and now <= max(_KEPT * before, before - 3 * least):
            fell[name] = before - now
        elif now - before > least:
            rose[name] = now - before
            if not before and name not in pair.merged:
                new[name] = now
    return _Changes(fell, rose, new)


def _match(changes: _Changes) -> dict[str, str]:
    """Values that fell, each with the new value of about the same share."""
    by_share = [sorted(each, key=lambda name: -each[name]) for each in (changes.fell, changes.new)]
    if len(by_share[0]) == len(by_share[1]):
        in_order = dict(zip(*by_share, strict=True))
        if all(_are_near(changes.fell[old], changes.new[new]) for old, new in in_order.items()):
            return in_order
    matched: dict[str, str] = {}
    for new, share in sorted(changes.new.items(), key=lambda each: -each[1]):
        free = {name: lost for name, lost in changes.fell.items() if name not in matched}
        nearest = min(free, key=lambda name: abs(free[name] - share), default=None)
        if nearest is not None and _are_near(free[nearest], share):
            matched[nearest] = new
    return matched


def _shorten(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 3]}..."


def _write_subject(pair: ColumnPair, names: Sequence[str]) -> str:
    """A few values by their names, if the past does not hide them; else how many they are."""
    if len(names) > _NAMED or pair.secret is not None:
        return "one value" if len(names) == 1 else f"{len(names)} values"
    shown = sorted(map(_shorten, names))
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _are_near(lost: float, gained: float) -> bool:
    return abs(lost - gained) <= 0.3 * gained + 0.003


def _measure_left(pair: ColumnPair, back: dict[str, str]) -> float:
    expected = dict(pair.before.values)
    for new, old in back.items():
        expected[new] = expected.get(new, 0.0) + expected.pop(old, 0.0)
    return _compare(pair, expected)


def _compare(pair: ColumnPair, expected: dict[str, float]) -> float:
    difference = measure_difference(pair.named, expected)
    return pair.measure_unexplained(**{VALUES: difference, LENGTHS: 0.0, PATTERNS: 0.0, DISTINCT: 0.0})
