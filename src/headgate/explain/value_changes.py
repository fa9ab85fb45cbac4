"""Finds the frequent values of text columns that are missing, new or written differently, and says so in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from headgate.display.numbers import format_share
from headgate.learn.past import Past
from headgate.learn.unseen_values import choose_name, get_frequencies_key
from headgate.metrics.states.frequencies import Frequencies
from headgate.values.account import ValueChange, ValueChangeKind
from headgate.values.key import MetricKey
from headgate.values.schema import TEXT
from headgate.values.state import State

MAX_VALUES = 3
"""Values of one kind of change that are named; the others are counted."""

MAX_LENGTH = 40
"""Characters of a value that are shown."""

_MIN_SHARE = 0.005  # rarer values are neither missing nor new
_MIN_EXPECTED = 10.0  # times that a value should occur in the batch, so that it is not missing by chance
_MIN_SHIFT = 0.1  # change of a share that is worth a sentence
_MIN_DEVIATIONS = 4.0  # by so many standard deviations it changes, at least, if it is not by chance
_CASES: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str.title, str.capitalize)


class _Label(NamedTuple):
    """A value of the batch or of the runs before: its text, None if it is hidden, and its shares."""

    text: str | None
    now: float
    before: float
    newest: float

    @property
    def shift(self) -> float:
        """How far the share is from that of all runs and from that of the newest, whichever is nearer."""
        return min(abs(self.now - self.before), abs(self.now - self.newest))


class _Shares(NamedTuple):
    """The shares of values, by what the store knows them by. Texts are known of the batch, or of plain stores."""

    now: Mapping[str, float]
    before: Mapping[str, float]
    newest: Mapping[str, float]
    texts: Mapping[str, str]

    def label(self, name: str) -> _Label:
        shares = (each.get(name, 0.0) for each in (self.now, self.before, self.newest))
        return _Label(self.texts.get(name), *shares)


def find_value_changes(
    past: Past | None, states: Mapping[MetricKey, State], columns: Iterable[str]
) -> dict[str, tuple[ValueChange, ...]]:
    """What changed in the frequent values of these columns, those of texts, since the runs before.

    Values are named if the past keeps them as they are. Of one that hides them, they are only counted.
    """
    if past is None:
        return {}
    texts = {column.label for column in past.schema.columns if column.kind in TEXT}
    found = {column: _find_changes(past, states, column) for column in columns if column in texts}
    return {column: changes for column, changes in found.items() if changes}


def _find_changes(past: Past, states: Mapping[MetricKey, State], column: str) -> tuple[ValueChange, ...]:
    key = get_frequencies_key(column)
    now, before, newest = states.get(key), past.merged.get(key), past.states.get(key)
    if not (isinstance(now, Frequencies) and isinstance(before, Frequencies) and isinstance(newest, Frequencies)):
        return ()
    if not now.total or not before.total or before.lost or now.lost:  # what is not kept is not known to be missing
        return ()
    identify = choose_name(past.secret, now)
    names = {identify(text): text for text in now.labels()}
    texts = {} if now.hashed else names if past.secret else names | {name: name for name in before.labels()}
    by_text = _measure_shares(now)
    by_name = {name: by_text[text] for name, text in names.items()}
    shares = _Shares(by_name, _measure_shares(before), _measure_shares(newest), texts)
    absent = [name for name in shares.before if name not in shares.now]
    new = [name for name, share in shares.now.items() if name not in shares.before and share >= _MIN_SHARE]
    if sum(shares.now[name] for name in new) <= _find_usual_share(past, column):
        new = []
    return tuple(_group_changes(shares, absent, new, identify, now.total, hidden=past.secret is not None))


def _measure_shares(frequencies: Frequencies) -> dict[str, float]:
    return {label: count / frequencies.total for label, count in frequencies.labels().items()}


def _find_usual_share(past: Past, column: str) -> float:
    """The largest share of new values that a run before had; 1 if too few runs know."""
    key = MetricKey("new_values", (column,))
    series = past.series(key) if any(each.key == key for each in past.metrics) else np.array([])
    known = series[np.isfinite(series)]
    return float(known.max()) if len(known) else 1.0


def _group_changes(
    shares: _Shares, absent: Sequence[str], new: Sequence[str], identify: Callable[[str], str], rows: int, hidden: bool
) -> Iterable[ValueChange]:
    rewritten = _match_rewritten(shares, absent, new, identify)
    missing = [name for name in absent if name not in rewritten and _is_missing(shares, name, rows)]
    if rewritten:
        pairs = sorted(rewritten.items(), key=lambda pair: -shares.now[pair[1]])
        before, now = ([shares.label(name) for name in names] for names in zip(*pairs, strict=True))
        yield ValueChange(
            ValueChangeKind.REWRITTEN,
            len(pairs),
            now=sum(each.now for each in now),
            before=sum(each.before for each in before),
            newest=sum(each.newest for each in before),
            values=() if hidden else _name_values(before),
            written=() if hidden else _name_values(now),
        )
    groups = {
        ValueChangeKind.MISSING: missing,
        ValueChangeKind.NEW: [name for name in new if name not in rewritten.values()],
    }
    for kind, names in groups.items():
        labels = sorted(map(shares.label, names), key=lambda each: -max(each.now, each.before))
        if labels:
            yield _make_change(kind, labels, hidden)
    if not rewritten and not missing and not new:
        yield from _find_shift(shares, rows, hidden)


def _is_missing(shares: _Shares, name: str, rows: int) -> bool:
    """Whether a value that is not in the batch should be: it is frequent, and the newest run has it."""
    share = shares.before[name]
    return share >= _MIN_SHARE and share * rows >= _MIN_EXPECTED and name in shares.newest


def _make_change(kind: ValueChangeKind, labels: Sequence[_Label], hidden: bool) -> ValueChange:
    return ValueChange(
        kind,
        len(labels),
        now=sum(each.now for each in labels),
        before=sum(each.before for each in labels),
        newest=sum(each.newest for each in labels),
        values=() if hidden else _name_values(labels),
    )


def _find_shift(shares: _Shares, rows: int, hidden: bool) -> Iterable[ValueChange]:
    """The value whose share changed the most, if it changed much, and not by chance."""
    labels = map(shares.label, {*shares.now, *shares.before})
    moved = max(labels, key=lambda each: (each.shift, each.now, each.text or ""))
    by_chance = _MIN_DEVIATIONS * math.sqrt(moved.before * (1 - moved.before) / rows)
    if moved.shift >= max(_MIN_SHIFT, by_chance):
        yield _make_change(ValueChangeKind.SHARE, [moved], hidden)


def _match_rewritten(
    shares: _Shares, absent: Collection[str], new: Collection[str], identify: Callable[[str], str]
) -> dict[str, str]:
    """The absent values that are there in another case or with other blanks around them, and what they are now."""
    by_form = {_fold_text(shares.texts[name]): name for name in absent if name in shares.texts}
    matched: dict[str, str] = {}
    for name in new:
        text = shares.texts.get(name)
        if text is None:
            continue
        forms = (identify(case(text.strip())) for case in _CASES)  # a hidden value is known by no more than its hash
        found = by_form.get(_fold_text(text)) or next((form for form in forms if form in absent), None)
        if found is not None:
            matched.setdefault(found, name)
    return matched


def _fold_text(text: str) -> str:
    return text.strip().casefold()


def _name_values(labels: Iterable[_Label]) -> tuple[str, ...]:
    texts = [each.text for each in labels if each.text is not None]
    return tuple(text if len(text) <= MAX_LENGTH else f"{text[: MAX_LENGTH - 1]}…" for text in texts[:MAX_VALUES])


# --- words


def describe_value_changes(changes: Sequence[ValueChange]) -> str:
    """What changed in the values of a column.

    >>> describe_value_changes([ValueChange(ValueChangeKind.MISSING, 1, 0.0, 0.329, 0.331, ("JFK",))])
    'JFK is missing, it was 32.9%'
    """
    return "; ".join(map(describe_value_change, changes))


def describe_value_change(change: ValueChange) -> str:
    """One kind of change of the values of a column.

    >>> describe_value_change(ValueChange(ValueChangeKind.REWRITTEN, 1, 0.35, 0.34, 0.34, ("EWR",), ("ewr",)))
    'EWR is now written ewr (35.0%)'
    >>> describe_value_change(ValueChange(ValueChangeKind.NEW, 2, 0.02, 0.0, 0.0))
    '2 values are new (2.0%)'
    """
    named, be, they = list_values(change), "is" if change.count == 1 else "are", "it" if change.count == 1 else "they"
    now, before = format_share(change.now), format_share(change.before)
    match change.kind:
        case ValueChangeKind.REWRITTEN:
            return f"{_describe_rewritten(change)} ({now})"
        case ValueChangeKind.MISSING:
            return f"{named} {be} missing, {they} {'was' if change.count == 1 else 'were'} {before}"
        case ValueChangeKind.NEW:
            return f"{named} {be} new ({now})"
        case ValueChangeKind.SHARE:
            return f"{named} is {now}, it was {before}"


def list_values(change: ValueChange, written: bool = False) -> str:
    """The values that changed, as many as are named; their number where the store hides them."""
    names = [quote_value(each) for each in (change.written if written and change.written else change.values)]
    if not names:
        return f"{change.count} value{'s' * (change.count != 1)}"
    return _join_names(names, change.count - len(names))


def _describe_rewritten(change: ValueChange) -> str:
    if not change.values:
        return f"{list_values(change)} {'is' if change.count == 1 else 'are'} now written in another case"
    first, *others = zip(map(quote_value, change.values), map(quote_value, change.written), strict=True)
    pairs = [f"{first[0]} is now written {first[1]}", *(f"{old} {new}" for old, new in others)]
    return _join_names(pairs, change.count - len(pairs))


def _join_names(names: Sequence[str], more: int) -> str:
    listed = [*names, f"{more} more"] if more > 0 else list(names)
    return " and ".join([", ".join(listed[:-1]), listed[-1]]) if len(listed) > 1 else listed[0]


def quote_value(text: str) -> str:
    """A value as it stands in a sentence; in quotes if it is empty or has blanks around it.

    >>> quote_value("JFK"), quote_value(" JFK"), quote_value("")
    ('JFK', '" JFK"', '""')
    """
    return f'"{text}"' if not text or text != text.strip() else text
