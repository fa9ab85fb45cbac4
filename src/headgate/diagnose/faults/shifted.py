"""The same number is added to all values."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import pyarrow as pa

from headgate.diagnose.column_pair import SHAPE, ColumnPair, Floats
from headgate.diagnose.exact_parameter import find_exact_parameters
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.mixture import MAX_PARTIAL_CONFIDENCE, Mixture, choose_known, fit_mixtures, measure_left, refine
from headgate.diagnose.restored import restore_numbers
from headgate.display.numbers import format_parameter
from headgate.values.diagnosis import FaultParameters

_KELVIN = (273.15, -273.15)
_COST, _PART_COST = 0.05, 0.05
_NEAR_EXACT = 0.1  # of an estimate, by which it may differ from an offset that the values show
_ROUND_DIGITS, _NEAR_ROUND = (1, 2, 3), 0.005  # of a round offset, and how near it is to the estimate
_AS_GOOD, _NO_MORE = 1.02, 0.0005  # times what the estimate leaves, and more than that, that a round one may leave
_CERTAIN = 1.5  # degrees, by which an estimate may be wrong, so that kelvin are no guess
_MIN_SHARE = 0.02  # of the rows, below which a distribution shows no offset


@fault
class Shifted(KnownFault):
    """Values plus an offset, of all rows or of a part of them."""

    name: ClassVar = "shifted"
    repairs: ClassVar = True

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if not pair.is_numeric:
            return
        spread = _measure_spread(pair)
        if not spread:
            return
        guesses = [float(np.median(pair.now.points - pair.before.points)), *(spread * np.linspace(-12, 12, 97))]
        best = min(fit_mixtures(pair, np.subtract, guesses), key=lambda each: each.cost)
        best = refine(pair, np.subtract, best, spread / 4, ratio=False)
        found = find_exact_parameters(pair, operator.sub, bool)
        # where numbers lie densely, many offsets give numbers that were there
        exact = [found[0].parameter] if len(found) == 1 and found[0].is_certain else []
        best = choose_known(pair, fit_mixtures(pair, np.subtract, exact), best, _NEAR_EXACT) if exact else best
        for known in [] if best.parameter in exact else ([round(best.parameter)], _KELVIN):
            best = choose_known(pair, fit_mixtures(pair, np.subtract, known), best, 0.02)
        best = best if best.parameter in (*exact, *_KELVIN) else _choose_round(pair, best)
        if abs(best.parameter) <= 0.02 * spread or best.share < _MIN_SHARE:
            return
        offset = best.parameter
        is_certain = offset in exact or (offset in _KELVIN and best.share == 1 and _estimate_error(pair) <= _CERTAIN)
        sign, size = ("plus", offset) if offset > 0 else ("minus", -offset)
        unit = {273.15: " (kelvin for degrees Celsius)", -273.15: " (degrees Celsius for kelvin)"}.get(offset, "")
        said = format_parameter(size, is_short=not is_certain or bool(unit))
        yield Fit(
            self.name,
            f"looks shifted: every value {sign} {said}{unit}",
            measure_left(pair, best, lambda value: value - offset),
            (pair.label,),
            {"offset": offset if is_certain else float(f"{offset:.8g}")},
            best.share,
            _COST + _PART_COST * (best.share < 1),
            not is_certain,
            MAX_PARTIAL_CONFIDENCE if best.share < 1 else 1.0,
        )

    def undo(self, values: pa.Array, parameters: FaultParameters) -> pa.Array:
        return restore_numbers(values, operator.sub, float(parameters["offset"]))


def _estimate_error(pair: ColumnPair) -> float:
    """By how much an estimated offset may differ from the right one by chance: three times its standard error."""
    before = pair.before.moments
    if before is None:
        return math.inf
    rows = 1 / max(1, pair.now.present) + 1 / max(1, pair.before.present)
    return 3 * math.sqrt(before.second / before.count * rows)


def _choose_round(pair: ColumnPair, best: Mixture) -> Mixture:
    """An offset of few digits beside an estimate, if it explains as much or all but chance: people add such ones."""
    limit = max(_AS_GOOD * best.cost + _NO_MORE, pair.noise.get(SHAPE, 0.0))
    for digits in _ROUND_DIGITS:
        rounded = float(f"{best.parameter:.{digits}g}")
        if abs(rounded - best.parameter) <= _NEAR_ROUND * abs(best.parameter):
            [mixture] = fit_mixtures(pair, np.subtract, [rounded])
            if mixture.cost <= limit:
                return mixture
    return best


def _measure_spread(pair: ColumnPair) -> float:
    """The range in which the middle half of the usual numbers lie, or else all of them."""
    points: Floats = pair.before.points
    middle = float(np.quantile(points, 0.75) - np.quantile(points, 0.25))
    return middle or float(points[-1] - points[0]) or abs(float(points[0]))
