"""The functions that run in Spark's Python workers: they fold the batches of a task and merge states of many tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TypeAlias

import msgspec
import pyarrow as pa

from headgate.engine.local import fold_rows, limit_rows
from headgate.engine.parquet_files import ParquetFiles
from headgate.engine.part import Part, write_part
from headgate.engine.parted_scan import PartedScan
from headgate.engine.plan import Plan
from headgate.engine.scan import Accumulator
from headgate.values.codec import pack_state, unpack_state
from headgate.values.state import State, tag_of

PIECES = 64  # pieces into which a state that may grow large is cut, so that many tasks can merge it
UNREAD = -1  # in place of a slot: the files of the batch could not be read by tasks themselves
KEPT = 100_000  # entries of such a state that the driver gets; a larger one is shrunk to what can be measured
ROW = "part string, slot int, piece int, tag string, state binary, error string, weight bigint"

Task: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_ARROW = pa.schema(
    [
        ("part", pa.string()),
        ("slot", pa.int32()),
        ("piece", pa.int32()),
        ("tag", pa.string()),
        ("state", pa.binary()),
        ("error", pa.string()),
        ("weight", pa.int64()),
    ]
)
_BYTES_AT_ONCE = 16 << 20
_BYTES_TOGETHER = 64 << 20  # of small batches that are folded as one


class Row(msgspec.Struct, frozen=True):
    """One state of one part of the batch, or the error of one fold, on its way from task to task or to the driver."""

    part: str
    slot: int
    piece: int
    tag: str
    state: bytes  # empty if it was left in the folder of kept tables
    error: str | None = None
    weight: int = 0  # entries of the state


def fold_task(plan: Plan) -> Task:
    """The task that folds batches into one row for each state, or more if a state is cut into pieces or too large."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        scan = PartedScan(plan)
        for columns in join_batches(batches, limit_rows(len(plan.columns))):
            scan.add(columns[: len(plan.by)], columns[len(plan.by) :])
            yield from _pack_batches(_state_rows(scan.heavy()))
        yield from _pack_batches(_state_rows(scan.states()))
        yield from _pack_batches(Row("", slot, 0, "", b"", error) for slot, error in scan.errors.items())

    return run


def join_batches(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[list[pa.Array]]:
    """The columns of batches, of several together where these have no more rows: many steps of a fold cost the same
    for few rows."""
    waiting: list[pa.RecordBatch] = []
    count = size = 0
    for batch in batches:
        if waiting and (count + batch.num_rows > rows or size + batch.nbytes > _BYTES_TOGETHER):
            yield _join_columns(waiting)
            waiting, count, size = [], 0, 0
        if batch.num_rows:
            waiting.append(batch)
            count, size = count + batch.num_rows, size + batch.nbytes
    if waiting:
        yield _join_columns(waiting)


def _join_columns(batches: Sequence[pa.RecordBatch]) -> list[pa.Array]:
    if len(batches) == 1:
        return list(batches[0].columns)
    return [pa.concat_arrays([batch.column(at) for batch in batches]) for at in range(batches[0].num_columns)]


def read_task(plan: Plan, files: ParquetFiles) -> Task:
    """The task that reads files itself and folds them. It gets the number of what it reads in `files.tasks`.

    Files that Spark would read in another way, or that cannot be read, are told by a row without a slot, so that no
    task fails.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        scan = PartedScan(plan)
        try:
            for number in (value for batch in batches for value in batch.column(0).to_pylist()):
                for _ in fold_rows(files.open_task(number), scan, files.tests):
                    yield from _pack_batches(_state_rows(scan.heavy()))
        except Exception as refusal:  # also of what a module lacks here: Spark may read what this task cannot
            yield from _pack_batches([Row("", UNREAD, 0, "", b"", f"{type(refusal).__name__}: {refusal}")])
            return
        for test in files.tests:
            if test.error:
                yield from _pack_batches([Row("", UNREAD, 0, "", b"", f"{test.question}: {test.error}")])
                return
        yield from _pack_batches(_state_rows(scan.states()))
        yield from _pack_batches(Row("", slot, 0, "", b"", error) for slot, error in scan.errors.items())

    return run


def merge_task(plan: Plan, shrink: bool = True) -> Task:
    """The task that merges rows of many tasks, sorted by part, into one row for each state or piece.

    With `shrink`, pieces that are too large for the driver are shrunk to what can be measured.
    """

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part, rows in groupby(read_rows(batches), key=attrgetter("part")):
            yield from _pack_batches(_merge_rows(plan, part, rows, shrink))

    return run


def _merge_rows(plan: Plan, part: str, rows: Iterable[Row], shrink: bool) -> Iterator[Row]:
    sums: dict[tuple[int, int], Accumulator] = {}
    errors: dict[int, str] = {}
    for row in rows:
        if row.error is not None:
            errors.setdefault(row.slot, row.error)
            continue
        try:
            sums.setdefault((row.slot, row.piece), Accumulator()).add(unpack_state(row.state, row.tag))
        except Exception as failure:
            # using the plan here also ships it to the worker, which registers the state types of its metrics
            key = plan.folds[row.slot].metric.state_key
            errors.setdefault(row.slot, f"merging {key} raised {type(failure).__name__}: {failure}")
    for (slot, piece), accumulator in sums.items():
        state = accumulator.take()
        if state is not None:
            kept = state.shrink() if shrink and state.weight > KEPT // PIECES else state
            yield row_of(part, slot, piece, kept)
    for slot, error in errors.items():
        yield Row(part, slot, 0, "", b"", error)


def _state_rows(states: Iterable[tuple[Part, int, State]]) -> Iterator[Row]:
    for part, slot, state in states:
        for piece, cut in state.pieces(PIECES).items():
            yield row_of(write_part(part), slot, piece, cut)


def row_of(part: str, slot: int, piece: int, state: State) -> Row:
    return Row(part, slot, piece, tag_of(type(state)), pack_state(state), weight=state.weight)


def _pack_batches(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """Rows as record batches of a bounded size."""
    waiting: list[Row] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += len(row.state)
        if size > _BYTES_AT_ONCE:
            yield _make_batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _make_batch(waiting)


def _make_batch(rows: list[Row]) -> pa.RecordBatch:
    columns = [[getattr(row, name) for row in rows] for name in _ARROW.names]
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, _ARROW, strict=True)], schema=_ARROW
    )


def read_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield Row(*values)
