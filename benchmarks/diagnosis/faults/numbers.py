"""Faults of numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.diagnosis.faults.fault import ColumnChange, ColumnFault, choose, has_values, is_number

KNOWN_FACTORS = (100.0, 1000.0, 10.0, 1024.0, 60.0, 3600.0, 1.609344, 2.20462, 0.3048, 2.54)
SMALL_MEDIAN = 20  # a median below which whole numbers times a fraction would mostly be rounding
LARGEST = 2.0**53


def is_amount(values: pa.Array) -> bool:
    """Whether numbers measure something: numbers that name rows are whole and never repeat."""
    if not is_number(values) or not has_values(values):
        return False
    known = values.drop_null()
    if pa.types.is_integer(values.type) and pc.count_distinct(known).as_py() == len(known) > 60:
        return False
    return bool(np.isfinite(to_floats(known)).all())


def to_floats(values: pa.Array) -> npt.NDArray[np.float64]:
    return np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def like(values: pa.Array, changed: npt.NDArray[np.float64]) -> pa.Array | None:
    """Numbers in the type of the column, null where it is; None if the type cannot hold them."""
    nulls = np.asarray(pc.is_null(values))
    known = changed[~nulls]
    if not np.isfinite(known).all() or (len(known) and np.abs(known).max() >= LARGEST):
        return None
    if pa.types.is_integer(values.type):
        filled = np.where(nulls, 0.0, np.rint(changed))
        return pa.array(filled.astype(np.int64), mask=nulls)
    return pa.array(changed, pa.float64(), mask=nulls)


def _is_coarse(values: pa.Array, factor: float) -> bool:
    """Whether rounding to whole numbers would hide the factor."""
    median = float(np.nanmedian(np.abs(to_floats(values)))) * min(1.0, abs(factor))
    return pa.types.is_integer(values.type) and not factor.is_integer() and median < SMALL_MEDIAN


def _scale(values: pa.Array, factor: float) -> ColumnChange | None:
    if not len(values.drop_null()) or _is_coarse(values, factor):
        return None
    scaled = like(values, to_floats(values) * factor)
    return None if scaled is None else ColumnChange(scaled, {"factor": factor})


def scale_by_known(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    factor = float(choose(chance, KNOWN_FACTORS))
    return _scale(values, factor if chance.random() < 0.5 else 1 / factor)


def scale_by_unknown(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """A factor as of currencies: nobody can know it."""
    factor = chance.uniform(0.3, 0.8) if chance.random() < 0.5 else chance.uniform(1.2, 20.0)
    return _scale(values, round(float(factor), 4))


def shift(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """Moves all numbers by half their spread to ten times their spread."""
    known = to_floats(values.drop_null())
    if not len(known) or not (spread := float(known.std())):
        return None
    size = spread * float(np.exp(chance.uniform(np.log(0.5), np.log(10.0))))
    offset = float(f"{(1 if chance.random() < 0.5 else -1) * size:.2g}")
    offset = float(round(offset)) if pa.types.is_integer(values.type) else offset
    moved = like(values, to_floats(values) + offset)
    return None if moved is None or not offset else ColumnChange(moved, {"offset": offset})


def change_temperature(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """Celsius as Fahrenheit, or the other way round."""
    if not len(values.drop_null()) or _is_coarse(values, 0.55):
        return None
    floats = to_floats(values)
    if chance.random() < 0.5:
        changed, to = like(values, floats * 1.8 + 32), "fahrenheit"
    else:
        changed, to = like(values, (floats - 32) / 1.8), "celsius"
    return None if changed is None else ColumnChange(changed, {"unit": to})


def flip_sign(values: pa.Array, _: np.random.Generator) -> ColumnChange | None:
    known = to_floats(values.drop_null())
    one_sided = len(known) and ((known >= 0).mean() > 0.9 or (known <= 0).mean() > 0.9)
    changed = like(values, -to_floats(values)) if one_sided else None
    return None if changed is None else ColumnChange(changed)


def round_off(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """Numbers rounded to whole ones, tens or hundreds; the unit is below the spread of the values."""
    known = to_floats(values.drop_null())
    if not len(known):
        return None
    has_decimals = bool((known != np.rint(known)).mean() > 0.5)
    units = [unit for unit in ((1.0, 10.0) if has_decimals else (10.0, 100.0)) if unit < 2 * known.std()]
    if not units:
        return None
    unit = float(choose(chance, units))
    changed = like(values, np.rint(to_floats(values) / unit) * unit)
    return None if changed is None else ColumnChange(changed, {"unit": unit})


NUMBER_FAULTS = (
    ColumnFault("scaled by a known factor", "scaled", is_amount, scale_by_known),
    ColumnFault("scaled by an unknown factor", "scaled", is_amount, scale_by_unknown),
    ColumnFault("shifted", "shifted", is_amount, shift),
    ColumnFault("other temperature unit", "unit_with_offset", is_amount, change_temperature),
    ColumnFault("sign flipped", "sign_flipped", is_amount, flip_sign),
    ColumnFault("precision lost", "precision_lost", is_amount, round_off),
)
