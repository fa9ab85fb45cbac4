"""Faults of several columns, of the schema and of the file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.diagnosis.faults.fault import (
    Part,
    SourceBatch,
    TableFault,
    choose,
    count_changed,
    read_column,
    set_column,
)
from benchmarks.diagnosis.faults.missing import is_varied
from benchmarks.diagnosis.faults.segments import draw_segment

LEAST_CHANGED = 0.3  # of the values that a swap has to change
SEGMENT_CHANCE = 0.3
LONGEST_RUN = 6  # columns that are shifted
DELIMITERS = (";", "\t", "|")
NEW_NAMES = ("{}_new", "{}_1", "new_{}", "{} (total)", "field_{}")
ERROR_PAGE = (
    "<!DOCTYPE html>",
    "<html><head><title>{0}</title></head>",
    "<body>",
    "<center><h1>{0}</h1></center>",
    "<hr><center>{1}</center>",
    "</body>",
    "</html>",
)
ERRORS = ("503 Service Temporarily Unavailable", "404 Not Found", "502 Bad Gateway", "Access Denied", "Rate limit")
Broken = tuple[pa.Table, Part] | None


def swap_columns(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """Two columns of one type have each other's values, in all rows or in a segment."""
    pairs = _list_swaps(source.table)
    if not pairs:
        return None
    one, two = choose(chance, pairs)
    first, second = read_column(source.table, one), read_column(source.table, two)
    segment = draw_segment(source.table, (one, two), chance) if chance.random() < SEGMENT_CHANCE else None
    if segment is None:
        return set_column(set_column(source.table, one, second), two, first), Part("columns_swapped", (one, two))
    table = set_column(source.table, one, pc.if_else(segment.rows, second, first))
    table = set_column(table, two, pc.if_else(segment.rows, first, second))
    return table, Part("columns_swapped", (one, two), segment=segment.segment, same_rows=segment.same_rows)


def _list_swaps(table: pa.Table) -> list[tuple[str, str]]:
    names = [name for name in table.column_names if is_varied(read_column(table, name))]
    columns = {name: read_column(table, name) for name in names}
    return [
        (one, two)
        for at, one in enumerate(names)
        for two in names[at + 1 :]
        if columns[one].type == columns[two].type
        and count_changed(columns[one], columns[two]) >= LEAST_CHANGED * len(table)
    ]


def shift_columns(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """The values of some columns one column to the right; the first is empty, or has the values of the last."""
    names = source.table.column_names
    if len(names) < 3:
        return None
    length = int(chance.integers(3, min(LONGEST_RUN, len(names)) + 1))
    start = int(chance.integers(len(names) - length + 1))
    run = names[start : start + length]
    rotates = chance.random() < 0.5
    table = source.table
    for at, name in enumerate(run):
        column = read_column(source.table, name)
        values = read_column(source.table, run[at - 1]) if at or rotates else pa.nulls(len(column), column.type)
        table = set_column(table, name, values if values.type == column.type else values.cast(pa.string()))
    return table, Part("columns_shifted", tuple(run), {"by": 1.0})


def rename_column(source: SourceBatch, chance: np.random.Generator) -> Broken:
    old = str(choose(chance, source.table.column_names))
    names = [*(name.format(old) for name in NEW_NAMES), old.upper(), old.lower(), old.replace("_", " ")]
    new = str(choose(chance, [name for name in names if name not in source.table.column_names]))
    renamed = [new if name == old else name for name in source.table.column_names]
    return source.table.rename_columns(renamed), Part("column_renamed", (old,), {"name": new})


def drop_column(source: SourceBatch, chance: np.random.Generator) -> Broken:
    name = str(choose(chance, source.table.column_names))
    return source.table.drop_columns([name]), Part("column_missing", (name,))


def add_header(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """One to three rows have the names of the columns as values, as of files that were joined."""
    table = _as_texts(source.table)
    header = pa.table([pa.array([name]) for name in table.column_names], names=table.column_names)
    at = 0 if chance.random() < 0.5 else int(chance.integers(len(table) + 1))
    rows = [header] * int(chance.integers(1, 4))
    return pa.concat_tables([table.slice(0, at), *rows, table.slice(at)]), Part("header_in_data")


def join_columns(source: SourceBatch, chance: np.random.Generator) -> Broken:
    """One column has everything: the file was read with another delimiter."""
    delimiter = str(choose(chance, DELIMITERS))
    if source.table.num_columns < 2:
        return None
    texts = [read_column(_as_texts(source.table), name) for name in source.table.column_names]
    joined = pc.binary_join_element_wise(*texts, delimiter, null_handling="replace", null_replacement="")
    name = delimiter.join(source.table.column_names)
    return pa.table({name: joined}), Part("wrong_delimiter", parameters={"by": delimiter})


def send_error_page(_: SourceBatch, chance: np.random.Generator) -> Broken:
    """The lines of an HTML page as rows, the first of them as the name of the only column."""
    error, server = str(choose(chance, ERRORS)), str(choose(chance, ("nginx", "cloudflare", "Apache/2.4")))
    lines = [line.format(error, server) for line in ERROR_PAGE]
    return pa.table({lines[0]: lines[1:]}), Part("error_page")


def _as_texts(table: pa.Table) -> pa.Table:
    return pa.table([read_column(table, name).cast(pa.string()) for name in table.column_names], table.column_names)


TABLE_FAULTS = (
    TableFault("columns swapped", "columns_swapped", swap_columns),
    TableFault("columns shifted", "columns_shifted", shift_columns),
    TableFault("column renamed", "column_renamed", rename_column),
    TableFault("column missing", "column_missing", drop_column),
    TableFault("header in the data", "header_in_data", add_header),
    TableFault("wrong delimiter", "wrong_delimiter", join_columns),
    TableFault("an error page", "error_page", send_error_page),
)
