"""Degrees Celsius and Fahrenheit are mixed up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from headgate.diagnose.column_pair import ColumnPair, Floats
from headgate.diagnose.fault import Fit, KnownFault, fault
from headgate.diagnose.mixture import MAX_PARTIAL_CONFIDENCE, fit_mixtures, measure_left
from headgate.diagnose.restored import as_type, drop_rounding
from headgate.values.diagnosis import FaultParameters

_TO_FAHRENHEIT, _TO_CELSIUS = 1.0, -1.0
_DEGREES = {"Celsius": (-90.0, 60.0), "Fahrenheit": (-130.0, 140.0)}
"""Where temperatures of the weather lie."""
_ANY = (-500.0, 2_000.0)
"""Where temperatures of anything lie, such as an oven."""
_NO_DEGREES_COST = 0.06


@fault
class UnitWithOffset(KnownFault):
    """Values in Fahrenheit where Celsius is usual, or the other way round."""

    name: ClassVar = "unit_with_offset"
    repairs: ClassVar = True

    def fit_column(self, pair: ColumnPair) -> Iterator[Fit]:
        if not pair.is_numeric:
            return
        may_be_temperature = _lies_within(pair, *_ANY)
        for mixture in fit_mixtures(pair, _convert_back, (_TO_FAHRENHEIT, _TO_CELSIUS)):
            unit = "Fahrenheit" if mixture.parameter == _TO_FAHRENHEIT else "Celsius"
            usual = "Celsius" if unit == "Fahrenheit" else "Fahrenheit"
            is_weather = _lies_within(pair, *_DEGREES[usual])
            if mixture.share == 1 or (mixture.share and is_weather):
                yield Fit(
                    self.name,
                    f"looks like degrees {unit} instead of {usual}",
                    measure_left(pair, mixture, lambda value, to=mixture.parameter: float(_convert_back(value, to))),  # type: ignore[misc]
                    (pair.label,),
                    {"unit": unit.lower()},
                    mixture.share,
                    0.08 * (mixture.share < 1) + 0.04 * (not is_weather) + _NO_DEGREES_COST * (not may_be_temperature),
                    max_confidence=MAX_PARTIAL_CONFIDENCE if mixture.share < 1 else 1.0,
                )

    def undo(self, values: pa.Array, parameters: FaultParameters) -> pa.Array:
        numbers = values.cast(pa.float64())
        if parameters["unit"] == "fahrenheit":
            restored = pc.divide(pc.subtract(numbers, 32.0), 1.8)
        else:
            restored = pc.add(pc.multiply(numbers, 1.8), 32.0)
        doubles = drop_rounding(restored.to_numpy(zero_copy_only=False))
        nulls = values.is_null().to_numpy(zero_copy_only=False)
        return as_type(pa.array(doubles, mask=nulls), values.type)


def _convert_back(numbers: Floats, direction: float) -> Floats:
    return (numbers - 32) / 1.8 if direction == _TO_FAHRENHEIT else numbers * 1.8 + 32


def _lies_within(pair: ColumnPair, low: float, high: float) -> bool:
    """Whether the usual numbers lie between two."""
    return bool(low <= pair.before.points[0] and pair.before.points[-1] <= high)
