"""Numbers are rounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from headgate.diagnose.column_pair import DISTINCT, SHAPE, VALUES, ColumnPair, Floats
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.display.numbers import format_number

_UNITS = (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01)
_NEARLY_ALL = 0.995


@fault
class PrecisionLost(KnownFault):
    """Values that are multiples of a unit, where they were finer before."""

    name: ClassVar = "precision_lost"

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if not pair.is_numeric or not pair.total:
            return
        now, before = _read_atoms(pair, now=True), _read_atoms(pair, now=False)
        for unit in _UNITS:
            share_now = _measure_multiples(now, unit)
            if share_now is None or share_now < _NEARLY_ALL:
                continue
            share_before = _measure_multiples(before, unit)
            if share_before is None:  # not all numbers are known: whether they are whole is, and how many there are
                finer = unit != 1 or pair.before.numbers is None or not pair.before.numbers.whole
                if not (finer and pair.now.distinct < 0.7 * pair.before.distinct):
                    return
            elif share_before > 0.9:
                return
            yield self._make_fit(pair, unit)
            return

    def _make_fit(self, pair: ColumnPair, unit: float) -> Fit:
        left = {DISTINCT: 0.0, VALUES: 0.0}
        if pair.grid.size:
            rounded = pair.before.share_up_to(np.floor(pair.grid / unit + 0.5) * unit + unit * 0.499)
            cut = pair.before.share_up_to((np.floor(pair.grid / unit) + 1) * unit * (1 - 1e-9))
            left[SHAPE] = min(pair.compare_shape(rounded), pair.compare_shape(cut), pair.compare_shape(pair.cdf_before))
        to = "whole numbers" if unit == 1 else f"multiples of {format_number(unit)}"
        return Fit(self.name, f"is rounded to {to}", pair.measure_unexplained(**left), (pair.label,), {"unit": unit})


def _read_atoms(pair: ColumnPair, now: bool) -> tuple[Floats, Floats] | None:
    """Numbers and their shares, where nearly all are known."""
    profile = pair.now if now else pair.before
    if profile.atoms is not None:
        return np.array(list(profile.atoms)), np.array(list(profile.atoms.values()))
    if not profile.is_hashed and profile.listed > 0.3:
        numbers = profile.read_numbers()
        if numbers is not None and numbers.atoms is not None:
            return np.array(list(numbers.atoms)), np.array(list(numbers.atoms.values()))
    return None


def _measure_multiples(atoms: tuple[Floats, Floats] | None, unit: float) -> float | None:
    """The share of numbers other than 0 that are multiples of a unit."""
    if atoms is None:
        return None
    values, shares = atoms
    counted = values != 0
    if not counted.any():
        return None
    ratio = values[counted] / unit
    hits = np.abs(ratio - np.rint(ratio)) < 1e-6 * np.maximum(1.0, np.abs(ratio))
    return float(shares[counted][hits].sum() / shares[counted].sum())
