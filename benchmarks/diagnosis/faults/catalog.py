"""All faults by name, and how one is put into a batch."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.diagnosis.faults.categories import CATEGORY_FAULTS
from benchmarks.diagnosis.faults.fault import (
    BrokenBatch,
    ColumnFault,
    Part,
    SourceBatch,
    TableFault,
    choose,
    count_changed,
    read_column,
    set_column,
)
from benchmarks.diagnosis.faults.missing import VALUE_FAULTS
from benchmarks.diagnosis.faults.numbers import NUMBER_FAULTS
from benchmarks.diagnosis.faults.rows import ROW_FAULTS
from benchmarks.diagnosis.faults.segments import draw_segment
from benchmarks.diagnosis.faults.tables import TABLE_FAULTS
from benchmarks.diagnosis.faults.texts import TEXT_FAULTS
from benchmarks.diagnosis.faults.times import TIME_FAULTS
from benchmarks.diagnosis.faults.unknown import UNKNOWN_FAULTS

MIXTURE, MIXTURES = "mixture", 3
"""Two known faults in two columns; how many of them are drawn for each batch."""

KNOWN_IN_COLUMNS = (*NUMBER_FAULTS, *VALUE_FAULTS, *TEXT_FAULTS, *TIME_FAULTS, *CATEGORY_FAULTS)
COLUMN_FAULTS = {fault.name: fault for fault in (*KNOWN_IN_COLUMNS, *UNKNOWN_FAULTS)}
BATCH_FAULTS = {fault.name: fault for fault in (*ROW_FAULTS, *TABLE_FAULTS)}
FAULTS: dict[str, ColumnFault | TableFault] = {**COLUMN_FAULTS, **BATCH_FAULTS}
CASES = (*FAULTS, *(f"{MIXTURE} {number}" for number in range(1, MIXTURES + 1)))
"""Every case that is drawn for a batch: a fault, or a mixture by number."""

SEGMENT_CHANCE = 0.4
LEAST_ROWS, LEAST_SHARE = 3, 0.002  # of the rows that are hit, which a fault has to change
MOST_TRIED = 12  # pairs of faults that are tried for a mixture
INVERTIBLE = frozenset(
    {
        *("scaled", "shifted", "unit_with_offset", "sign_flipped", "columns_swapped"),
        *("casing", "padding", "encoding", "rows_duplicated", "time_shifted", "column_renamed"),
    }
)


def break_batch(case: str, source: SourceBatch, chance: np.random.Generator) -> BrokenBatch | None:
    """A batch with the fault of a case; None if the fault fits nothing in the batch, or changes nothing."""
    if case.startswith(MIXTURE):
        return _mix(source.table, chance)
    fault = FAULTS[case]
    broken = (
        break_column(fault, source.table, chance)
        if isinstance(fault, ColumnFault)
        else fault.change(source, chance)
        if len(source.table)
        else None
    )
    if broken is None or broken[0].equals(source.table):
        return None
    return BrokenBatch(case, broken[0], (broken[1],))


def break_column(
    fault: ColumnFault, table: pa.Table, chance: np.random.Generator, without: Collection[str] = ()
) -> tuple[pa.Table, Part] | None:
    """A table with a fault in one column, which is drawn among those that the fault fits."""
    wants_segment = fault.fits_segments and chance.random() < SEGMENT_CHANCE
    for in_segment in (True, False) if wants_segment else (False,):
        for at in chance.permutation(table.num_columns):
            name = table.column_names[int(at)]
            values = read_column(table, name)
            if name not in without and fault.fits(values):
                broken = _change_values(fault, table, name, in_segment, chance)
                if broken is not None:
                    return broken
    return None


def _change_values(
    fault: ColumnFault, table: pa.Table, name: str, in_segment: bool, chance: np.random.Generator
) -> tuple[pa.Table, Part] | None:
    values = read_column(table, name)
    segment = draw_segment(table, (name,), chance) if in_segment else None
    if in_segment and segment is None:
        return None
    hit = values if segment is None else values.filter(segment.rows)
    change = fault.change(hit, chance)
    if change is None or count_changed(hit, change.values) < max(LEAST_ROWS, LEAST_SHARE * len(hit)):
        return None
    changed = change.values if segment is None else pc.replace_with_mask(values, segment.rows, change.values)
    part = Part(fault.canonical, (name,), change.parameters)
    if segment is not None:
        part = part._replace(segment=segment.segment, same_rows=segment.same_rows)
    return set_column(table, name, changed), part


def _mix(table: pa.Table, chance: np.random.Generator) -> BrokenBatch | None:
    """Two different known faults in two columns. No segment is made of a column that has a fault."""
    for _ in range(MOST_TRIED):
        first, second = choose(chance, KNOWN_IN_COLUMNS), choose(chance, KNOWN_IN_COLUMNS)
        one = break_column(first, table, chance) if first.canonical != second.canonical else None
        two = None if one is None else break_column(second, one[0], chance, one[1].columns)
        if one is None or two is None or _is_by(one[1], two[1]) or _is_by(two[1], one[1]):
            continue
        return BrokenBatch(MIXTURE, two[0], (one[1], two[1]))
    return None


def _is_by(part: Part, other: Part) -> bool:
    """Whether the segment of a fault is made of the column that another fault hit."""
    return part.segment is not None and part.segment[0] in other.columns
