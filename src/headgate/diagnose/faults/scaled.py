"""Values are multiplied by a factor: another unit, another currency."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import ClassVar

import msgspec
import numpy as np
import pyarrow as pa

from headgate.diagnose.column_pair import ColumnPair, Floats
from headgate.diagnose.exact_parameter import ExactParameter, find_exact_parameters, find_short_factor
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.known_factors import KNOWN_FACTORS, describe_factor
from headgate.diagnose.mixture import (
    MAX_PARTIAL_CONFIDENCE,
    NEARLY_ALL,
    Mixture,
    choose_known,
    count_decimals,
    fit_mixtures,
    measure_left,
    refine,
)
from headgate.diagnose.restored import restore_numbers
from headgate.display.numbers import format_parameter
from headgate.values.diagnosis import FaultParameters

_FREE = 10 ** np.linspace(-4, 4, 121)
_LEAST = 0.02  # a factor nearer to 1 is none
_MIN_SHARE = 0.02  # of the rows, below which a distribution shows no factor
_LEAST_TOLERANCE, _MOST_TOLERANCE = 0.005, 0.08  # by which an estimated factor may differ from the one that is named
_CERTAIN = 0.03  # of a factor, by which an estimate may be wrong, so that a known one is no guess
_LIKELY = 0.6  # of a change, that a factor may leave unexplained to be worth a closer look
_AS_MANY = 0.9  # of the values that the best factor restores, that another one may restore
_MOST_CHECKED = 12
_EXACT = 0.4  # of what is left, where values are restored
_FREE_COST, _KNOWN_COST, _PART_COST = 0.06, 0.0, 0.03


@fault
class Scaled(KnownFault):
    """Values times a factor, of all rows or of a part of them."""

    name: ClassVar = "scaled"
    repairs: ClassVar = True

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if not pair.is_numeric:
            return
        known = fit_mixtures(pair, _divide, list(KNOWN_FACTORS))
        free = fit_mixtures(pair, _divide, [*_guess_factors(pair), *_FREE])
        best = min([*known, *free], key=lambda each: each.cost)
        best = refine(pair, _divide, best, 1.12, ratio=True)
        exact = _find_exact_factor(pair, best)
        if exact is not None:
            yield _make_exact_fit(pair, exact)
            return
        surer, error = _guess_by_means(pair), _estimate_error(pair, best.share)
        tolerance = min(error, _MOST_TOLERANCE)
        if best.share == 1 and surer:
            best = choose_known(pair, fit_mixtures(pair, _divide, surer), best, tolerance)
        chosen = choose_known(pair, _keep_decimals(pair, known, best, tolerance), best, tolerance)
        is_likely = best.share == 1 and measure_left(pair, best) <= _LIKELY
        short = find_short_factor(pair, best.parameter, tolerance) if is_likely else None
        if short is not None:
            chosen = choose_known(pair, fit_mixtures(pair, _divide, [short]), chosen, 2 * tolerance)
        for mixture in dict.fromkeys((chosen, best)):
            if _is_factor(mixture.parameter) and mixture.share > _MIN_SHARE:
                is_known = mixture.parameter in KNOWN_FACTORS and mixture.share == 1 and error <= _CERTAIN
                yield _make_fit(pair, mixture, is_estimate=mixture.parameter != short and not is_known)

    def undo(self, values: pa.Array, parameters: FaultParameters) -> pa.Array:
        return restore_numbers(values, operator.truediv, float(parameters["factor"]))


def _is_factor(ratio: float) -> bool:
    return ratio > 0 and abs(ratio - 1) > _LEAST


def _make_fit(pair: ColumnPair, mixture: Mixture, is_estimate: bool = False) -> Fit:
    factor, share = mixture.parameter, mixture.share
    unit = describe_factor(factor)
    cost = _KNOWN_COST if unit else _FREE_COST
    fraction, size = ("", factor) if factor >= 0.1 else ("1/", 1 / factor)
    said = f"{fraction}{format_parameter(size, is_short=bool(unit) or is_estimate)}"
    return Fit(
        Scaled.name,
        f"looks multiplied by {said}{f' ({unit})' if unit else ''}",
        measure_left(pair, mixture, lambda value: value / factor),
        (pair.label,),
        {"factor": float(f"{factor:.8g}") if is_estimate and factor not in KNOWN_FACTORS else factor},
        share,
        cost + _PART_COST * (share < 1),
        is_estimate,
        MAX_PARTIAL_CONFIDENCE if share < 1 else 1.0,
    )


def _divide(numbers: Floats, factor: float) -> Floats:
    return numbers / factor


def _guess_factors(pair: ColumnPair) -> list[float]:
    """The ratios of the quantiles of both, and of their means."""
    now, before = pair.now.points, pair.before.points
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratios = now / before
    usable = ratios[np.isfinite(ratios) & (ratios > 0)]
    found = [float(np.median(usable))] if len(usable) else []
    if pair.now.moments is not None and pair.before.moments is not None and pair.before.moments.mean:
        found.append(pair.now.moments.mean / pair.before.moments.mean)
    return [each for each in found if 1e-9 < each < 1e9]


def _guess_by_means(pair: ColumnPair) -> list[float]:
    """The ratio of the mean to that of all runs, which is surer than that to one run."""
    if pair.now.moments is None or not pair.usual_mean or math.isnan(pair.usual_mean):
        return []
    ratio = pair.now.moments.mean / pair.usual_mean
    return [ratio] if 1e-9 < ratio < 1e9 else []


def _find_exact_factor(pair: ColumnPair, best: Mixture) -> ExactParameter | None:
    """The factor by which new values are those of the past, if it also explains the distribution; None if none does.

    Half the right factor gives usual numbers too, where these lie densely.
    """
    found = find_exact_parameters(pair, operator.truediv, _is_factor, KNOWN_FACTORS)
    usual = [each for each in found if each.restored >= _AS_MANY * found[0].restored]
    if not usual:
        return None
    mixtures = fit_mixtures(pair, _divide, [each.parameter for each in usual])
    chosen = choose_known(pair, mixtures, best, math.inf)
    return next((each for each in usual if each.parameter == chosen.parameter), None)


def _make_exact_fit(pair: ColumnPair, exact: ExactParameter) -> Fit:
    """A factor by values that no run had, which are values that one had once they are divided: that is no chance."""
    [mixture] = fit_mixtures(pair, _divide, [exact.parameter])
    is_whole = mixture.share == 1 or exact.share > NEARLY_ALL * (1 - _share_unchanged(pair))
    fit = _make_fit(pair, mixture._replace(share=1.0 if is_whole else exact.share), not exact.is_certain)
    return msgspec.structs.replace(fit, unexplained=_EXACT * fit.unexplained, cost=0.0, max_confidence=1.0)


def _share_unchanged(pair: ColumnPair) -> float:
    """The share of zeros: no factor changes them."""
    return sum(share for text, share in pair.now.values.items() if not float(text))


def _estimate_error(pair: ColumnPair, share: float) -> float:
    """By what part an estimated factor may differ from the right one: three times its standard error.

    The mean changes by chance, the more the fewer rows it is of, and from run to run.
    """
    before = pair.before.moments
    if before is None or not before.mean:
        return _MOST_TOLERANCE
    spread = math.sqrt(before.second / before.count) / abs(before.mean)
    by_chance = spread * math.sqrt(1 / max(1.0, share * pair.now.present) + 1 / max(1, pair.before.present))
    by_day = 0.0 if math.isnan(pair.mean_noise) else pair.mean_noise
    return max(_LEAST_TOLERANCE, 3 * max(by_chance, by_day))


def _keep_decimals(pair: ColumnPair, known: list[Mixture], best: Mixture, tolerance: float) -> list[Mixture]:
    """Of known factors near an estimate, those that give as few decimals as usual, as 1000 may and 1024 does not."""
    near = [each for each in known if abs(each.parameter / best.parameter - 1) <= tolerance]
    usual, numbers = pair.before.numbers, [float(text) for text in list(pair.now.values)[:_MOST_CHECKED]]
    if len(near) < 2 or usual is None or not numbers:
        return near
    most = max(map(count_decimals, (usual.low, usual.high)))
    short = [each for each in near if all(count_decimals(one / each.parameter) <= most for one in numbers)]
    return short or near
