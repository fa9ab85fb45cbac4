"""What runs in Spark's Python workers: folding the batches of one task, and merging the states of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import msgspec
import pyarrow as pa

from headgate.engine.plan import Plan
from headgate.engine.scan import Accumulator, Scan
from headgate.values.codec import pack_state, unpack_state
from headgate.values.state import State, tag_of

PIECES = 64  # parts into which a state that may grow large is cut, so that many tasks can merge it
KEPT = 100_000  # entries of such a state that reach the driver; beyond, only what is needed to measure it does
ROW = "slot int, piece int, tag string, state binary, error string"

Task: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_ARROW = pa.schema(
    [("slot", pa.int32()), ("piece", pa.int32()), ("tag", pa.string()), ("state", pa.binary()), ("error", pa.string())]
)
_BYTES_AT_ONCE = 16 << 20


class Row(msgspec.Struct, frozen=True):
    """One state, or the error of one fold, on its way from task to task or to the driver."""

    slot: int
    piece: int
    tag: str
    state: bytes
    error: str | None = None


def fold_task(plan: Plan) -> Task:
    """Batches to one row for each state, more where a state is cut into pieces or grew too large to keep."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        scan = Scan(plan)
        for batch in batches:
            if batch.num_rows:
                scan.add(batch.columns)
                yield from _packed(_rows(scan.heavy()))
        yield from _packed(_rows(scan.states()))
        yield from _packed(Row(slot, 0, "", b"", error) for slot, error in scan.errors.items())

    return run


def merge_task(plan: Plan) -> Task:
    """Rows of many tasks to one row for each state or piece of one."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        sums: dict[tuple[int, int], Accumulator] = {}
        errors: dict[int, str] = {}
        for row in read_rows(batches):
            if row.error is not None:
                errors.setdefault(row.slot, row.error)
                continue
            try:
                sums.setdefault((row.slot, row.piece), Accumulator()).add(unpack_state(row.state, row.tag))
            except Exception as trouble:
                # the plan is named here so that it comes along: a worker that folded nothing has its states by it
                state = plan.folds[row.slot].metric.state_key
                errors.setdefault(row.slot, f"merging {state} raised {type(trouble).__name__}: {trouble}")
        yield from _packed(_merged(sums))
        yield from _packed(Row(slot, 0, "", b"", error) for slot, error in errors.items())

    return run


def _rows(states: Iterable[tuple[int, State]]) -> Iterator[Row]:
    for slot, state in states:
        for piece, part in state.pieces(PIECES).items():
            yield Row(slot, piece, tag_of(type(part)), pack_state(part))


def _merged(sums: dict[tuple[int, int], Accumulator]) -> Iterator[Row]:
    for (slot, piece), held in sums.items():
        state = held.take()
        if state is not None:
            kept = state.shrunk() if state.weight > KEPT // PIECES else state
            yield Row(slot, piece, tag_of(type(kept)), pack_state(kept))


def _packed(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """Rows as record batches of a bounded size."""
    waiting: list[Row] = []
    size = 0
    for row in rows:
        waiting.append(row)
        size += len(row.state)
        if size > _BYTES_AT_ONCE:
            yield _batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting)


def _batch(rows: list[Row]) -> pa.RecordBatch:
    columns = [[getattr(row, name) for row in rows] for name in _ARROW.names]
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, _ARROW, strict=True)], schema=_ARROW
    )


def read_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield Row(*values)
