"""One scan for the states of every part of a batch. A part is the rows with the same values in some columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from headgate.engine.part import Part
from headgate.engine.plan import Plan
from headgate.engine.scan import Scan
from headgate.metrics.base.arrow import to_plain
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.state import State

Arrays: TypeAlias = Sequence[Any]

HELD = 100_000  # states that a task keeps; if there are more, the least recently used part is sent on
WAITING = 64 << 20  # bytes of rows of many parts that are collected before sorting: folds of few rows are slow


class ScanResult(NamedTuple):
    """The result of a scan: the states of each part of the batch by state key, and the metrics that failed."""

    states: dict[Part, dict[MetricKey, State]]
    failed: dict[MetricKey, Failed]


class PartedScan:
    """A scan for each part, and one for what is measured of the whole. Without `by`, the batch is the only part."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._scans: dict[Part, Scan] = {}
        self._waiting: list[tuple[list[pa.Array], Arrays]] = []
        self._bytes = 0
        self._touched: set[Part] = set()
        self._most = max(2, HELD // max(1, len(plan.folds)))
        slots = range(len(plan.folds))
        self._whole = [slot for slot in slots if not plan.by or plan.folds[slot].metric.state_key in plan.whole]
        self._parted = [slot for slot in slots if slot not in self._whole]
        self.errors: dict[int, str] = {}

    def add(self, keys: Arrays, arrays: Arrays) -> None:
        """Fold one batch: the key columns, then the plan's columns and predicates, in order."""
        if self._whole:
            self._scan_of(()).add(arrays)
        if not self.plan.by:
            return
        texts = [_cast_to_text(key) for key in keys]
        if _has_one_key(texts):
            self._scan_of(tuple(text[0].as_py() for text in texts)).add(arrays)
            return
        self._waiting.append((texts, arrays))
        self._bytes += sum(array.nbytes for array in arrays)
        if self._bytes > WAITING:
            self._sort_waiting()

    def heavy(self) -> Iterator[tuple[Part, int, State]]:
        """Remove and yield the states that have grown large, and those of the least recently used parts."""
        for part in self._touched:
            for slot, state in self._scans[part].heavy():
                yield part, slot, state
        self._touched.clear()
        while len(self._scans) > self._most:
            oldest = next(iter(self._scans))
            yield from self._close_part(oldest)

    def states(self) -> Iterator[tuple[Part, int, State]]:
        """Remove and yield all remaining states."""
        if self._waiting:
            self._sort_waiting()
        for part in list(self._scans):
            yield from self._close_part(part)

    def _close_part(self, part: Part) -> Iterator[tuple[Part, int, State]]:
        scan = self._scans.pop(part)
        for slot, state in scan.states():
            yield part, slot, state
        self.errors |= {slot: why for slot, why in scan.errors.items() if slot not in self.errors}

    def _scan_of(self, part: Part) -> Scan:
        scan = self._scans.pop(part, None) or Scan(self.plan, self._parted if part else self._whole)
        self._scans[part] = scan
        self._touched.add(part)
        return scan

    def _sort_waiting(self) -> None:
        keys = [_join_chunks([texts[index] for texts, _ in self._waiting]) for index in range(len(self.plan.by))]
        width = len(self._waiting[0][1])
        arrays = [_join_chunks([batch[index] for _, batch in self._waiting]) for index in range(width)]
        self._waiting, self._bytes = [], 0
        order, bounds = _find_parts(keys)
        heads = pa.array(order[bounds[:-1]])
        names = zip(*(key.take(heads).to_pylist() for key in keys), strict=True)
        sorted_arrays = [array.take(pa.array(order)) for array in arrays]
        for part, start, end in zip(names, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            self._scan_of(part).add([array.slice(start, end - start) for array in sorted_arrays])


def _cast_to_text(key: Any) -> pa.Array:
    array = to_plain(key)
    return array if pa.types.is_string(array.type) else array.cast(pa.string())


def _join_chunks(chunks: Sequence[Any]) -> pa.Array:
    """One array, with 64-bit offsets if the texts are too long for 32-bit offsets."""
    arrays = [to_plain(chunk) for chunk in chunks]
    if len(arrays) == 1:
        return arrays[0]
    wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}.get(arrays[0].type)
    if wide is not None and sum(array.nbytes for array in arrays) >= 1 << 31:
        arrays = [array.cast(wide) for array in arrays]
    return pa.concat_arrays(arrays)


def _has_one_key(texts: Sequence[pa.Array]) -> bool:
    """Whether all rows have the same key. It is tested first, because partitioned data arrives like this."""
    return all(len(text.unique()) == 1 for text in texts)


def _find_parts(keys: Sequence[pa.Array]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """An order of the rows that groups them by part, and the start of each part in it."""
    codes = np.zeros(len(keys[0]), np.int64)
    for key in keys:
        indices = key.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        # codes are renumbered after each column, so that they never overflow
        codes = np.unique(codes * (int(indices.max()) + 1) + indices, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return order, np.append(starts, len(order))
