"""One scan for the states of every part of a batch, where a part is the rows that agree in some columns."""

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

HELD = 100_000  # states of parts in one task at a time; the part seen longest ago is sent on when there are more
WAITING = 64 << 20  # bytes of mixed rows that are gathered before they are sorted into parts: few rows a fold is dear


class ScanResult(NamedTuple):
    """What a scan found: the states of each part of the batch by their keys, and the metrics that failed."""

    states: dict[Part, dict[MetricKey, State]]
    failed: dict[MetricKey, Failed]


class PartedScan:
    """A scan for each part seen. Without a `by` in the plan there is one part, the batch."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._scans: dict[Part, Scan] = {}
        self._waiting: list[tuple[list[pa.Array], Arrays]] = []
        self._bytes = 0
        self._touched: set[Part] = set()
        self._most = max(2, HELD // max(1, len(plan.folds)))
        self.errors: dict[int, str] = {}

    def add(self, keys: Arrays, arrays: Arrays) -> None:
        """Fold one batch: the key columns, then the plan's columns and predicates, in order."""
        if not self.plan.by:
            self._scan_of(()).add(arrays)
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
        """States that have grown large or were not added to for long, which are forgotten here."""
        for part in self._touched:
            for slot, state in self._scans[part].heavy():
                yield part, slot, state
        self._touched.clear()
        while len(self._scans) > self._most:
            oldest = next(iter(self._scans))
            yield from self._close_part(oldest)

    def states(self) -> Iterator[tuple[Part, int, State]]:
        """All that is left."""
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
        scan = self._scans.pop(part, None) or Scan(self.plan)
        self._scans[part] = scan
        self._touched.add(part)
        return scan

    def _sort_waiting(self) -> None:
        keys = [_join_chunks([texts[at] for texts, _ in self._waiting]) for at in range(len(self.plan.by))]
        width = len(self._waiting[0][1])
        arrays = [_join_chunks([batch[at] for _, batch in self._waiting]) for at in range(width)]
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
    """One array; with offsets of 64 bits where the text is too long for 32."""
    arrays = [to_plain(chunk) for chunk in chunks]
    if len(arrays) == 1:
        return arrays[0]
    wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}.get(arrays[0].type)
    if wide is not None and sum(array.nbytes for array in arrays) >= 1 << 31:
        arrays = [array.cast(wide) for array in arrays]
    return pa.concat_arrays(arrays)


def _has_one_key(texts: Sequence[pa.Array]) -> bool:
    """Do all rows have the same key? Asked first, because data that lies in partitions arrives so."""
    return all(len(text.unique()) == 1 for text in texts)


def _find_parts(keys: Sequence[pa.Array]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """An order of the rows in which parts stand together, and where each begins."""
    codes = np.zeros(len(keys[0]), np.int64)
    for key in keys:
        found = key.dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
        # made small again after each column, so that no number of columns overflows
        codes = np.unique(codes * (int(found.max()) + 1) + found, return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    begins = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return order, np.append(begins, len(order))
