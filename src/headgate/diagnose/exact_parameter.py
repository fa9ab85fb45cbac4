"""The parameter of a change of numbers to the last digit, where the values themselves show it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headgate.diagnose.column_pair import ColumnPair, Floats
from headgate.diagnose.known_factors import KNOWN_FACTORS
from headgate.diagnose.mixture import count_decimals, knows_number
from headgate.metrics.states.quantiles import Quantiles

Mask = npt.NDArray[np.bool_]

_MOST_VALUES, _MOST_CHECKED, _FEWEST = 5, 12, 3
_RESTORED = 0.6  # of the values that no run had, that one had before they were changed
_NEARLY_ALL, _MORE_THAN_FEW = 0.9, 0.2  # of the frequent new values that are restored, and of all values that are new
_MOST_DIGITS, _MOST_TRIED = 6, 100_000  # of a factor, and factors of so many digits
_MOST_DECIMALS, _MOST_NUMBERS = 6, 200  # of the usual numbers, and numbers of the batch that are divided
_NEIGHBOURS, _MOST_FITTING = 7, 50  # numbers beside each one, and factors that are looked at closely
_LEAST_OF_ROUNDED = 1.1  # a factor that is not larger leaves no trace in numbers that were rounded after it
_BY_CHANCE = 1e-3  # how often one of the factors that are tried gives few decimals by chance
_NOISE = 1e-11  # of a number, that a few operations on doubles leave


class ExactParameter(NamedTuple):
    """A parameter after whose undoing values that no run had are values that one had.

    `restored` is the share of these among the most frequent new values, `share` is that of all new values.
    """

    parameter: float
    restored: float
    share: float

    @property
    def is_certain(self) -> bool:
        """Whether nearly all new values are restored, and they are more than a few of all."""
        return self.restored >= _NEARLY_ALL and self.share >= _MORE_THAN_FEW


def find_exact_parameters(
    pair: ColumnPair,
    undo: Callable[[float, float], float],
    is_change: Callable[[float], bool],
    known: Iterable[float] = (),
) -> list[ExactParameter]:
    """The parameters that restore most of the new values, the most first.

    Where numbers lie densely, several do; only the distribution tells which of them it was. Tried are those that lie
    between the most frequent values, and known ones.

    Args:
        pair: The column.
        undo: Gives the number before, from the number now and the parameter; also the parameter, from both numbers.
        is_change: Whether a parameter changes numbers at all.
        known: More parameters.
    """
    new = {text: share for text, share in pair.now.values.items() if not pair.knows_value(text)}
    frequent = sorted(new, key=lambda text: -new[text])[:_MOST_CHECKED]
    numbers = {text: float(text) for text in frequent if math.isfinite(float(text))}
    if any(knows_number(pair, number) for number in numbers.values()):  # they are only written in another way
        return []
    usual = _list_usual_numbers(pair)
    between = {float(f"{undo(one, each):.9g}") for one in list(numbers.values())[:_MOST_VALUES] for each in usual}
    total, share_of_new = sum(new[text] for text in numbers), sum(new.values())
    found: list[tuple[float, float]] = []
    for parameter in [*known, *sorted(filter(is_change, between))]:
        restored = [text for text, number in numbers.items() if knows_number(pair, undo(number, parameter))]
        share = sum(new[text] for text in restored)
        if len(restored) >= _FEWEST and share > _RESTORED * total:
            found.append((share, parameter))
    ranked = sorted(found, key=lambda each: -each[0])
    return [ExactParameter(parameter, share / total, share_of_new) for share, parameter in ranked]


def _list_usual_numbers(pair: ColumnPair) -> list[float]:
    """The most frequent numbers of the past, but for 0, if they are known."""
    shares = pair.before.atoms
    if shares is None and not pair.before.is_hashed:
        shares = {float(text): share for text, share in pair.before.values.items()}
    known = {number: share for number, share in (shares or {}).items() if number}
    return sorted(known, key=lambda number: -known[number])[:_MOST_VALUES]


def find_short_factor(pair: ColumnPair, estimate: float, tolerance: float) -> float | None:
    """The factor near an estimate, by whose undoing all numbers get as few decimals as usual; None if none surely does.

    Factors that are known are tried first, then the others and their inverses, those with few digits first.
    """
    usual = pair.before.numbers
    texts = [text for text in pair.now.values if not pair.knows_value(text)][:_MOST_NUMBERS]
    numbers = np.array([float(text) for text in texts])
    numbers = numbers[np.isfinite(numbers) & (numbers != 0)]
    if usual is None or len(numbers) < _FEWEST or not estimate > 0:
        return None
    decimals = max(map(count_decimals, (usual.low, usual.high)))
    if decimals > _MOST_DECIMALS:
        return None
    were_rounded = usual.whole and bool((numbers == np.rint(numbers)).all())
    numbers = numbers if were_rounded else numbers[:_MOST_CHECKED]
    unit = 10.0**decimals
    for factors in _list_factors(estimate * (1 - tolerance), estimate * (1 + tolerance)):
        fitting = factors[factors > _LEAST_OF_ROUNDED] if were_rounded else factors
        for few in (numbers[:_FEWEST], numbers[:_MOST_CHECKED], numbers):  # most factors fail soon
            fitting = fitting[_check_decimals(few, fitting, unit, were_rounded).all(axis=1)]
        certain = [
            each
            for each in fitting[:_MOST_FITTING].tolist()
            if _expect_fitting(numbers, each, unit, were_rounded) * len(factors) < _BY_CHANCE
            and _has_usual_divisor(numbers / each * unit, usual, unit)
        ]
        if certain:
            restored = {tuple(np.rint(numbers / each * unit)) for each in certain}
            return min(certain, key=lambda each: abs(each - estimate)) if len(restored) == 1 else None
    return None


def _has_usual_divisor(restored: Floats, usual: Quantiles, unit: float) -> bool:
    """Whether what divides all restored numbers divides those of the past too, as a hundred if they are rounded to it.

    Numbers with a divisor in common become whole numbers by many factors, most of them wrong.
    """
    common = math.gcd(*(int(each) for each in np.rint(restored)))
    return not any(round(each * unit) % max(1, common) for each in (usual.low, usual.high))


def _check_decimals(numbers: Floats, factors: Floats, unit: float, were_rounded: bool) -> Mask:
    """For each factor which numbers divided by it are whole in some unit."""
    with np.errstate(over="ignore", invalid="ignore"):  # what is beyond a double is not whole
        whole = numbers[None, :] / factors[:, None] * unit
        slack = _NOISE * np.maximum(np.abs(whole), 1.0)
        if were_rounded:
            slack = slack + 0.5 / factors[:, None]
        return np.asarray(np.abs(whole - np.rint(whole)) <= slack, np.bool_)


def _expect_fitting(numbers: Floats, factor: float, unit: float, were_rounded: bool) -> float:
    """How often all numbers would be whole by chance, by how many others near them are.

    Divided by 1.25, any whole number is near one.
    """
    steps = np.arange(1, _NEIGHBOURS + 1) * (1.0 if were_rounded else 1.0 / unit)
    near = (numbers[:, None] + steps[None, :]).ravel()
    hits = _check_decimals(near, np.array([factor]), unit, were_rounded).sum() + 1
    return float((hits / (len(near) + 1)) ** len(numbers))


def _list_factors(low: float, high: float) -> Iterator[Floats]:
    """The factors between two, in groups of those that are about as likely."""
    known = [each for each in KNOWN_FACTORS if low <= each <= high]
    if known:
        yield np.array(known)
    for digits in range(1, _MOST_DIGITS + 1):
        for short in (_list_short_numbers(low, high, digits), 1.0 / _list_short_numbers(1 / high, 1 / low, digits)):
            if 0 < len(short) <= _MOST_TRIED:
                yield short


def _list_short_numbers(low: float, high: float, digits: int) -> Floats:
    """The numbers between two that have at most so many digits.

    >>> _list_short_numbers(2.17, 2.25, 2).tolist()
    [2.2]
    """
    places = digits - 1 - math.floor(math.log10(high))
    unit = 10.0 ** abs(places)
    scale = unit if places >= 0 else 1 / unit
    first, last = math.ceil(low * scale), math.floor(high * scale)
    if last - first >= _MOST_TRIED:
        return np.empty(0)
    steps = np.arange(first, last + 1, dtype=np.float64)
    return np.asarray(steps / unit if places >= 0 else steps * unit, np.float64)
