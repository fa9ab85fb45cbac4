"""Measures one batch as a whole and by segment, in as few scans as possible.

Tested by `tests/evaluate/test_verify.py` and `tests/evaluate/test_evaluation.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import msgspec

from headgate.engine.analysis import Analysis
from headgate.engine.analyze import measure_batch, measure_parts
from headgate.engine.batch import Batch
from headgate.engine.part import Part
from headgate.engine.parts import Parts
from headgate.engine.progress import Progress
from headgate.engine.scan import grows
from headgate.metrics.base.metric import Metric
from headgate.values.codec import Head, pack, seal, unseal
from headgate.values.errors import CorruptBytes
from headgate.values.key import MetricKey
from headgate.values.outcome import Failed
from headgate.values.schema import Schema

By: TypeAlias = tuple[str, ...]

_TAG = "measurements"


class Measurements:
    """What was measured of the whole batch, under no column, and of its segments, under the columns they agree in."""

    def __init__(self, results: Mapping[By, Analysis | Parts]) -> None:
        self._results = dict(results)
        self.segments = cache(self._segments)  # an analysis measures its states once

    @property
    def whole(self) -> Analysis:
        return self.segments(())[()]

    def find_segments(self, by: By) -> dict[Part, Analysis]:
        """The segments by these columns; none if they were not measured."""
        return self.segments(by) if by in self._results else {}

    def _segments(self, by: By) -> dict[Part, Analysis]:
        result = self._results[by]
        return {(): result} if isinstance(result, Analysis) else {part: result[part] for part in result}

    @property
    def schema(self) -> Schema:
        return next(iter(self._results.values())).schema

    def with_schema(self, schema: Schema) -> Measurements:
        """The same measurements of a batch that has these columns."""
        return Measurements({by: each.only(each.metrics, schema) for by, each in self._results.items()})

    def finish(self) -> Measurements:
        """The measurements with finished states, after all that belong together were merged."""
        return Measurements({by: each.finish() for by, each in self._results.items()})

    def empty(self) -> Measurements:
        """What the same metrics are of a batch without rows."""
        return Measurements(
            {
                by: Parts(by, each.schema, each.metrics, {}, {}) if by else Analysis(each.schema, each.metrics, {}, {})
                for by, each in self._results.items()
            }
        )

    def __add__(self, other: Measurements) -> Measurements:
        """The measurements of both batches together: the metrics that both have, by the segmentations of both."""
        shared = [by for by in self._results if by in other._results]
        return Measurements({by: _add_results(self._results[by], other._results[by]) for by in shared})

    def to_bytes(self) -> bytes:
        """All measurements in one checksummed envelope."""
        results = [(by, isinstance(each, Parts), each.to_bytes()) for by, each in self._results.items()]
        return seal(pack(results), Head(_TAG, ""))

    @classmethod
    def from_bytes(cls, data: bytes) -> Measurements:
        """The measurements in the bytes of `to_bytes`; truncated, altered or foreign bytes are refused."""
        head, body = unseal(data)
        if head.tag != _TAG:
            raise CorruptBytes(f"these bytes hold a {head.tag}, not measurements.")
        try:
            stored = msgspec.msgpack.decode(body, type=list[tuple[By, bool, bytes]])
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise CorruptBytes(f"the bytes do not hold measurements: {error}.") from None
        return cls({by: (Parts if is_parts else Analysis).from_bytes(each) for by, is_parts, each in stored})

    @property
    def failed(self) -> dict[MetricKey, Failed]:
        """The metrics that could not be computed, each with the reason."""
        return {key: failed for result in self._results.values() for key, failed in result.failed.items()}

    def split_batches(self, column: str, segmentations: Iterable[By]) -> dict[str, Measurements]:
        """The measurements of each batch, where a column names the batch, and `by_batch` was measured.

        Rows without a value in the column are of no batch.

        Args:
            column: The column that names the batch.
            segmentations: Those of a single batch. One that has the column itself has one segment of it.
        """
        split: dict[str, dict[By, Parts]] = {}
        for by, result in self._results.items():
            for name, parts in result.group_by(column).items() if isinstance(result, Parts) else ():
                if name is not None:
                    split.setdefault(name, {})[by] = parts
        wanted = dict.fromkeys([(), *segmentations])
        return {
            name: Measurements(
                {
                    by: results[by_batch(column, by)].insert(column, name, by)
                    if column in by
                    else results[by_batch(column, by)]
                    for by in wanted
                }
            )
            for name, results in split.items()
        }


def by_batch(column: str, by: By) -> By:
    """A segmentation within each batch, where a column names the batch."""
    return (column, *(each for each in by if each != column))


def measure(
    batch: Batch,
    asked: Iterable[tuple[By, Metric[Any]]],
    progress: Callable[[Progress], None] | None = None,
    finish: bool = True,
) -> Measurements:
    """All metrics of the whole and of every segmentation, in one scan where states can be merged.

    A segmentation that is finer than others is scanned, and they are merged from it. Exact groups that are too many for
    the driver cannot be merged, so on a cluster they are scanned for each segmentation that asks for them.

    Args:
        batch: The opened batch.
        asked: The metrics, each with the columns of its segments.
        progress: Called while the scan runs.
        finish: Whether the states are finished. Those that are merged with others are finished after that.
    """
    wanted: dict[By, list[Metric[Any]]] = {(): []}
    for by, metric in asked:
        wanted.setdefault(by, []).append(metric)
    results: dict[By, Analysis | Parts] = {}
    for finest, coarser in _group_by_finest(wanted, batch.once).items():
        family = {by: wanted[by] for by in coarser}
        results |= _measure_family(batch, finest, family, progress, finish)
    return Measurements(results)


def _group_by_finest(segmentations: Iterable[By], one: bool) -> dict[By, list[By]]:
    """Group segmentations under one that is as fine or finer; with `one`, under a single one by all columns."""
    every = list(segmentations)
    if one:
        return {tuple(dict.fromkeys(name for by in every for name in by)): every}
    families: dict[By, list[By]] = {}
    for by in sorted(every, key=len, reverse=True):
        finer = next((other for other in families if set(by) <= set(other)), by)
        families.setdefault(finer, []).append(by)
    return families


def _measure_family(
    batch: Batch,
    finest: By,
    wanted: Mapping[By, list[Metric[Any]]],
    progress: Callable[[Progress], None] | None,
    finish: bool,
) -> dict[By, Analysis | Parts]:
    """One scan for a segmentation and those that are merged from it, and one for each that cannot be."""
    apart = {
        by: [each for each in metrics if batch.distributed and by != finest and grows(each.state)]
        for by, metrics in wanted.items()
    }
    shared = dict.fromkeys(each for by, metrics in wanted.items() for each in metrics if each not in apart[by])
    of_parts = {each.state_key for by, metrics in wanted.items() if by for each in metrics}
    # folding the states of the whole for thousands of segments, to merge them again, takes many times as long
    of_whole = [each for each in shared if each.state_key not in of_parts] if finest and not batch.distributed else []
    whole: Analysis | None = None
    scan: Analysis | Parts
    if of_whole:
        scan, whole = measure_parts(
            batch, [each for each in shared if each not in of_whole], of_whole, finest, progress, finish
        )
    else:
        scan = measure_batch(batch, shared, finest, progress, finish=finish)
    results: dict[By, Analysis | Parts] = {}
    for by, metrics in wanted.items():
        elsewhere = {*apart[by], *of_whole}
        merged = scan if by == finest else _merge_parts(scan, by, [each for each in metrics if each not in elsewhere])
        if whole is not None and not by:
            merged = _join_results(merged, whole)
        if apart[by]:
            merged = _join_results(merged, measure_batch(batch, apart[by], by, progress, finish=finish))
        results[by] = merged
    return results


def _merge_parts(scan: Analysis | Parts, by: By, metrics: Sequence[Metric[Any]]) -> Analysis | Parts:
    assert isinstance(scan, Parts)
    return scan.coarsen(by, metrics) if by else scan.view(metrics=metrics)


def _add_results(one: Analysis | Parts, two: Analysis | Parts) -> Analysis | Parts:
    """Two results over different rows as one, with the metrics that both have."""
    shared = set(one.metrics) & set(two.metrics)
    if isinstance(one, Analysis) and isinstance(two, Analysis):
        return one.only(shared) + two.only(shared)
    assert isinstance(one, Parts)
    assert isinstance(two, Parts)
    return one.only(shared) + two.only(shared)


def _join_results(one: Analysis | Parts, two: Analysis | Parts) -> Analysis | Parts:
    """Two results over the same rows as one."""
    if isinstance(one, Analysis) and isinstance(two, Analysis):
        asked = tuple(dict.fromkeys((*one.metrics, *two.metrics)))
        return Analysis(one.schema, asked, one.states | two.states, one.failed | two.failed)
    assert isinstance(one, Parts)
    assert isinstance(two, Parts)
    return one.with_metrics(two)
