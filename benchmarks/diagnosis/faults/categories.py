"""Faults of the categories of a column: one gets another name, two become one, one becomes two."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.diagnosis.faults.fault import ColumnChange, ColumnFault, choose, is_text

MOST, LEAST_SHARE = 50, 0.03
NEW_NAMES = ("{} (new)", "Group {}", "{}_v2", "New {}", "{}/other")


def is_category(values: pa.Array) -> bool:
    return is_text(values) and 3 <= pc.count_distinct(values).as_py() <= MOST and len(_list_frequent(values)) >= 2


def _list_frequent(values: pa.Array) -> list[str]:
    """The values that enough rows have, by name."""
    counts = pc.value_counts(values.drop_null()).to_pylist()
    return sorted(each["values"] for each in counts if each["counts"] >= LEAST_SHARE * len(values))


def _draw_name(old: str, values: pa.Array, chance: np.random.Generator) -> str | None:
    """A name that no row has: another word in full, or a variant of the old one."""
    names = [name.format(old) for name in NEW_NAMES] + ["Z9", "Miscellaneous"]
    new = str(choose(chance, names))
    return None if pc.any(pc.equal(values, new)).as_py() else new


def rename(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    frequent = _list_frequent(values)
    if not frequent or (new := _draw_name(old := str(choose(chance, frequent)), values, chance)) is None:
        return None
    return ColumnChange(pc.if_else(pc.equal(values, old), new, values), {"from": old, "to": new})


def merge(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """Rows of one category get the name of another that stays."""
    frequent = _list_frequent(values)
    if len(frequent) < 2:
        return None
    old, into = (frequent[int(at)] for at in chance.permutation(len(frequent))[:2])
    return ColumnChange(pc.if_else(pc.equal(values, old), into, values), {"from": old, "to": into})


def split(values: pa.Array, chance: np.random.Generator) -> ColumnChange | None:
    """One category becomes two new ones, or gives a part of its rows to a new one."""
    frequent = _list_frequent(values)
    if not frequent:
        return None
    old = str(choose(chance, frequent))
    chosen = pa.array(chance.random(len(values)) < chance.uniform(0.3, 0.7))
    rest = f"{old} 1" if chance.random() < 0.5 else old
    halves = pc.if_else(chosen, f"{old} 2", rest)
    return ColumnChange(pc.if_else(pc.equal(values, old), halves, values), {"from": old})


CATEGORY_FAULTS = (
    ColumnFault("category renamed", "category_renamed", is_category, rename, fits_segments=False),
    ColumnFault("categories merged", "categories_merged", is_category, merge, fits_segments=False),
    ColumnFault("category split", "category_split", is_category, split, fits_segments=False),
)
