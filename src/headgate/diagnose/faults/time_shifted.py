"""Times are shifted by some hours: another time zone; or by days."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.diagnose.column_pair import VALUES, ColumnPair
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.mixture import NEARLY_ALL, Mixture, choose_known, fit_mixtures, measure_left, refine
from headgate.diagnose.restored import move_back
from headgate.values.diagnosis import FaultParameters
from headgate.values.schema import TEMPORAL, Kind

_QUARTER, _HOUR, _DAY = 900.0, 3600.0, 86_400.0
_ZONES = [quarters * _QUARTER for quarters in range(-56, 57) if quarters and quarters % 2 == 0]
_DAYS = [count * _DAY for count in (-366, -365, -31, -30, -7, -2, -1, 1, 2, 7, 30, 31, 365, 366)]
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6})?$")
_MOST_VALUES = 24  # that are compared
_NEAR = 1800.0  # by which an estimated shift may differ from whole hours
_FEWEST = 0.01  # of the values


@fault
class TimeShifted(KnownFault):
    """Timestamps plus some hours, dates plus some days, of all rows or of a part of them."""

    name: ClassVar = "time_shifted"
    repairs: ClassVar = True

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if not pair.is_ordered or pair.before.kind not in TEMPORAL:
            return
        by_values = _fit_by_values(pair)
        if by_values is not None:
            seconds, share = by_values
            what, part = f"looks shifted by {_describe(seconds)}", 0.02 * (share < 1)
            yield Fit(self.name, what, 0.05, (pair.label,), {"seconds": seconds}, share, part)
            return
        guesses = [_measure_move(pair), *(_DAYS if pair.before.kind is Kind.DATE else [*_ZONES, *_DAYS])]
        best = min(fit_mixtures(pair, np.subtract, guesses), key=lambda each: each.cost)
        best = refine(pair, np.subtract, best, _HOUR, ratio=False, rounds=3)
        seconds = _round_shift(pair, best)
        if not seconds:
            return
        [rounded] = fit_mixtures(pair, np.subtract, [seconds])
        if not rounded.share:
            return
        left = measure_left(pair, rounded)
        if pair.baseline.get(VALUES):
            left = max(0.0, left - pair.baseline[VALUES] / pair.total)  # all times are others then
        yield Fit(
            self.name,
            f"looks shifted by {_describe(seconds)}",
            left,
            (pair.label,),
            {"seconds": seconds},
            rounded.share,
            0.04 + 0.04 * (rounded.share < 1),
            estimated=True,
        )

    def undo(self, values: pa.Array, parameters: FaultParameters) -> pa.Array:
        return move_back(values, float(parameters["seconds"]))


def _round_shift(pair: ColumnPair, best: Mixture) -> float:
    """A shift by whole days, or else by whole or half hours or quarters of one, the longer unit if it explains it."""
    if pair.before.kind is Kind.DATE:
        return round(best.parameter / _DAY) * _DAY
    for unit in (_HOUR / 2, _HOUR):
        near = [(math.floor(best.parameter / unit) + at) * unit for at in (0, 1)]
        tolerance = _NEAR / max(_QUARTER, abs(best.parameter))
        best = choose_known(pair, fit_mixtures(pair, np.subtract, near), best, tolerance)
    return round(best.parameter / _QUARTER) * _QUARTER


def _fit_by_values(pair: ColumnPair) -> tuple[float, float] | None:
    """The shift after whose undoing values that no run had are values that one had, and their share."""
    new = {text: share for text, share in pair.now.values.items() if not pair.knows_value(text)}
    tried = dict(sorted(new.items(), key=lambda each: -each[1])[:_MOST_VALUES])
    total = sum(tried.values())
    if total < _FEWEST:
        return None
    moments = {text: datetime.fromisoformat(text) for text in tried if _TIME.match(text)}
    shifts = _ZONES if any(each.hour or each.minute for each in moments.values()) else _DAYS
    has_time = pair.before.kind is Kind.TIMESTAMP
    shares = {
        seconds: sum(tried[text] for text, each in moments.items() if pair.knows_value(_write(each, seconds, has_time)))
        for seconds in dict.fromkeys((*shifts, *_DAYS))
    }
    most = max(shares.values())
    if most < 0.8 * total:
        return None
    missed = sum(new.values())
    is_all = missed > NEARLY_ALL
    # of shifts that give as many known values, the nearest to how far the middle moved; the smallest of a part
    target = _measure_move(pair) if is_all else 0.0
    seconds = min((each for each in shares if shares[each] >= 0.97 * most), key=lambda each: abs(each - target))
    return seconds, 1.0 if is_all else missed


def _measure_move(pair: ColumnPair) -> float:
    """By how many seconds the middle of the times lies from where it should."""
    return float(np.median(pair.now.points - pair.before.points)) - pair.step


def _write(moment: datetime, seconds: float, has_time: bool) -> str:
    """A time so many seconds earlier, as a column has it among its values; empty before the year 1 and after 9999."""
    try:
        earlier = moment - timedelta(seconds=seconds)
    except OverflowError:
        return ""
    return earlier.isoformat(" ", "microseconds") if has_time else earlier.date().isoformat()


def _describe(seconds: float) -> str:
    """A number of seconds in days or hours, with its sign in words.

    >>> _describe(-28_800.0), _describe(86_400.0)
    ('8 hours back', '1 day ahead')
    """
    size, where = abs(seconds), "ahead" if seconds > 0 else "back"
    count, unit = (size / _DAY, "day") if size % _DAY == 0 else (size / _HOUR, "hour")
    return f"{count:,.4g} {unit}{'s' * (count != 1)} {where}"
