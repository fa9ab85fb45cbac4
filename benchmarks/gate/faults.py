"""Faults of a batch, for tables of any columns: what hits a column draws it among those that the fault fits.

Nulls go into a column that has none in this batch and the one before, a new category into a text of few values, factors
onto numbers that are no key. A fault gives None if it fits no column.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MOST_CATEGORIES, NEW_CATEGORY, NEW_SHARE = 50, "unknown", 0.02
HOURS = datetime.timedelta(hours=8)
YEAR = datetime.timedelta(days=365)
Fault = Callable[[pa.Table, pa.Table, np.random.Generator], pa.Table | None]


def _choose(names: list[str], chance: np.random.Generator) -> str | None:
    return str(chance.choice(sorted(names))) if names else None


def _replace(table: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, column)


def _draw_rows(table: pa.Table, count: int, chance: np.random.Generator) -> pa.Array:
    mask = np.zeros(len(table), bool)
    mask[chance.permutation(len(table))[: max(1, count)]] = True
    return pa.array(mask)


def _empty(share: float, table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    name = _choose([each for each in _list_shared(table, before) if _is_complete(table, before, each)], chance)
    if name is None:
        return None
    rows = _draw_rows(table, round(share * len(table)), chance)
    return _replace(table, name, pc.if_else(rows, pa.scalar(None, table[name].type), table[name]))


def _add_category(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    name = _choose([each for each in _list_shared(table, before) if _has_few_texts(table, each)], chance)
    if name is None:
        return None
    rows = _draw_rows(table, round(NEW_SHARE * len(table)), chance)
    return _replace(table, name, pc.if_else(rows, pa.scalar(NEW_CATEGORY, table[name].type), table[name]))


def _multiply(factor: float, table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    name = _choose([each for each in _list_shared(table, before) if _is_amount(table, each)], chance)
    if name is None:
        return None
    return _replace(table, name, _scale(table[name], factor))


def _raise_maximum(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    """One value is a hundred times the largest of the batch."""
    name = _choose([each for each in _list_shared(table, before) if _is_amount(table, each)], chance)
    if name is None:
        return None
    largest = pa.scalar(100 * pc.max(table[name]).as_py(), table[name].type)
    return _replace(table, name, pc.if_else(_draw_rows(table, 1, chance), largest, table[name]))


def _shift(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    name = _choose([each for each in _list_shared(table, before) if _has_times(table, each)], chance)
    return None if name is None else _replace(table, name, pc.add(table[name], pa.scalar(HOURS)))


def _drop_third(table: pa.Table, _: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    return table.take(np.sort(chance.permutation(len(table))[: 2 * len(table) // 3]))


def _list_shared(table: pa.Table, before: pa.Table) -> list[str]:
    return [name for name in table.column_names if name in before.column_names]


def _is_complete(table: pa.Table, before: pa.Table, name: str) -> bool:
    return not table[name].null_count and not before[name].null_count


def _has_few_texts(table: pa.Table, name: str) -> bool:
    column = table[name]
    return pa.types.is_string(column.type) and 2 <= pc.count_distinct(column).as_py() <= MOST_CATEGORIES


def _is_amount(table: pa.Table, name: str) -> bool:
    """Whether a column has numbers above zero that repeat, or have decimals: keys neither repeat nor have decimals."""
    column = table[name]
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return False
    largest = pc.max(column).as_py()
    if largest is None or not np.isfinite(largest) or largest <= 0 or pc.mean(column).as_py() <= 0:
        return False
    known = column.drop_null()
    has_decimals = pa.types.is_floating(column.type) and bool(pc.any(pc.not_equal(known, pc.round(known))).as_py())
    return has_decimals or 2 <= pc.count_distinct(known).as_py() < len(known)


def _has_times(table: pa.Table, name: str) -> bool:
    column = table[name]
    return pa.types.is_timestamp(column.type) and bool(pc.any(pc.not_equal(pc.hour(column), 0)).as_py())


def _scale(column: pa.ChunkedArray, factor: float) -> pa.ChunkedArray:
    scaled = pc.multiply(column.cast(pa.float64()), factor)
    return scaled if pa.types.is_floating(column.type) else pc.round(scaled).cast(column.type)


def _rename(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    name = _choose(_list_shared(table, before), chance)
    if name is None:
        return None
    return table.rename_columns([f"{each}_new" if each == name else each for each in table.column_names])


def _drop_half(table: pa.Table, _: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    return table.take(np.sort(chance.permutation(len(table))[: len(table) // 2]))


def _load_twice(table: pa.Table, *_: object) -> pa.Table | None:
    return pa.concat_tables([table, table])


def _shift_dates(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    """All dates of a column are a year earlier."""
    name = _choose([each for each in _list_shared(table, before) if _has_dates(table, each)], chance)
    if name is None:
        return None
    moved = pc.subtract(table[name].cast(pa.timestamp("us")), pa.scalar(YEAR))
    return _replace(table, name, moved.cast(table[name].type, safe=False))


def _has_dates(table: pa.Table, name: str) -> bool:
    is_date = pa.types.is_date(table[name].type) or pa.types.is_timestamp(table[name].type)
    return is_date and table[name].null_count < len(table)


def _swap(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    """Two columns of one type have each other's values."""
    pairs = [
        (one, two)
        for at, one in enumerate(table.column_names)
        for two in table.column_names[at + 1 :]
        if table[one].type == table[two].type and not table[one].equals(table[two]) and two in before.column_names
    ]
    if not pairs:
        return None
    one, two = pairs[int(chance.integers(len(pairs)))]
    return _replace(_replace(table, one, table[two]), two, table[one])


def _break_encoding(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    """In a fifth of the texts a vowel is what UTF-8 read as Latin-1 makes of an accented one."""
    name = _choose([each for each in _list_shared(table, before) if _has_words(table, each)], chance)
    if name is None:
        return None
    broken = pc.replace_substring_regex(table[name], "[aeiou]", "\u00c3\u00a9", max_replacements=1)
    rows = _draw_rows(table, round(0.2 * len(table)), chance)
    return _replace(table, name, pc.if_else(rows, broken, table[name]))


def _repeat_last(_: pa.Table, before: pa.Table, __: object) -> pa.Table | None:
    return before


def _read_as_text(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    name = _choose([each for each in _list_shared(table, before) if _is_amount(table, each)], chance)
    return None if name is None else _replace(table, name, table[name].cast(pa.string()))


def _truncate(table: pa.Table, before: pa.Table, chance: np.random.Generator) -> pa.Table | None:
    """All texts of a column have three characters at most."""
    name = _choose([each for each in _list_shared(table, before) if _has_words(table, each)], chance)
    return None if name is None else _replace(table, name, pc.utf8_slice_codeunits(table[name], 0, 3))


def _has_words(table: pa.Table, name: str) -> bool:
    """Whether a column has texts of more than four characters in the mean, and half of them have vowels."""
    column = table[name].drop_null() if pa.types.is_string(table[name].type) else pa.chunked_array([], pa.string())
    if not len(column) or pc.mean(pc.utf8_length(column)).as_py() <= 4:
        return False
    return bool(pc.mean(pc.match_substring_regex(column, "[aeiou]")).as_py() > 0.5)


SMALL_FAULTS: dict[str, Fault] = {
    "0.5% null": partial(_empty, 0.005),
    "1% null": partial(_empty, 0.01),
    "3% null": partial(_empty, 0.03),
    "a new category in 2%": _add_category,
    "one value x100": _raise_maximum,
    "numbers x1.3": partial(_multiply, 1.3),
    "numbers x2": partial(_multiply, 2.0),
    "numbers x100": partial(_multiply, 100.0),
    "8 hours later": _shift,
    "a third missing": _drop_third,
}


SIMPLE_FAULTS: dict[str, Fault] = {
    "30% null": partial(_empty, 0.3),
    "numbers x100": partial(_multiply, 100.0),
    "a renamed column": _rename,
    "half of the rows": _drop_half,
    "every row twice": _load_twice,
    "dates a year earlier": _shift_dates,
    "two columns swapped": _swap,
    "broken encoding in a fifth": _break_encoding,
    "the batch before again": _repeat_last,
    "numbers as texts": _read_as_text,
    "texts cut to 3 characters": _truncate,
}
