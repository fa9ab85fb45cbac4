"""Fits a change of numbers that happened to a part of the rows: the distribution is then a mixture of two."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from headgate.diagnose.column_pair import DISTINCT, SHAPE, VALUES, ColumnPair, Floats, map_shares, measure_difference
from headgate.values.schema import Kind

NEARLY_ALL = 0.97
"""A share of the rows from which on it is told as all rows."""
MAX_PARTIAL_CONFIDENCE = 0.75
"""The confidence in a change of a part of the numbers: other causes give a distribution like that of two."""


_PART_COST = 0.04  # of the difference of the shapes, for a share that is free


class Mixture(NamedTuple):
    """A change of numbers with one parameter: the part of the rows that it happened to, and what it leaves.

    `shape` is how far the distribution then lies from that of the batch, `cost` is that and more for a free share.
    """

    parameter: float
    share: float
    shape: float
    cost: float


Inverse = Callable[[Floats, float], Floats]
"""What numbers were before the change with a parameter."""


def fit_mixtures(pair: ColumnPair, inverse: Inverse, parameters: Sequence[float], falls: bool = False) -> list[Mixture]:
    """For each parameter the best share of rows, in closed form, and how far the mixture lies from the batch.

    Args:
        pair: The column.
        inverse: Maps the numbers of the batch back to what they were.
        parameters: What to try.
        falls: Whether the change turns the order of numbers around.
    """
    grid, now, before = pair.grid, pair.cdf_now, pair.cdf_before
    reach = 0.5 if pair.now.numbers is not None and pair.now.numbers.whole else 0.0  # whole numbers were rounded
    points = np.stack([inverse(grid + reach * (not falls), each) for each in parameters])
    changed = pair.before.share_up_to(points.ravel() - pair.step).reshape(points.shape)
    if falls:
        changed = 1 - changed
    toward, wanted = changed - before, now - before
    length = (toward * toward).sum(axis=1)
    shares = np.clip(np.divide(toward @ wanted, length, out=np.zeros(len(length)), where=length > 0), 0.0, 1.0)
    whole = np.abs(now - changed).mean(axis=1)
    parts = np.abs(now - before - shares[:, None] * toward).mean(axis=1)
    part_cost = _PART_COST * pair.compare_shape(before)
    found = []
    for parameter, share, of_part, of_whole in zip(parameters, shares, parts, whole, strict=True):
        if share >= NEARLY_ALL or of_whole <= of_part + part_cost:
            found.append(Mixture(parameter, 1.0, float(of_whole), float(of_whole)))
        else:
            found.append(Mixture(parameter, float(share), float(of_part), float(of_part) + part_cost))
    return found


def refine(pair: ColumnPair, inverse: Inverse, start: Mixture, width: float, ratio: bool, rounds: int = 4) -> Mixture:
    """The best parameter near one, by smaller and smaller steps.

    Args:
        pair: The column.
        inverse: Maps the numbers of the batch back.
        start: Where to begin.
        width: How far to look, as a factor or as a difference.
        ratio: Whether steps are factors.
        rounds: How often the steps are made smaller.
    """
    best = start
    for _ in range(rounds):
        steps = np.linspace(-1, 1, 13)
        near = best.parameter * width**steps if ratio else best.parameter + width * steps
        best = min([best, *fit_mixtures(pair, inverse, near.tolist())], key=lambda each: each.cost)
        width = width ** (1 / 5) if ratio else width / 5
    return best


def choose_known(pair: ColumnPair, candidates: Iterable[Mixture], best: Mixture, tolerance: float) -> Mixture:
    """A known parameter instead of the best one, if it lies near and explains about as much, or all but chance."""
    limit = max(1.3 * best.cost + 0.01, pair.noise.get(SHAPE, 0.0))
    near = [
        each
        for each in candidates
        if abs(each.parameter - best.parameter) <= tolerance * abs(best.parameter) and each.cost <= limit
    ]
    return min(near, key=lambda each: each.cost, default=best)


def measure_left(pair: ColumnPair, mixture: Mixture, undo: Callable[[float], float] | None = None) -> float:
    """What a change of numbers leaves unexplained: of the distribution, and of the values where they are known."""
    # of all rows, the distribution is known; of a part of them, that part may be unlike the others
    left = {SHAPE: 2 * mixture.shape} if mixture.share == 1 else {SHAPE: mixture.shape, DISTINCT: 0.0}
    values = pair.baseline.get(VALUES, 0.0)
    if values:
        others = max(0.0, measure_difference(pair.named, pair.before.values) - mixture.share)
        left[VALUES] = others if undo is None else min(others, _compare_values(pair, undo, mixture.share))
    return pair.measure_unexplained(**left)


def _compare_values(pair: ColumnPair, undo: Callable[[float], float], share: float) -> float:
    """How far the values lie apart after the change is undone, in those that no run had or in all."""

    def restore(text: str) -> str:
        if share < 1 and pair.knows_value(text):
            return pair.name_value(text)
        try:
            number = undo(float(text))
        except ValueError:
            return pair.name_value(text)
        return pair.name_value(_write_number(pair, number))

    restored = measure_difference(map_shares(pair.now.values, restore), pair.before.values)
    return min(restored, measure_difference(pair.named, pair.before.values))


def knows_number(pair: ColumnPair, number: float) -> bool:
    """Whether a run before had a number among its frequent values."""
    return pair.knows_value(_write_number(pair, number))


def count_decimals(number: float) -> int:
    """How many decimals a number has, without what rounding adds.

    >>> count_decimals(0.1 + 0.2), count_decimals(12.0), count_decimals(1e-7)
    (1, 0, 7)
    """
    exponent = Decimal(f"{number:.12g}").normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _write_number(pair: ColumnPair, number: float) -> str:
    """A number as a column has it among its values, without what rounding adds."""
    rounded = float(f"{number:.12g}")
    if not math.isfinite(rounded):
        return repr(rounded)
    if pair.before.kind is Kind.INTEGER and abs(rounded - round(rounded)) < 1e-6:
        return str(round(rounded))
    if pair.before.kind is Kind.DECIMAL:
        return f"{rounded:.{pair.decimal_places}f}"
    return repr(rounded)
