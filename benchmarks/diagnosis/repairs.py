"""Whether a held batch is like the good one again after its faults are undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import headgate as hg
from benchmarks.diagnosis.faults.catalog import INVERTIBLE
from benchmarks.diagnosis.faults.fault import BrokenBatch, Parameters, Part, map_texts, read_column
from benchmarks.diagnosis.faults.numbers import to_floats

Row = dict[str, Any]
RELATIVE, DIGITS = 1e-9, "{:.9g}"


def has_inverse(broken: BrokenBatch, original: pa.Table) -> bool:
    """Whether every fault of a batch can be undone by what the batch has, if all is known about the fault.

    Names that were written in upper case cannot, nor can numbers that were rounded.
    """
    return all(part.canonical in INVERTIBLE and _can_be_undone(part, broken.table, original) for part in broken.parts)


def _can_be_undone(part: Part, broken: pa.Table, original: pa.Table) -> bool:
    """Whether what undoes a fault of values gives the values of the good batch again."""
    if part.canonical not in _UNDO:
        return True
    now, before = (read_column(table, part.columns[0]) for table in (broken, original))
    changed = pc.invert(pc.coalesce(pc.equal(now, before), pc.and_(pc.is_null(now), pc.is_null(before)), False))
    now, before = now.filter(changed), before.filter(changed)
    return any(_equals_in_order(undone, before) for undone in _UNDO[part.canonical](now, before.type, part.parameters))


def _undo_texts(texts: pa.Array, _: pa.DataType, __: Parameters) -> list[pa.Array]:
    return [map_texts(texts, change) for change in (str.upper, str.lower, str.title, str.capitalize)]


def _undo_padding(texts: pa.Array, _: pa.DataType, __: Parameters) -> list[pa.Array]:
    return [map_texts(texts, str.strip)]


def _undo_numbers(numbers: pa.Array, kind: pa.DataType, given: Parameters) -> list[pa.Array]:
    values = to_floats(numbers)
    if "factor" in given:
        undone = values / float(given["factor"])
    elif "offset" in given:
        undone = values - float(given["offset"])
    else:
        undone = (values - 32.0) / 1.8 if given["unit"] == "fahrenheit" else values * 1.8 + 32.0
    undone = np.rint(undone) if pa.types.is_integer(kind) else undone
    return [pa.array(undone, mask=np.asarray(pc.is_null(numbers)))]


_UNDO: dict[str, Callable[[pa.Array, pa.DataType, Parameters], list[pa.Array]]] = {
    "casing": _undo_texts,
    "padding": _undo_padding,
    **dict.fromkeys(("scaled", "shifted", "unit_with_offset"), _undo_numbers),
}


def try_repair(gate: hg.Gate, partition: str, broken: pa.Table, original: pa.Table) -> Row:
    """What became of the repair of a held batch: whether it passes, and whether it equals the good batch."""
    try:
        trial = gate.try_repair(broken, partition)
    except hg.HeadgateError as error:
        return {"passes": False, "equals": False, "estimated": False, "repairs": [], "error": str(error)}
    return {
        "passes": trial.passed,
        "equals": equals(trial.data, original),
        "estimated": trial.is_estimate,
        "repairs": list(trial.repairs),
    }


def equals(repaired: pa.Table, original: pa.Table) -> bool:
    """Whether two tables have the same names and the same rows, in any order. Numbers may differ by rounding alone."""
    if repaired.column_names != original.column_names or len(repaired) != len(original):
        return False
    pairs = [(read_column(repaired, name), read_column(original, name)) for name in original.column_names]
    if all(_equals_in_order(one, other) for one, other in pairs):
        return True
    one, other = (Counter(zip(*map(_write, columns), strict=True)) for columns in zip(*pairs, strict=True))
    return one == other


def _equals_in_order(one: pa.Array, other: pa.Array) -> bool:
    if one.type == other.type and one.equals(other):
        return True
    if not _are_numbers(one.type, other.type):
        return False
    if not pc.is_null(one).equals(pc.is_null(other)):
        return False
    known = (np.asarray(each.drop_null().cast(pa.float64(), safe=False)) for each in (one, other))
    return bool(np.allclose(*known, rtol=RELATIVE, atol=0.0, equal_nan=True))


def _are_numbers(*types: pa.DataType) -> bool:
    return all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in types)


def _write(values: pa.Array) -> list[str]:
    """Values as texts that are equal for equal values, whatever the order of rows."""
    if _are_numbers(values.type):
        return ["" if each is None else DIGITS.format(each) for each in values.to_pylist()]
    return [repr(each) for each in values.to_pylist()]
