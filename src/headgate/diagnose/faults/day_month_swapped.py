"""The day and the month of dates are swapped."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar

import numpy as np

from headgate.diagnose.column_pair import DISTINCT, SHAPE, VALUES, ColumnPair
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.values.schema import TEMPORAL

_DAY = 86_400.0
_MIN_MOVED = 0.02
_FEWEST, _MOST_DAY = 3, 12
_RESTORED = 0.8  # of the values that no run had
_WHAT = "has day and month swapped"


@fault
class DayMonthSwapped(KnownFault):
    """Dates such as 3 December where 12 March is meant."""

    name: ClassVar = "day_month_swapped"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if pair.before.kind not in TEMPORAL or pair.before.numbers is None or pair.now.listed < 0.3:
            return
        now, before = pair.now.numbers, pair.before.numbers
        if now is None:
            return
        shares = {text: share for text, share in pair.now.values.items() if _swap(text) is not None}
        if not shares:
            return
        restored = _restore_values(pair)
        if restored:
            yield Fit(self.name, _WHAT, 0.03, (pair.label,), {}, restored)
            return
        low, high = before.low + pair.step - 2 * _DAY, before.high + pair.step + 2 * _DAY
        usual = _measure_inside(pair, low, high, swap=False)
        swapped = _measure_inside(pair, low, high, swap=True)
        outside = 1 - usual
        if outside < _MIN_MOVED or swapped - usual < 0.5 * outside:
            return
        left = pair.measure_unexplained(
            **{SHAPE: (1 - swapped) * pair.baseline.get(SHAPE, 0.0), VALUES: 0.0, DISTINCT: 0.0}
        )
        yield Fit(self.name, _WHAT, left, (pair.label,), {}, min(1.0, outside))


def _restore_values(pair: ColumnPair) -> float:
    """The share of dates that no run had, if nearly all of them are dates that one had once they are swapped.

    A swapped date has no day after the 12th: by that, it is told from one that is shifted by some days.
    """
    new = {text: share for text, share in pair.now.values.items() if not pair.knows_value(text)}
    known = [text for text in new if (changed := _swap_text(text)) is not None and pair.knows_value(changed)]
    share, total = sum(new[text] for text in known), sum(new.values())
    late = sum(part for text, part in new.items() if not _is_early(text))
    if len(known) < _FEWEST or total < _MIN_MOVED or share < _RESTORED * total or late:
        return 0.0
    return total


def _is_early(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).day <= _MOST_DAY
    except ValueError:
        return False


def _swap_text(text: str) -> str | None:
    """A date with its day and month swapped, as a column has it among its values; None if that is no other date."""
    try:
        moment = datetime.fromisoformat(text)
        changed = moment.replace(day=moment.month, month=moment.day)
    except ValueError:
        return None
    swapped = f"{changed.date().isoformat()}{text[10:]}"
    return None if swapped == text else swapped


def _swap(text: str) -> float | None:
    """The seconds of a date after its day and month are swapped; None if that is no other date."""
    changed = _swap_text(text)
    return None if changed is None else _to_seconds(datetime.fromisoformat(changed))


def _to_seconds(moment: datetime) -> float:
    return float((np.datetime64(moment.replace(tzinfo=None)) - np.datetime64("1970-01-01")) / np.timedelta64(1, "s"))


def _measure_inside(pair: ColumnPair, low: float, high: float, swap: bool) -> float:
    """The share of the dates that lie where dates usually do, with those outside swapped or as they are."""
    inside = total = 0.0
    for text, share in pair.now.values.items():
        try:
            seconds = _to_seconds(datetime.fromisoformat(text))
        except ValueError:
            continue
        total += share
        changed = _swap(text) if swap else None
        if low <= seconds <= high or (changed is not None and low <= changed <= high):
            inside += share
    return inside / total if total else 1.0
