"""Another unit of measurement: metres for kilometres, cents for euros."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headgate.inject.issue import NUMBERS, Issue, issue
from headgate.inject.numbers import fit_numbers, narrow_doubles
from headgate.inject.parameters import check_factor


@issue
class UnitChange(Issue, frozen=True):
    """Every value times `factor` (Appendix B, type 2); whole numbers stay whole, decimals keep their scale.

    >>> UnitChange(factor=1000).apply_to(pa.array([3, None]), np.random.default_rng(0)).to_pylist()
    [3000, None]
    """

    factor: float
    name: ClassVar = "unit_change"
    is_random: ClassVar = False
    widens_numbers: ClassVar = True
    accepts: ClassVar = NUMBERS
    levels: ClassVar = ({"factor": 10.0}, {"factor": 100.0}, {"factor": 1000.0})

    def __post_init__(self) -> None:
        check_factor(self)

    def change(self, values: pa.Array, rng: np.random.Generator) -> pa.Array:
        if pa.types.is_decimal(values.type):
            return _decimals(values, self.factor)
        if pa.types.is_integer(values.type):
            return _whole(values, self.factor)
        return narrow_doubles(pc.multiply(values.cast(pa.float64()), self.factor), values.type)


def _whole(values: pa.Array, factor: float) -> pa.Array:
    numbers = np.asarray(values.cast(pa.int64()))
    most = max(abs(int(numbers.max())), abs(int(numbers.min())))
    exact = factor.is_integer() and most * int(factor) < 2**63
    return fit_numbers(pa.array(numbers * int(factor) if exact else np.rint(numbers * factor)), values.type)


def _decimals(values: pa.Array, factor: float) -> pa.Array:
    kind = values.type
    by = pa.scalar(Decimal(str(int(factor) if factor.is_integer() else factor)))
    try:
        if kind.precision + by.type.precision >= 38:
            values = values.cast(pa.decimal256(kind.precision, kind.scale))
        return fit_numbers(pc.round(pc.multiply(values, by), kind.scale), kind)
    except (pa.ArrowInvalid, ValueError):
        return pc.multiply(values.cast(pa.float64()), factor)
